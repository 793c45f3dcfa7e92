"""Which of the oldest turns a summary shall stand for. Pure: turns, prices and a view in, positions out.

Law: a tool call and its results stay or go together. The newest turns and the user's last message always stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from haversack.compaction.settings import CompactionConfig
from haversack.compaction.view import View
from haversack.model.memory import Turn
from haversack.model.message import Role

__all__ = ["Plan", "Unit", "choose_oldest", "clearable", "first_protected", "plan_fold", "units"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Turns that stay or go together: one message, or a tool call with its results and what came between."""

    first: int
    last: int
    """Indexes into the list of turns."""
    tokens: int
    opens_exchange: bool
    """Whether it begins with a user's message: a good place to begin the kept part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to summarise."""

    first: int
    last: int
    """Indexes into the list of turns."""
    start: int
    stop: int
    """Their positions: start..stop-1."""
    frees: int
    """Tokens of the turns that newly stand behind the summary."""
    fresh: int
    """How many those are."""
    is_enough: bool
    """Whether they free what was asked, before the summary's own tokens."""


def units(turns: Sequence[Turn], tokens: Sequence[int]) -> list[Unit]:
    """The turns cut into units."""
    made: list[Unit] = []
    first = 0
    while first < len(turns):
        last = _end_of_unit(turns, first)
        opens = turns[first].message.role is Role.USER
        made.append(Unit(first=first, last=last, tokens=sum(tokens[first : last + 1]), opens_exchange=opens))
        first = last + 1
    return made


def choose_oldest(candidates: Sequence[Unit], to_free: int, reach: int = 8) -> list[Unit]:
    """The oldest units that together hold at least `to_free` tokens; all of them when they do not.

    The cut moves on by at most `reach` units when the kept part would then begin with a user's message.
    """
    freed, count = 0, 0
    while count < len(candidates) and freed < to_free:
        freed += candidates[count].tokens
        count += 1
    for further in range(count, min(count + reach, len(candidates))):
        if candidates[further].opens_exchange:
            return list(candidates[:further])
    return list(candidates[:count])


def first_protected(turns: Sequence[Turn], cut: Sequence[Unit], window: int) -> int:
    """Index of the first turn that stays because it is new: the window's start, moved back to its unit's start."""
    index = max(0, len(turns) - window)
    return next((unit.first for unit in cut if unit.first <= index <= unit.last), index)


def plan_fold(
    turns: Sequence[Turn], tokens: Sequence[int], view: View, *, to_free: int, config: CompactionConfig
) -> Plan | None:
    """The oldest stretch outside the recency window to put behind one summary; None when there is nothing to compact.

    Folds at its beginning are taken in. `to_free` should allow for the summary's own tokens.
    """
    cut = units(turns, tokens)
    boundary = first_protected(turns, cut, config.compaction_recency_window)
    asked = max((index for index, turn in enumerate(turns) if turn.message.role is Role.USER), default=-1)
    for low, high in _stretches(asked, boundary):
        stretch = [unit for unit in cut if low <= unit.first and unit.last < high]
        plan = _plan_stretch(turns, stretch, view, to_free, config)
        if plan is not None:
            return plan
    return None


def clearable(
    turns: Sequence[Turn], tokens: Sequence[int], view: View, config: CompactionConfig
) -> list[tuple[Turn, int]]:
    """Old tool results that a pointer may stand for, oldest first, with their tokens."""
    boundary = first_protected(turns, units(turns, tokens), config.compaction_recency_window)
    return [
        (turn, cost)
        for turn, cost in zip(turns[:boundary], tokens, strict=False)
        if turn.message.role is Role.TOOL
        and cost >= config.min_tool_result_tokens
        and turn.position not in view.cleared
        and view.fold_at(turn.position) is None
    ]


def _end_of_unit(turns: Sequence[Turn], first: int) -> int:
    """Index of the last turn that belongs to the unit, which grows when a turn inside it makes calls of its own."""
    last, index = first, first
    while index <= last:
        open_calls = {call.id for call in turns[index].message.tool_calls}
        ahead = index + 1
        while open_calls and ahead < len(turns):
            message = turns[ahead].message
            if message.role is Role.TOOL and message.tool_call_id in open_calls:
                open_calls.discard(message.tool_call_id)
                last = max(last, ahead)
            elif message.tool_calls and open_calls & {call.id for call in message.tool_calls}:
                break  # the same id again is another call
            ahead += 1
        index += 1
    return last


def _stretches(asked: int, boundary: int) -> list[tuple[int, int]]:
    """Index ranges that may be folded: what is old, without the user's last message."""
    return [(0, boundary)] if asked >= boundary or asked < 0 else [(0, asked), (asked + 1, boundary)]


def _plan_stretch(
    turns: Sequence[Turn], stretch: Sequence[Unit], view: View, to_free: int, config: CompactionConfig
) -> Plan | None:
    is_folded = [view.fold_at(turns[unit.first].position) is not None for unit in stretch]
    fresh = [unit for unit, folded in zip(stretch, is_folded, strict=True) if not folded]
    if sum(unit.last - unit.first + 1 for unit in fresh) < config.min_turns_to_summarize:
        return None
    chosen = choose_oldest(fresh, to_free, reach=config.max_turns_per_summary)
    while sum(unit.last - unit.first + 1 for unit in chosen) < config.min_turns_to_summarize:
        chosen = fresh[: len(chosen) + 1]
    first, last = stretch[0].first, chosen[-1].last
    frees = sum(unit.tokens for unit in chosen)
    return Plan(
        first=first,
        last=last,
        start=turns[first].position,
        stop=turns[last].position + 1,
        frees=frees,
        fresh=sum(unit.last - unit.first + 1 for unit in chosen),
        is_enough=frees >= to_free,
    )
