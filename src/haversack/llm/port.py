"""The chat service protocol: messages in, words and usage out. Adapters stand beside this file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from haversack.errors import ServiceError
from haversack.model.message import Message, ToolCall

__all__ = ["Cancel", "ChatService", "Reply", "ServiceCancelled", "Usage", "close_service"]


class ServiceCancelled(ServiceError):  # noqa: N818 - named for what happened
    """The caller stopped the call."""


class Cancel(Protocol):
    """Tells a running call to stop: a `threading.Event` is one."""

    def is_set(self) -> bool:
        """Whether to stop."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the provider reports them."""

    input_tokens: int
    """All of the prompt, cached parts included."""
    output_tokens: int
    cached_tokens: int = 0
    """Of the input, those read from the provider's cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A finished answer."""

    text: str
    """Its words alone, without reasoning; it may be empty."""
    model: str
    usage: Usage | None = None
    """None where the provider says nothing."""
    finish: str = ""
    """Why it ended, in the provider's word: `stop`, `length`, `end_turn`, …"""
    tool_calls: tuple[ToolCall, ...] = ()
    """What it wants called before it goes on."""


class ChatService(Protocol):
    """One model behind one endpoint. Safe for threads.

    Raises ServiceTimeout when the time runs out, ServiceCancelled when `cancel` is set, ServiceError for every other
    failure, after the adapter's own bounded retries.
    """

    @property
    def model(self) -> str:
        """The model's name, as costs are booked."""
        ...

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int | None = None,
        timeout: float | None = None,
        cancel: Cancel | None = None,
    ) -> Reply:
        """The whole answer. `timeout` is in seconds and covers everything, retries included."""
        ...

    def stream(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[object] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
        cancel: Cancel | None = None,
    ) -> Iterator[str | Reply]:
        """Pieces of text as they arrive, at last the Reply. `timeout` is the longest wait for one piece.

        `tools` are schemas in any provider's shape that the model may call; the calls stand in the Reply.
        """
        ...


def close_service(service: ChatService | None) -> None:
    """Close the connections of a service that holds any: such a service has a method `close`."""
    if callable(close := getattr(service, "close", None)):
        close()
