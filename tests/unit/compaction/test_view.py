from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from haversack.compaction.view import Fold, View, load_view, pointer, render, stand_in, view_write
from haversack.errors import ConflictError, InputError, NotFoundError
from haversack.model.memory import Turn
from haversack.model.message import Message, Role
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch

Say = Callable[..., Message]
Talk = Callable[..., list[Message]]
TurnsOf = Callable[[Sequence[Message]], list[Turn]]


def fold(name: str, start: int, stop: int) -> Fold:
    return Fold(summary=name, start=start, stop=stop)


def test_a_new_fold_takes_the_place_of_those_inside() -> None:
    view = View(session="s").folded(fold("b", 6, 8)).folded(fold("a", 0, 4))
    assert [each.summary for each in view.folds] == ["a", "b"]
    assert view.folded(fold("c", 0, 8)).folds == (fold("c", 0, 8),)
    assert view.folded(fold("c", 4, 6)).folds == (fold("a", 0, 4), fold("c", 4, 6), fold("b", 6, 8))


@pytest.mark.parametrize(("start", "stop"), [(2, 6), (3, 7), (1, 2), (5, 5)])
def test_folds_never_overlap(start: int, stop: int) -> None:
    view = View(session="s", folds=(fold("a", 0, 4), fold("b", 6, 8)))
    with pytest.raises(InputError):
        view.folded(fold("c", start, stop))
    with pytest.raises(InputError):
        View(session="s", folds=(fold("a", 0, 4), fold("b", 3, 8)))


def test_opening_gives_the_turns_back() -> None:
    view = View(session="s", folds=(fold("a", 0, 4), fold("b", 6, 8)), cleared=(1, 7))
    assert view.opened("a") == View(session="s", folds=(fold("b", 6, 8),), cleared=(7,))
    with pytest.raises(NotFoundError):
        view.opened("z")


def test_rendering_shows_summaries_pointers_and_the_rest(say: Say, turns_of: TurnsOf) -> None:
    messages = [
        say("user", "a"),
        say("assistant", "b"),
        say("assistant", "", calls=["c"]),
        say("tool", "x" * 9, answers="c"),
    ]
    turns = turns_of(messages)
    view = View(session="s", folds=(fold("m", 0, 2),), cleared=(3,))
    shown = render(view, turns, {"m": "They met."})
    assert shown == [stand_in(fold("m", 0, 2), "They met."), messages[2], pointer(turns[3])]
    assert "expand m" in shown[0].text
    assert (shown[2].tool_call_id, "expand t3" in shown[2].text) == ("c", True)
    assert render(view, turns, {}) == [*messages[:3], pointer(turns[3])]


def test_a_result_whose_call_is_hidden_becomes_words(say: Say, turns_of: TurnsOf) -> None:
    messages = [say("assistant", "", calls=["c"]), say("user", "hm"), say("tool", "late", answers="c")]
    shown = render(View(session="s", folds=(fold("m", 0, 1),)), turns_of(messages), {"m": "x"})
    assert (shown[2].role, shown[2].tool_call_id) == (Role.USER, None)
    assert shown[2].text.endswith("late")


def test_a_view_survives_its_record_and_guards_its_version() -> None:
    store = MemoryStore()
    view = View(session="s", folds=(fold("a", 0, 4),), cleared=(7,))
    assert load_view(store, "n", "s") == (View(session="s"), 0)
    store.apply("n", Batch(records=(view_write(view, 0),)))
    assert load_view(store, "n", "s") == (view, 1)
    with pytest.raises(ConflictError):
        store.apply("n", Batch(records=(view_write(view, 0),)))
