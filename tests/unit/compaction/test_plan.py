from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from haversack.compaction.plan import choose_oldest, clearable, first_protected, plan_fold, units
from haversack.compaction.settings import CompactionConfig
from haversack.compaction.view import Fold, View
from haversack.model.memory import Turn
from haversack.model.message import Message

Say = Callable[..., Message]
Talk = Callable[..., list[Message]]
TurnsOf = Callable[[Sequence[Message]], list[Turn]]
PLAIN = View(session="s")


def extents(turns: Sequence[Turn]) -> list[tuple[int, int]]:
    return [(unit.first, unit.last) for unit in units(turns, [1] * len(turns))]


def test_a_call_goes_with_its_results(say: Say, turns_of: TurnsOf) -> None:
    messages = [
        say("user", "go"),
        say("assistant", "", calls=["a", "b"]),
        say("tool", "A", answers="a"),
        say("user", "hm"),
        say("tool", "B", answers="b"),
        say("assistant", "done"),
    ]
    assert extents(turns_of(messages)) == [(0, 0), (1, 4), (5, 5)]


def test_a_unit_grows_with_calls_made_inside_it(say: Say, turns_of: TurnsOf) -> None:
    messages = [
        say("assistant", "", calls=["a"]),
        say("assistant", "", calls=["b"]),
        say("tool", "A", answers="a"),
        say("tool", "B", answers="b"),
        say("tool", "?", answers="unknown"),
    ]
    assert extents(turns_of(messages)) == [(0, 3), (4, 4)]


def test_an_id_used_again_is_another_call(say: Say, turns_of: TurnsOf) -> None:
    messages = [say("assistant", "", calls=["a"]), say("assistant", "", calls=["a"]), say("tool", "A", answers="a")]
    assert extents(turns_of(messages)) == [(0, 0), (1, 2)]


def test_an_unanswered_call_stands_alone(say: Say, turns_of: TurnsOf) -> None:
    assert extents(turns_of([say("assistant", "", calls=["a"]), say("user", "well?")])) == [(0, 0), (1, 1)]


def test_the_oldest_are_chosen_up_to_a_users_message(turns_of: TurnsOf, talk: Talk) -> None:
    cut = units(turns_of(talk(10)), [10] * 10)
    assert [unit.first for unit in choose_oldest(cut, 20)] == [0, 1]
    assert [unit.first for unit in choose_oldest(cut, 21)] == [0, 1, 2, 3]
    assert [unit.first for unit in choose_oldest(cut, 21, reach=0)] == [0, 1, 2]
    assert len(choose_oldest(cut, 10_000)) == 10
    assert choose_oldest([], 5) == []


def test_the_window_moves_back_to_a_whole_unit(say: Say, turns_of: TurnsOf) -> None:
    messages = [say("user", "go"), say("assistant", "", calls=["a"]), say("tool", "A", answers="a"), say("user", "x")]
    turns = turns_of(messages)
    assert first_protected(turns, units(turns, [1] * 4), 2) == 1
    assert first_protected(turns, units(turns, [1] * 4), 99) == 0


def plan_of(
    turns: Sequence[Turn], to_free: int, view: View = PLAIN, **settings: int
) -> tuple[int, int, int, bool] | None:
    config = CompactionConfig(**settings)  # pyright: ignore[reportArgumentType]
    plan = plan_fold(turns, [10] * len(turns), view, to_free=to_free, config=config)
    return (plan.start, plan.stop, plan.fresh, plan.is_enough) if plan else None


def test_a_plan_frees_what_is_asked_when_it_can(turns_of: TurnsOf, talk: Talk) -> None:
    turns = turns_of(talk(20))
    assert plan_of(turns, 60) == (0, 6, 6, True)
    assert plan_of(turns, 10) == (0, 5, 5, True)  # no fewer than five turns
    assert plan_of(turns, 10_000) == (0, 16, 16, False)


@pytest.mark.parametrize("count", [0, 1, 4, 8])
def test_there_is_nothing_to_compact_in_a_short_session(turns_of: TurnsOf, talk: Talk, count: int) -> None:
    assert plan_of(turns_of(talk(count)), 1000) is None


def test_earlier_folds_are_taken_in(turns_of: TurnsOf, talk: Talk) -> None:
    view = PLAIN.folded(Fold(summary="m", start=0, stop=8))
    turns = turns_of(talk(30))
    assert plan_of(turns, 60, view) == (0, 14, 6, True)
    assert plan_of(turns_of(talk(14)), 60, view) is None


def test_the_users_last_message_stays_even_when_it_is_old(say: Say, turns_of: TurnsOf) -> None:
    early = [say("user", "hello"), say("assistant", "hi")]
    work = [say("user", "do it all"), *(say("assistant", "step") for _ in range(20))]
    assert plan_of(turns_of([*early, *work]), 10_000) == (3, 19, 16, False)
    assert plan_of(turns_of([*(early * 3), *work]), 10_000) == (0, 6, 6, False)


def test_old_tool_results_can_be_cleared(say: Say, turns_of: TurnsOf) -> None:
    work = [say("assistant", "", calls=["a"]), say("tool", "x", answers="a")]
    turns = turns_of(work * 4)
    costs = [1, 200, 1, 99, 1, 300, 1, 400]
    config = CompactionConfig(compaction_recency_window=2)
    assert [(turn.position, cost) for turn, cost in clearable(turns, costs, PLAIN, config)] == [(1, 200), (5, 300)]
    view = PLAIN.with_cleared([5]).folded(Fold(summary="m", start=0, stop=2))
    assert clearable(turns, costs, view, config) == []
