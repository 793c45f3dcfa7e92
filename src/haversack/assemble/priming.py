"""Priming: what a new session starts with, in a token budget of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from haversack.assemble.candidate import Candidate
from haversack.assemble.compose import assemble
from haversack.assemble.context import Context
from haversack.assemble.fit import Kept, fit_history
from haversack.assemble.frame import Format
from haversack.assemble.history import Past, exchanges
from haversack.assemble.pricing import Pricer
from haversack.assemble.settings import PrimingConfig
from haversack.model.message import Message, Role

__all__ = ["Primed", "complete_turns", "prime"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Primed:
    """What a session starts with."""

    context: Context
    prior: Kept
    """Turns of earlier sessions."""

    @property
    def tokens(self) -> int:
        """Memories and turns together."""
        return self.context.tokens + self.prior.tokens


def prime(
    candidates: Sequence[Candidate],
    sessions: Sequence[Sequence[Past]],
    config: PrimingConfig,
    *,
    pricer: Pricer,
    format: Format = Format.MARKDOWN,  # noqa: A002 - the public word for it
    now: datetime | None = None,
) -> Primed:
    """Memories by their limits, then the last complete turns of earlier sessions (`sessions`: newest first)."""
    budget = config.token_budget if config.enabled else 0
    context = assemble(
        candidates, budget=budget, counter=pricer.counter, layout=config.layout(), format=format, now=now
    )
    chosen = sessions[: config.previous_sessions]
    recent = [complete_turns(session, config.previous_session_turns) for session in chosen]
    past = [one for session in reversed(recent) for one in session]

    def price(messages: Sequence[Message]) -> list[int]:
        return [cost.total for cost in pricer.messages(messages)] if messages else []

    return Primed(
        context=context, prior=fit_history(past, budget - context.tokens, price=price, counter=pricer.counter)
    )


def complete_turns(session: Sequence[Past], most: int) -> list[Past]:
    """The last `most` turns that were answered: a user's message with all that follows it until the next one."""
    newest = islice(_answered([past.message for past in session]), most)
    return [session[place] for turn in reversed(list(newest)) for place in turn]


def _answered(messages: Sequence[Message]) -> Iterator[list[int]]:
    """The indices of each answered turn, the newest first."""
    places: list[int] = []
    for exchange in exchanges(messages, {}):
        places[:0] = exchange.places
        if exchange.messages[0].role is Role.USER:
            last = messages[places[-1]]
            if last.role is Role.ASSISTANT and not last.tool_calls:
                yield sorted(places)
            places = []
