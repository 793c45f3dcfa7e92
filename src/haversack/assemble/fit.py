"""`fit_history`: the newest exchanges that fit. The past is read and priced from its end, as far as the budget reaches.

Law: a tool call and its results stay or go together. Summaries that stand for earlier turns are chosen before the turns
that they do not cover: they are needed exactly when turns have to go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from haversack.assemble.history import Exchange, Past, TurnReason, TurnVerdict, TurnVerdicts, exchanges
from haversack.assemble.rendition import query_words
from haversack.assemble.shrink import Price, Shrinker
from haversack.assemble.verdict import Outcome
from haversack.budget import cut
from haversack.model.message import Message
from haversack.tokens.counter import Counter

__all__ = ["Kept", "fit_history", "fit_messages"]

_LONGEST = 3
"""A message over this fraction (one third) of the history's part is shortened when not everything fits."""
_LEAST = 48
"""Tokens of room below which no message is shortened to fit."""
_SUMMARIES = 4
"""Summaries may take this fraction (one fourth) of the history's part before turns do."""
_BLOCK = 3
"""Characters that are priced at a time, for each token of room: somewhat less than what fits."""
_SMALLEST_BLOCK = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The part of a conversation that is sent."""

    messages: tuple[Message, ...]
    tokens: int
    rows: TurnVerdicts
    """One for each message of the past, in order."""
    indices: tuple[int, ...]
    """Of the messages, in the history."""
    places: tuple[int, ...]
    """For each message the index at which its exchange begins."""
    altered: Mapping[int, TurnReason]
    """Why some do not stand as they were said, by index in the history."""
    left_out: int
    """Index of the newest exchange that had no room; -1 when all had."""

    @property
    def whole(self) -> bool:
        """Whether nothing left or was shortened for want of room."""
        return self.left_out < 0 and TurnReason.SHORTENED not in self.altered.values()


def fit_history(
    history: Sequence[Past],
    budget: int,
    *,
    price: Price,
    counter: Counter,
    query: str = "",
    floor: int = 0,
    longest: int | None = None,
) -> Kept:
    """The newest exchanges that fit, summaries first, in the conversation's order.

    `floor` is the index below which turns are not considered (a start that was fixed before). With `longest`, every
    message over so many tokens is shortened, in the same way at every call; without, only when not everything fits.
    """
    return fit_messages(
        [past.message for past in history],
        budget,
        Shrinker(price, counter, query_words(query) if longest is None else frozenset()),
        names=lambda index: history[index].id,
        summaries=[index for index, past in enumerate(history) if past.is_summary],
        floor=floor,
        longest=longest,
    )


def fit_messages(
    messages: Sequence[Message],
    budget: int,
    shrinker: Shrinker,
    *,
    names: Callable[[int], str],
    summaries: Sequence[int] = (),
    floor: int = 0,
    longest: int | None = None,
) -> Kept:
    """The same of messages with their names for the report and the indices of those that are summaries."""
    fit = _Fit(_turns(messages, frozenset(summaries), floor), budget, shrinker, longest)
    standing, tail = fit.chosen(fit.priced([Exchange((messages[index],), (index,)) for index in summaries]))
    units = sorted([*standing, *tail.units], key=lambda unit: unit.place)
    start = next((n for n, unit in enumerate(units) if unit.exchange.starts), len(units))
    kept = units[start:]
    unfit = {unit.place for unit in units[:start]}
    out = set(summaries).difference(unit.place for unit in standing)
    if tail.before is not None:
        out.add(tail.before.place)
    return Kept(
        messages=tuple([message for unit in kept for message in unit.messages]),
        tokens=sum([unit.total for unit in kept]),
        rows=TurnVerdicts(len(messages), lambda: _rows(messages, names, kept, unfit, shrinker.price)),
        indices=tuple([index for unit in kept for index in unit.exchange.places]),
        places=tuple([unit.place for unit in kept for _ in unit.messages]),
        altered={index: why for unit in kept for index, why in _altered(unit, messages)},
        left_out=max(out, default=-1),
    )


class _Unit(NamedTuple):
    """An exchange as it may be sent."""

    exchange: Exchange
    messages: tuple[Message, ...]
    prices: tuple[int, ...]
    total: int
    reasons: Mapping[int, TurnReason] = MappingProxyType({})
    """Why messages are smaller than they were, by their place in the exchange."""

    @property
    def place(self) -> int:
        return self.exchange.places[0]


class _Tail(NamedTuple):
    """An unbroken run of turns up to the newest."""

    units: list[_Unit]
    """The newest first."""
    room: int
    before: _Unit | None
    """The turn that had no room any more; None when there is none."""

    @property
    def whole(self) -> bool:
        return self.before is None and self.room >= 0


class _Fit:
    def __init__(self, ahead: Iterator[Exchange], budget: int, shrinker: Shrinker, longest: int | None) -> None:
        self.ahead = ahead
        """Turns that were not read yet."""
        self.budget = budget
        self.shrinker = shrinker
        self.longest = longest
        self.cap = longest
        """Tokens over which a message is shortened; None while it seems that everything fits."""
        self.turns: list[_Unit] = []
        """What was read and priced, the newest first."""
        self.short: dict[int, _Unit] = {}

    def chosen(self, summaries: list[_Unit]) -> tuple[list[_Unit], _Tail]:
        """Everything, if it fits; else long messages are shortened, then the oldest summaries and turns leave."""
        if self.cap is None:
            tail = self.tail(summaries)
            if tail.whole:
                return summaries, tail
            self.cap = self.budget // _LONGEST
        summaries = [self.capped(one) for one in summaries]
        tail = self.tail(summaries)
        if not tail.whole:
            kept = cut([one.total for one in summaries], self.budget // _SUMMARIES)
            summaries = [summaries[number] for number in kept]
            tail = self.tail(summaries)
            if self.longest is None:
                tail = self.led(self.squeezed(tail))
        return summaries, tail

    def tail(self, standing: Iterable[_Unit]) -> _Tail:
        """The newest turns that fit beside these summaries."""
        room = self.budget - sum(unit.total for unit in standing)
        units: list[_Unit] = []
        while (turn := self.turn(len(units), room)) is not None:
            unit = self.capped(turn)
            if unit.total > room:
                return _Tail(units, room, unit)
            units.append(unit)
            room -= unit.total
        return _Tail(units, room, None)

    def squeezed(self, tail: _Tail) -> _Tail:
        """With the turn before them, if it can start a conversation and be shortened into what is left."""
        unit, room = tail.before, tail.room
        if unit is None or room < _LEAST or not unit.exchange.starts:
            return tail
        member = max(range(len(unit.prices)), key=unit.prices.__getitem__)
        left = room - (unit.total - unit.prices[member])
        if left < _LEAST // 2:
            return tail
        small = self.smaller(unit, [member], left)
        if small.total > room:
            return tail
        units = [*tail.units, small]
        return _Tail(units, room - small.total, self.turn(len(units), 0))

    def led(self, tail: _Tail) -> _Tail:
        """With the user's message that what stands first answers, in place of the oldest of those answers."""
        answers = next((n for n, one in enumerate(reversed(tail.units)) if one.exchange.starts), len(tail.units))
        number = len(tail.units)
        while answers and (asked := self.turn(number, 0)) is not None:
            number += 1
            if not asked.exchange.starts:
                continue
            asked, units, room = self.capped(asked), tail.units.copy(), tail.room
            before = tail.before
            while answers and asked.total > room:
                before = units.pop()
                room += before.total
                answers -= 1
            return _Tail([*units, asked], room - asked.total, before) if answers else tail
        return tail

    def turn(self, number: int, room: int) -> _Unit | None:
        """The turn of this number from the newest on; more are priced when it takes more, as many as `room` needs."""
        while number >= len(self.turns):
            block = list(_block(self.ahead, max(_SMALLEST_BLOCK, room * _BLOCK)))
            if not block:
                return None
            self.turns += self.priced(block)
        return self.turns[number]

    def priced(self, found: Sequence[Exchange]) -> list[_Unit]:
        prices = self.shrinker.prices([message for one in found for message in one.messages], self.budget)
        units: list[_Unit] = []
        start = 0
        for one in found:
            own = tuple(prices[start : start + len(one.messages)])
            units.append(_Unit(one, one.messages, own, sum(own)))
            start += len(own)
        return units

    def capped(self, unit: _Unit) -> _Unit:
        """The unit with each over-long message shortened; one that cannot be stays as it is."""
        cap = self.cap
        if cap is None or unit.total <= cap or cap < _LEAST:
            return unit
        if unit.place not in self.short:
            long = [member for member, price in enumerate(unit.prices) if price > cap]
            self.short[unit.place] = self.smaller(unit, long, cap)
        return self.short[unit.place]

    def smaller(self, unit: _Unit, members: Iterable[int], room: int) -> _Unit:
        messages, prices, reasons = list(unit.messages), list(unit.prices), dict(unit.reasons)
        for member in members:
            caller = messages[0] if member else None
            found = self.shrinker.smaller(messages[member], room, caller)
            if found is not None:
                messages[member], reasons[member] = found
                prices[member] = self.shrinker.cost(found[0], caller)
        return _Unit(unit.exchange, tuple(messages), tuple(prices), sum(prices), reasons)


