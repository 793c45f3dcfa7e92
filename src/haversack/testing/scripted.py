"""A chat service that answers from a script: for tests of whatever talks to a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from haversack.errors import ServiceTimeout
from haversack.llm.port import Cancel, Reply, ServiceCancelled, Usage
from haversack.model.message import Message

__all__ = ["Line", "ScriptedChat", "Seen"]

Line = str | Reply | Exception | Callable[[Sequence[Message]], str]
"""An answer, a whole reply (which may call tools), a failure to raise, or a function of the messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One call as it arrived."""

    messages: tuple[Message, ...]
    max_tokens: int | None
    timeout: float | None
    tools: tuple[object, ...] = ()


@dataclass(slots=True, kw_only=True)
class ScriptedChat:
    """Answers its lines in order; the last one again and again."""

    lines: Sequence[Line]
    model: str = "scripted"
    usage: Usage | None = None
    seen: list[Seen] = field(default_factory=list[Seen])

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int | None = None,
        timeout: float | None = None,
        cancel: Cancel | None = None,
    ) -> Reply:
        """The next line."""
        return self._answer(messages, (), max_tokens, timeout, cancel)

    def _answer(
        self,
        messages: Sequence[Message],
        tools: Sequence[object],
        max_tokens: int | None,
        timeout: float | None,
        cancel: Cancel | None,
    ) -> Reply:
        if cancel is not None and cancel.is_set():
            raise ServiceCancelled("the call was cancelled")
        if timeout is not None and timeout <= 0:
            raise ServiceTimeout("no time was left for the call")
        line = self.lines[min(len(self.seen), len(self.lines) - 1)]
        self.seen.append(Seen(messages=tuple(messages), max_tokens=max_tokens, timeout=timeout, tools=tuple(tools)))
        match line:
            case str():
                text = line
            case Reply():
                return line
            case Exception():
                raise line
            case _:
                text = line(messages)
        return Reply(text=text, model=self.model, usage=self.usage, finish="stop")

    def stream(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[object] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
        cancel: Cancel | None = None,
    ) -> Iterator[str | Reply]:
        """The next line word by word."""
        reply = self._answer(messages, tools, max_tokens, timeout, cancel)
        for place, word in enumerate(reply.text.split(" ")):
            if cancel is not None and cancel.is_set():
                raise ServiceCancelled("the call was cancelled")
            yield f" {word}" if place else word
        yield reply
