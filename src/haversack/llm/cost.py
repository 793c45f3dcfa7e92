"""What memory work costs: each model call with its tokens and price, and caps that stop the work. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from haversack.errors import ConfigError, ServiceError
from haversack.llm.port import Cancel, ChatService, Reply, Usage
from haversack.model.message import Message

__all__ = [
    "GROUPINGS",
    "Call",
    "CapReached",
    "Caps",
    "MeteredService",
    "ModelPrice",
    "Purpose",
    "check_caps",
    "total_by",
]


class CapReached(ServiceError):  # noqa: N818 - named for what happened
    """The namespace has spent what it may; the message names the cap. Chat itself goes on."""


class Purpose(StrEnum):
    """What a call was for."""

    EXTRACTION = "extraction"
    COMPACTION = "compaction"
    ROUTING = "routing"
    MAINTENANCE = "maintenance"
    CHAT = "chat"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """US dollars for a million tokens."""

    input: float
    output: float
    cached: float | None = None
    """Of input read from the provider's cache; None: as other input."""

    def of(self, usage: Usage) -> float:
        """Dollars."""
        cached_price = self.input if self.cached is None else self.cached
        fresh = usage.input_tokens - usage.cached_tokens
        return (fresh * self.input + usage.cached_tokens * cached_price + usage.output_tokens * self.output) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One line of the cost ledger."""

    at: datetime
    purpose: Purpose
    model: str
    namespace: str
    session: str | None
    input_tokens: int
    output_tokens: int
    dollars: float | None
    """None where the price table does not name the model."""
    estimated: bool = False
    """The provider reported no usage; the tokens were counted here."""

    def encode(self) -> bytes:
        """JSON, as records keep it."""
        return msgspec.json.encode(self)


GROUPINGS: Mapping[str, Callable[[Call], str]] = {
    "purpose": lambda call: call.purpose.value,
    "model": lambda call: call.model,
    "session": lambda call: call.session or "",
    "namespace": lambda call: call.namespace,
    "day": lambda call: call.at.date().isoformat(),
}
"""What calls can be added up by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """What memory work may use up in a period; None is no limit."""

    calls: int | None = None
    tokens: int | None = None
    dollars: float | None = None
    period_hours: float = 24

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        for name in ("calls", "tokens", "dollars"):
            if (cap := getattr(self, name)) is not None and cap < 0:
                raise ConfigError(f"{name}={cap!r} must be 0 or more")
        if self.period_hours <= 0:
            raise ConfigError(f"period_hours={self.period_hours!r} must be more than 0")

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit."""
        return any(cap is not None for cap in (self.calls, self.tokens, self.dollars))


def total_by(calls: Iterable[Call], key: Callable[[Call], str]) -> dict[str, tuple[int, int, int, float]]:
    """Per key: calls, input tokens, output tokens, dollars (calls without a price count 0)."""
    totals: dict[str, tuple[int, int, int, float]] = defaultdict(lambda: (0, 0, 0, 0.0))
    for call in calls:
        count, given, made, dollars = totals[key(call)]
        totals[key(call)] = (
            count + 1,
            given + call.input_tokens,
            made + call.output_tokens,
            dollars + (call.dollars or 0.0),
        )
    return dict(totals)


def check_caps(calls: Iterable[Call], caps: Caps, now: datetime) -> None:
    """Raise CapReached when the calls of the running period use a cap up. Chat is not counted."""
    since = now - timedelta(hours=caps.period_hours)
    counted = [call for call in calls if call.at > since and call.purpose is not Purpose.CHAT]
    spent: list[tuple[str, float, float | None]] = [
        ("calls", len(counted), caps.calls),
        ("tokens", sum(call.input_tokens + call.output_tokens for call in counted), caps.tokens),
        ("dollars", sum(call.dollars or 0.0 for call in counted), caps.dollars),
    ]
    for name, used, cap in spent:
        if cap is not None and used >= cap:
            raise CapReached(
                f"memory work has used {used:g} of {cap:g} {name} in {caps.period_hours:g} hours; it resumes later"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class MeteredService:
    """A chat service whose every call is booked, and refused once a cap is reached."""

    inner: ChatService
    purpose: Purpose
    namespace: str
    session: str | None
    book: Callable[[Call], None]
    allow: Callable[[], None]
    """Raises CapReached when no further call may be made."""
    clock: Callable[[], datetime]
    count: Callable[[str], int]
    """Stands in where the provider reports no usage."""
    prices: Mapping[str, ModelPrice]

    @property
    def model(self) -> str:
        """Of the inner service."""
        return self.inner.model

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int | None = None,
        timeout: float | None = None,
        cancel: Cancel | None = None,
    ) -> Reply:
        """The inner answer, booked."""
        self.allow()
        reply = self.inner.complete(messages, max_tokens=max_tokens, timeout=timeout, cancel=cancel)
        self._book(messages, reply)
        return reply

    def stream(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[object] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
        cancel: Cancel | None = None,
    ) -> Iterator[str | Reply]:
        """The inner stream, booked at its end."""
        self.allow()
        for piece in self.inner.stream(messages, tools=tools, max_tokens=max_tokens, timeout=timeout, cancel=cancel):
            if isinstance(piece, Reply):
                self._book(messages, piece)
            yield piece

    def _book(self, messages: Sequence[Message], reply: Reply) -> None:
        counted = Usage(
            input_tokens=sum(self.count(message.text) for message in messages),
            output_tokens=self.count(reply.text),
        )
        usage = reply.usage or counted
        price = self.prices.get(reply.model) or self.prices.get(self.model)
        self.book(
            Call(
                at=self.clock(),
                purpose=self.purpose,
                model=reply.model,
                namespace=self.namespace,
                session=self.session,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                dollars=price.of(usage) if price else None,
                estimated=reply.usage is None,
            )
        )
