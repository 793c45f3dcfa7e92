"""Choosing what of a conversation is sent: `fit_history` for prompts, `trim` for a message list on its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from haversack.assemble.history import Exchange, Past, TurnReason, TurnVerdict, exchanges
from haversack.assemble.rendition import query_words
from haversack.assemble.shrink import shrink_message, without_pictures
from haversack.assemble.verdict import Outcome
from haversack.budget import Ledger, Line, check_tokens, cut
from haversack.errors import BudgetError
from haversack.model.message import Image, Message, Role
from haversack.tokens.counter import Counter

__all__ = ["Kept", "Trimmed", "fit_history", "trim"]

Price = Callable[[Sequence[Message]], "list[int]"]

_LONGEST = 3
"""A message over this fraction (one third) of the history's part is shortened when not everything fits."""
_LEAST = 48
"""Tokens of room below which no message is shortened to fit."""
_SUMMARIES = 4
"""Summaries may take this fraction (one fourth) of the history's part before turns do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The part of a conversation that is sent."""

    messages: tuple[Message, ...]
    tokens: int
    rows: tuple[TurnVerdict, ...]
    """One for each message of the past, in order."""
    places: tuple[int, ...] = ()
    """For each message the index of its exchange in the history."""


@dataclass(slots=True)
class _Unit:
    exchange: Exchange
    messages: tuple[Message, ...]
    prices: list[int]
    full: list[int]
    reason: TurnReason = TurnReason.FITS

    @property
    def total(self) -> int:
        return sum(self.prices)


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
    found, refused = exchanges(history)
    units = _priced(found, price)
    wanted = query_words(query) if longest is None else frozenset[str]()
    if longest is not None or sum(unit.total for unit in units) > budget:
        cap = budget // _LONGEST if longest is None else longest
        units = [_capped(unit, cap, price, counter, wanted) for unit in units]
    chosen = _chosen(units, budget, price, counter, wanted, floor=floor, shrink=longest is None)
    kept = [units[place] for place in chosen]
    return Kept(
        messages=tuple(message for unit in kept for message in unit.messages),
        tokens=sum(unit.total for unit in kept),
        rows=_rows(history, units, set(chosen), refused, price),
        places=tuple(unit.exchange.places[0] for unit in kept for _ in unit.messages),
    )


def _priced(found: Sequence[Exchange], price: Price) -> list[_Unit]:
    counts = iter(price([message for exchange in found for message in exchange.messages]))
    priced = [[next(counts) for _ in exchange.messages] for exchange in found]
    return [_Unit(exchange, exchange.messages, list(p), list(p)) for exchange, p in zip(found, priced, strict=True)]


def _chosen(
    units: list[_Unit],
    budget: int,
    price: Price,
    counter: Counter,
    wanted: frozenset[str],
    *,
    floor: int,
    shrink: bool,
) -> list[int]:
    summaries = [place for place, unit in enumerate(units) if unit.exchange.summary]
    turns = [
        place for place, unit in enumerate(units) if not unit.exchange.summary and unit.exchange.places[0] >= floor
    ]
    everything = sum(units[place].total for place in turns) + sum(units[place].total for place in summaries)
    part = budget if everything <= budget else budget // _SUMMARIES
    standing = [summaries[i] for i in cut([units[place].total for place in summaries], part)]
    room = budget - sum(units[place].total for place in standing)
    tail = [turns[i] for i in cut([units[place].total for place in turns], room)]
    room -= sum(units[place].total for place in tail)
    before = turns[len(turns) - len(tail) - 1] if len(tail) < len(turns) else None
    if shrink and before is not None and room >= _LEAST and units[before].exchange.starts:
        smaller = _shrunk(units[before], room, price, counter, wanted)
        if smaller is not None:
            units[before] = smaller
            tail.insert(0, before)
    chosen = sorted([*standing, *tail])
    while chosen and not units[chosen[0]].exchange.starts:
        units[chosen.pop(0)].reason = TurnReason.NOT_A_START
    return chosen