def _turns(messages: Sequence[Message], summaries: Collection[int], floor: int) -> Iterator[Exchange]:
    """What is no summary, the newest first, down to the floor."""
    for one in exchanges(messages, {}):
        if one.places[0] < floor:
            return
        if one.places[0] not in summaries:
            yield one


def _block(found: Iterator[Exchange], size: int) -> Iterator[Exchange]:
    """The next exchanges, until they have so many characters together."""
    for one in found:
        yield one
        for message in one.messages:
            size -= len(message.text)
        if size <= 0:
            return


def _altered(unit: _Unit, messages: Sequence[Message]) -> Iterator[tuple[int, TurnReason]]:
    for member, index in enumerate(unit.exchange.places):
        if unit.messages[member] is not messages[index]:
            yield index, unit.reasons.get(member, TurnReason.UNANSWERED_CALL)


def _rows(
    messages: Sequence[Message],
    names: Callable[[int], str],
    kept: Sequence[_Unit],
    unfit: Collection[int],
    price: Price,
) -> Iterator[TurnVerdict]:
    """`unfit` are the places of exchanges that no conversation starts with."""
    refused: dict[int, TurnReason] = {}
    rows: dict[int, tuple[Outcome, TurnReason, int]] = {}
    out: dict[int, tuple[Message, TurnReason]] = {}
    standing = {unit.place: unit for unit in kept}
    for exchange in exchanges(messages, refused):
        unit = standing.get(exchange.places[0])
        if unit is None:
            missing = TurnReason.NOT_A_START if exchange.places[0] in unfit else TurnReason.NO_ROOM
            out |= {index: (said, missing) for index, said in zip(exchange.places, exchange.messages, strict=True)}
            continue
        rows |= {n: (Outcome.KEPT, TurnReason.FITS, paid) for n, paid in zip(exchange.places, unit.prices, strict=True)}
        rows |= {n: (Outcome.SHORTENED, why, rows[n][2]) for n, why in _altered(unit, messages)}
    out |= {n: (messages[n], why) for n, why in refused.items() if n not in rows and n not in out}
    prices = price([said for said, _ in out.values()]) if out else []
    rows |= {n: (Outcome.DROPPED, why, full) for (n, (_, why)), full in zip(out.items(), prices, strict=True)}
    for index, message in enumerate(messages):
        outcome, reason, tokens = rows[index]
        yield TurnVerdict(id=names(index), role=message.role, verdict=outcome, reason=reason, tokens=tokens)
