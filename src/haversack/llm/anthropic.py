"""Anthropic's messages interface, through the `anthropic` SDK, which is imported on first use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec

from haversack.errors import MissingExtraError
from haversack.llm.calls import CallFailed, decoded, failure
from haversack.llm.port import Reply, Usage
from haversack.llm.sdk import SdkService
from haversack.model.message import Message, ToolCall
from haversack.wire import anthropic as wire
from haversack.wire.toolshape import shape_tool

if TYPE_CHECKING:
    import anthropic as sdk

__all__ = ["AnthropicService"]

_DEFAULT_OUTPUT = 4096
"""The interface demands a limit."""


class _Block(msgspec.Struct):
    type: str = ""
    text: str | None = None


class _Tokens(msgspec.Struct):
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0


class _Answer(msgspec.Struct):
    content: list[_Block]
    model: str = ""
    stop_reason: str | None = None
    usage: _Tokens | None = None


class AnthropicService(SdkService):
    """Messages of one model."""

    def _open(self) -> sdk.Anthropic:
        package = _import()
        http = package.DefaultHttpxClient(follow_redirects=False)
        opened = package.Anthropic(api_key=self.api_key, base_url=self.base_url, max_retries=0, http_client=http)
        return cast("sdk.Anthropic", opened)

    def _request(self, messages: Sequence[Message], max_tokens: int | None, tools: Sequence[object]) -> dict[str, Any]:
        system, talk = wire.dump(messages)
        request: dict[str, Any] = {"model": self.model, "messages": talk}
        if tools:
            request["tools"] = [shape_tool(tool, "anthropic") for tool in tools]
        return request | {"max_tokens": max_tokens or _DEFAULT_OUTPUT} | ({"system": system} if system else {})

    def _ask(self, client: sdk.Anthropic, request: dict[str, Any]) -> Reply:
        try:
            raw = cast("Any", client.messages.with_raw_response).create(**request)
        except Exception as error:
            raise failure(error, _import()) from error
        answer = decoded(raw.http_response.content, _Answer)
        words = "".join(block.text or "" for block in answer.content if block.type == "text")
        return Reply(
            text=words, model=answer.model or self.model, usage=_usage(answer.usage), finish=answer.stop_reason or ""
        )

    def _listen(self, client: sdk.Anthropic, request: dict[str, Any]) -> Iterator[str | Reply]:
        text = ""
        try:
            with client.messages.stream(**request) as events:
                for piece in events.text_stream:
                    text += piece
                    yield piece
                last = events.current_message_snapshot
        except Exception as error:
            raise failure(error, _import()) from error
        if not last.stop_reason:
            raise CallFailed("the stream was cut before the answer was finished")
        seen = last.usage
        tokens = _Tokens(
            seen.input_tokens, seen.output_tokens, seen.cache_read_input_tokens, seen.cache_creation_input_tokens
        )
        yield Reply(
            text=text, model=last.model, usage=_usage(tokens), finish=last.stop_reason, tool_calls=_calls(last.content)
        )


def _calls(blocks: Sequence[Any]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(id=block.id, name=block.name, arguments=msgspec.json.encode(block.input).decode())
        for block in blocks
        if block.type == "tool_use"
    )


def _import() -> Any:
    try:
        import anthropic
    except ImportError as error:
        raise MissingExtraError("chat with Anthropic's models needs: pip install 'haversack[anthropic]'") from error
    return anthropic


def _usage(tokens: _Tokens | None) -> Usage | None:
    if tokens is None:
        return None
    cached = tokens.cache_read_input_tokens or 0
    return Usage(
        input_tokens=(tokens.input_tokens or 0) + cached + (tokens.cache_creation_input_tokens or 0),
        output_tokens=tokens.output_tokens or 0,
        cached_tokens=cached,
    )