def _capped(unit: _Unit, cap: int, price: Price, counter: Counter, wanted: frozenset[str]) -> _Unit:
    """The unit with each over-long message shortened; one that cannot be stays as it is."""
    if cap < _LEAST or all(one <= cap for one in unit.prices):
        return unit
    messages, reason = list(unit.messages), unit.reason
    for place, message in enumerate(messages):
        if unit.prices[place] > cap:
            messages[place], reason = _smaller(message, cap, price, counter, wanted)
    return replace(unit, messages=tuple(messages), prices=price(messages), reason=reason)


def _smaller(
    message: Message, cap: int, price: Price, counter: Counter, wanted: frozenset[str]
) -> tuple[Message, TurnReason]:
    if any(isinstance(part, Image) for part in message.parts):
        bare = without_pictures(message)
        if price([bare])[0] <= cap:
            return bare, TurnReason.PICTURE_LEFT_OUT
    found = shrink_message(message, cap, price=lambda one: price([one])[0], counter=counter, wanted=wanted)
    return (message, TurnReason.FITS) if found is None else (found, TurnReason.SHORTENED)


def _shrunk(unit: _Unit, room: int, price: Price, counter: Counter, wanted: frozenset[str]) -> _Unit | None:
    """The unit with its largest message shortened so that the whole fits, or None."""
    place = max(range(len(unit.prices)), key=unit.prices.__getitem__)
    left = room - (unit.total - unit.prices[place])
    if left < _LEAST // 2:
        return None
    message, reason = _smaller(unit.messages[place], left, price, counter, wanted)
    messages = (*unit.messages[:place], message, *unit.messages[place + 1 :])
    smaller = replace(unit, messages=messages, prices=price(messages), reason=reason)
    return smaller if smaller.total <= room else None


def _rows(
    history: Sequence[Past],
    units: Sequence[_Unit],
    chosen: set[int],
    refused: dict[int, TurnReason],
    price: Price,
) -> tuple[TurnVerdict, ...]:
    rows: dict[int, TurnVerdict] = {}
    for place, unit in enumerate(units):
        bad_start = unit.reason is TurnReason.NOT_A_START
        missing = TurnReason.NOT_A_START if bad_start else TurnReason.NO_ROOM
        for member, index in enumerate(unit.exchange.places):
            if place not in chosen:
                outcome, reason, tokens = Outcome.DROPPED, missing, unit.full[member]
            elif unit.messages[member] is not history[index].message:
                reason = unit.reason if unit.reason is not TurnReason.FITS else TurnReason.UNANSWERED_CALL
                outcome, tokens = Outcome.SHORTENED, unit.prices[member]
            else:
                outcome, reason, tokens = Outcome.KEPT, TurnReason.FITS, unit.prices[member]
            rows[index] = _row(history[index], outcome, reason, tokens)
    lost = [index for index in refused if index not in rows]
    for index, tokens in zip(lost, price([history[index].message for index in lost]) if lost else (), strict=True):
        rows[index] = _row(history[index], Outcome.DROPPED, refused[index], tokens)
    return tuple(rows[index] for index in sorted(rows))


def _row(past: Past, outcome: Outcome, reason: TurnReason, tokens: int) -> TurnVerdict:
    return TurnVerdict(id=past.id, role=past.message.role, verdict=outcome, reason=reason, tokens=tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimmed:
    """A message list cut to a budget."""

    messages: tuple[Message, ...]
    tokens: int
    rows: tuple[TurnVerdict, ...]
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
            return Trimmed(messages=(), tokens=0, rows=_none_of(talk, price))
        lines = (Line(name="system", tokens=fixed), Line(name="query", tokens=live))
        msg = f"system messages ({fixed}) and the live user message ({live}) do not fit into budget={budget}"
        raise BudgetError(msg, Ledger(lines=lines, budget=budget))
    past = [Past(message=message, id=str(place)) for place, message in enumerate(talk)]
    kept = fit_history(past, budget - fixed, price=price, counter=counter)
    return Trimmed(messages=(*system, *kept.messages), tokens=fixed + kept.tokens, rows=kept.rows)


def _none_of(talk: Sequence[Message], price: Price) -> tuple[TurnVerdict, ...]:
    return tuple(
        TurnVerdict(id=str(n), role=one.role, verdict=Outcome.DROPPED, reason=TurnReason.NO_ROOM, tokens=cost)
        for n, (one, cost) in enumerate(zip(talk, price(talk), strict=True))
    )
