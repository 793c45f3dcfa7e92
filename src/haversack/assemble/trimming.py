"""`trim`: a message list cut to a budget, on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from haversack.assemble.fit import fit_messages
from haversack.assemble.history import TurnReason, TurnVerdict, TurnVerdicts
from haversack.assemble.shrink import Price, Shrinker
from haversack.assemble.verdict import Outcome
from haversack.budget import Ledger, Line, check_tokens
from haversack.errors import BudgetError
from haversack.model.message import Message, Role
from haversack.tokens.counter import Counter

__all__ = ["Trimmed", "trim"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimmed:
    """A message list cut to a budget."""

    messages: tuple[Message, ...]
    tokens: int
    rows: TurnVerdicts
    """One for each message that is not a system message."""

    @property
    def truncated(self) -> bool:
        """Whether anything is missing or shortened."""
        return any(row.verdict is not Outcome.KEPT for row in self.rows)


def trim(messages: Sequence[Message], budget: int, *, price: Price, counter: Counter) -> Trimmed:
    """The list with system messages first and the newest exchanges that fit.

    Raises BudgetError, with a ledger, when the system messages and the user's last words do not fit.
    """
    check_tokens(budget)
    system = [message for message in messages if message.role is Role.SYSTEM]
    talk = [message for message in messages if message.role is not Role.SYSTEM]
    fixed = sum(price(system)) if system else 0
    live = price(talk[-1:])[0] if talk and talk[-1].role is Role.USER else 0
    if fixed + live > budget and messages:
        if budget == 0:
            return Trimmed(messages=(), tokens=0, rows=TurnVerdicts(len(talk), lambda: _none_of(talk, price)))
        lines = (Line(name="system", tokens=fixed), Line(name="query", tokens=live))
        msg = f"system messages ({fixed}) and the live user message ({live}) do not fit into budget={budget}"
        raise BudgetError(msg, Ledger(lines=lines, budget=budget))
    kept = fit_messages(talk, budget - fixed, Shrinker(price, counter, frozenset()), names=str)
    return Trimmed(messages=(*system, *kept.messages), tokens=fixed + kept.tokens, rows=kept.rows)


def _none_of(talk: Sequence[Message], price: Price) -> tuple[TurnVerdict, ...]:
    return tuple(
        TurnVerdict(id=str(n), role=one.role, verdict=Outcome.DROPPED, reason=TurnReason.NO_ROOM, tokens=cost)
        for n, (one, cost) in enumerate(zip(talk, price(talk), strict=True))
    )
