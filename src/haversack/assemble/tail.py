"""`fit_tail`: the open exchange, when the window has no room for all of it.

Its user's words stay whole. Older tool results become pointers, the newest are shortened, then the oldest calls leave
with their results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from haversack.assemble.history import Exchange, Past, TurnReason, TurnVerdict, exchanges
from haversack.assemble.rendition import query_words
from haversack.assemble.shrink import Price, Shrinker
from haversack.assemble.verdict import Outcome
from haversack.model.message import Message, Role
from haversack.model.pointers import pointing, tool_pointer
from haversack.tokens.counter import Counter

__all__ = ["Tail", "fit_tail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """What is sent of an open exchange."""

    messages: tuple[Message, ...]
    """The user's words, then calls with their results."""
    rows: tuple[TurnVerdict, ...]
    """What became of each message that does not stand as it was."""


def fit_tail(query: Message, since: Sequence[Past], room: int, *, price: Price, counter: Counter) -> Tail | None:
    """Return the open exchange in at most `room` tokens; None when not even its newest calls fit behind the query."""
    said = [past.message for past in since]
    rounds = list(exchanges(said, {}))[::-1]
    job = _Job(query, since, price, counter)
    for first in range(len(rounds)):
        sent = job.squeezed(rounds[first:], room)
        if sent is not None:
            return Tail(messages=(query, *sent.values()), rows=job.rows(sent))
    return None


@dataclass(frozen=True, slots=True)
class _Job:
    query: Message
    since: Sequence[Past]
    price: Price
    counter: Counter

    def squeezed(self, rounds: Sequence[Exchange], room: int) -> dict[int, Message] | None:
        """These calls and results, by index, in at most `room` tokens; None when they do not fit."""
        sent = {place: said for one in rounds for place, said in zip(one.places, one.messages, strict=True)}
        newest = set(rounds[-1].places)
        for place in [place for place, said in sent.items() if said.role is Role.TOOL and place not in newest]:
            if self.total(sent) <= room:
                return sent
            pointer = tool_pointer(sent[place], self.since[place].id)
            if self.total(sent | {place: pointer}) < self.total(sent):
                sent[place] = pointer
        caller = rounds[-1].messages[0]
        results = sorted((place for place in newest if sent[place].role is Role.TOOL), key=lambda n: -len(sent[n].text))
        for place in results:
            excess = self.total(sent) - room
            if excess <= 0:
                return sent
            note = f"\n[… cut: kept in full{pointing(self.since[place].id)}]"
            shrinker = Shrinker(self.price, self.counter, query_words(self.query.text), note)
            small = shrinker.smaller(sent[place], shrinker.cost(sent[place], caller) - excess, caller)
            pointer = tool_pointer(sent[place], self.since[place].id)
            sent[place] = pointer if small is None else small[0]
        return sent if self.total(sent) <= room else None

    def total(self, sent: dict[int, Message]) -> int:
        return sum(self.price([self.query, *sent.values()]))

    def rows(self, sent: dict[int, Message]) -> tuple[TurnVerdict, ...]:
        found: list[TurnVerdict] = []
        prices = self.price([self.query, *(past.message for past in self.since)])[1:]
        for place, (past, full) in enumerate(zip(self.since, prices, strict=True)):
            if (now := sent.get(place)) is None:
                row = (Outcome.DROPPED, TurnReason.NO_ROOM, full)
            elif now is not past.message:
                row = (Outcome.SHORTENED, TurnReason.SHORTENED, self.price([now])[0])
            else:
                continue
            outcome, reason, tokens = row
            found.append(TurnVerdict(id=past.id, role=past.message.role, verdict=outcome, reason=reason, tokens=tokens))
        return tuple(found)
