"""Any OpenAI-compatible endpoint, through the `openai` SDK, which is imported on first use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import msgspec

from haversack.errors import MissingExtraError
from haversack.llm.calls import CallFailed, decoded, failure
from haversack.llm.port import Reply, Usage
from haversack.llm.sdk import SdkService
from haversack.model.message import Message, ToolCall
from haversack.wire import openai as wire
from haversack.wire.toolshape import shape_tool

if TYPE_CHECKING:
    import openai as sdk

__all__ = ["OpenAIService"]


class _Said(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Said | None = None
    delta: _Said | None = None
    finish_reason: str | None = None


class _Cached(msgspec.Struct):
    cached_tokens: int | None = None


class _Tokens(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _Cached | None = None


class _Answer(msgspec.Struct):
    choices: list[_Choice]
    model: str | None = None
    usage: _Tokens | None = None


class OpenAIService(SdkService):
    """Chat completions of one model."""

    def _open(self) -> sdk.OpenAI:
        package = _import()
        http = package.DefaultHttpxClient(follow_redirects=False)
        opened = package.OpenAI(api_key=self.api_key, base_url=self.base_url, max_retries=0, http_client=http)
        return cast("sdk.OpenAI", opened)

    def _request(self, messages: Sequence[Message], max_tokens: int | None, tools: Sequence[object]) -> dict[str, Any]:
        request: dict[str, Any] = {"model": self.model, "messages": wire.dump(messages)}
        if tools:
            request["tools"] = [shape_tool(tool, "openai") for tool in tools]
        if max_tokens is not None:
            # OpenAI's newer models refuse the old name; compatible servers often know only that one.
            request["max_completion_tokens" if self.base_url is None else "max_tokens"] = max_tokens
        return request

    def _ask(self, client: sdk.OpenAI, request: dict[str, Any]) -> Reply:
        try:
            raw = cast("Any", client.chat.completions.with_raw_response).create(**request)
        except Exception as error:
            raise failure(error, _import()) from error
        answer = decoded(raw.content, _Answer)
        if not answer.choices:
            raise CallFailed("the chat service answered without a choice")
        choice = answer.choices[0]
        return Reply(
            text=(choice.message.content or "") if choice.message else "",
            model=answer.model or self.model,
            usage=_usage(answer.usage),
            finish=choice.finish_reason or "",
        )

    def _listen(self, client: sdk.OpenAI, request: dict[str, Any]) -> Iterator[str | Reply]:
        text, finish, usage = "", "", None
        calls = _Calls()
        try:
            with client.chat.completions.create(
                **request, stream=True, stream_options={"include_usage": True}
            ) as chunks:
                for chunk in chunks:
                    usage = chunk.usage or usage
                    for choice in chunk.choices[:1]:
                        finish = choice.finish_reason or finish
                        calls.take(choice.delta.tool_calls or ())
                        if piece := choice.delta.content:
                            text += piece
                            yield piece
        except Exception as error:
            raise failure(error, _import()) from error
        if not finish:
            raise CallFailed("the stream was cut before the answer was finished")
        reported = _Tokens(usage.prompt_tokens, usage.completion_tokens) if usage else None
        yield Reply(text=text, model=self.model, usage=_usage(reported), finish=finish, tool_calls=calls.whole())


@dataclass(slots=True)
class _Calls:
    """Tool calls that arrive in pieces, told apart by their index."""

    _pieces: dict[int, dict[str, str]] = field(default_factory=dict[int, dict[str, str]])

    def take(self, deltas: Sequence[Any]) -> None:
        for delta in deltas:
            call = self._pieces.setdefault(delta.index, {"id": "", "name": "", "arguments": ""})
            call["id"] = delta.id or call["id"]
            if delta.function is not None:
                call["name"] += delta.function.name or ""
                call["arguments"] += delta.function.arguments or ""

    def whole(self) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall(id=call["id"] or f"call_{index}", name=call["name"], arguments=call["arguments"])
            for index, call in sorted(self._pieces.items())
        )


def _import() -> Any:
    try:
        import openai
    except ImportError as error:
        raise MissingExtraError("chat through OpenAI's interface needs: pip install 'haversack[openai]'") from error
    return openai


def _usage(tokens: _Tokens | None) -> Usage | None:
    if tokens is None:
        return None
    cached = tokens.prompt_tokens_details
    return Usage(
        input_tokens=tokens.prompt_tokens,
        output_tokens=tokens.completion_tokens,
        cached_tokens=(cached.cached_tokens or 0) if cached else 0,
    )
