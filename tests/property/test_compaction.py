"""Law 10 over generated sessions and misbehaving services."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from haversack.compaction.compactor import Compactor, Request
from haversack.compaction.plan import units
from haversack.compaction.result import Outcome
from haversack.compaction.settings import CompactionConfig
from haversack.compaction.summarize import Summarizer
from haversack.compaction.view import load_view, pointer, render
from haversack.errors import ServiceError, ServiceTimeout
from haversack.model.memory import Turn
from haversack.model.message import Message, Role, Text, ToolCall
from haversack.store.memory import MemoryStore
from haversack.store.port import Applied, Batch
from haversack.testing.scripted import Line, ScriptedChat
from haversack.testing.words import WordCounter

START = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = st.sampled_from(
    ["blah", "Alice", "42", "we decided", "can you?", "x.py", "on Friday.", "and so on", "data " * 30]
)


class Killed(BaseException):
    """The process dies here."""


class Mortal(MemoryStore):
    """A store whose process may die before or after a batch is applied."""

    dies_in: int | None = None
    dies_after: bool = False

    def apply(self, namespace: str, batch: Batch) -> Applied:
        if self.dies_in == 0 and not self.dies_after:
            raise Killed
        applied = super().apply(namespace, batch)
        if self.dies_in == 0:
            raise Killed
        if self.dies_in is not None:
            self.dies_in -= 1
        return applied


@st.composite
def messages(draw: st.DrawFn) -> list[Message]:
    made: list[Message] = []
    for place in range(draw(st.integers(0, 30))):
        text = " ".join(draw(st.lists(WORDS, max_size=6)))
        kind = draw(st.sampled_from(["user", "assistant", "call", "late call"]))
        if kind in ("user", "assistant"):
            made.append(Message(role=Role(kind), parts=(Text(text),)))
            continue
        call = ToolCall(id=f"c{place}", name="look", arguments="{}")
        made.append(Message(role=Role.ASSISTANT, tool_calls=(call,)))
        if kind == "late call":
            made.append(Message(role=Role.USER, parts=(Text("waiting"),)))
        if draw(st.booleans()):
            made.append(Message(role=Role.TOOL, parts=(Text(text),), tool_call_id=call.id))
    return made


def echo(asked: Sequence[Message]) -> str:
    return asked[-1].text


def half(asked: Sequence[Message]) -> str:
    words = asked[-1].text.split()
    return " ".join(words[: len(words) // 2])


LINES = st.sampled_from(
    [
        echo,
        half,
        half,
        "short.",
        "Bob invented 77 things.",
        "",
        " \n",
        "<think>x",
        ServiceTimeout("t"),
        ServiceError("s"),
    ]
)


def compactor(store: MemoryStore, lines: Sequence[Line] | None) -> Compactor:
    config = CompactionConfig(min_turns_to_summarize=1, compaction_recency_window=2, min_tool_result_tokens=20)

    def price(shown: Sequence[Message]) -> list[int]:
        return [len(message.text.split()) for message in shown]

    return Compactor(
        store=store,
        namespace="n",
        summarizer=Summarizer.of(config, WordCounter(), ScriptedChat(lines=lines) if lines is not None else None),
        config=config,
        clock=lambda: START + timedelta(days=1),
        price=price,
        owner="me",
    )


def append(store: MemoryStore, said: Sequence[Message], before: int) -> None:
    turns = [Turn(id=f"t{n}", session="s", message=message, at=START) for n, message in enumerate(said, before)]
    store.apply("n", Batch(turns=tuple(turns)))


def check_nothing_is_lost(store: MemoryStore, said: Sequence[Message]) -> None:
    turns = store.turns("n", "s")
    assert [turn.message for turn in turns] == list(said)
    view, _ = load_view(store, "n", "s")
    covered = [position for fold in view.folds for position in range(fold.start, fold.stop)]
    assert len(covered) == len(set(covered))
    summaries = {memory.id: memory for memory in store.memories("n", [fold.summary for fold in view.folds])}
    for fold in view.folds:
        behind = [turn.id for turn in turns if fold.start <= turn.position < fold.stop]
        assert list(summaries[fold.summary].source.turns) == behind
    contents = {id_: memory.content for id_, memory in summaries.items()}
    shown = render(view, turns, contents)
    verbatim = [turn for turn in turns if turn.position not in covered]
    in_view = [pointer(turn) if turn.position in view.cleared else turn.message for turn in verbatim]
    shown_words = [message.text for message in shown]
    assert all(any(message.text in words for words in shown_words) for message in in_view)
    opened = view
    for fold in view.folds:
        opened = opened.opened(fold.summary)
    assert [
        message
        for turn, message in zip(turns, render(opened, turns, {}), strict=True)
        if turn.position not in opened.cleared
    ] == [turn.message for turn in turns if turn.position not in opened.cleared]
    for unit in units(turns, [1] * len(turns)):
        inside = {turns[index].position in set(covered) for index in range(unit.first, unit.last + 1)}
        assert len(inside) == 1


@settings(max_examples=400, deadline=None)
@given(
    rounds=st.lists(
        st.tuples(
            messages(),
            st.one_of(st.none(), st.lists(LINES, min_size=1, max_size=4)),
            st.one_of(st.none(), st.integers(0, 60)),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_view_and_archive_together_are_what_was_said(
    rounds: list[tuple[list[Message], list[Line] | None, int | None]],
) -> None:
    store = MemoryStore()
    said: list[Message] = []
    for more, lines, to_free in rounds:
        append(store, more, len(said))
        said += more
        before = load_view(store, "n", "s")
        result = compactor(store, lines).run(Request(session="s", to_free=to_free, available=300, seconds=5))
        check_nothing_is_lost(store, said)
        if result.outcome is Outcome.DONE:
            assert result.tokens_after < result.tokens_before
            assert result.target_met == (to_free is None or result.tokens_saved >= to_free)
        else:
            assert load_view(store, "n", "s") == before


@settings(max_examples=200, deadline=None)
@given(said=messages(), dies_in=st.integers(0, 3), dies_after=st.booleans())
def test_a_kill_leaves_the_old_view_or_the_new_one_whole(said: list[Message], dies_in: int, dies_after: object) -> None:
    store = Mortal()
    append(store, said, 0)
    store.dies_in, store.dies_after = dies_in, bool(dies_after)
    with suppress(Killed):
        compactor(store, [half]).run(Request(session="s", available=300, seconds=5))
    store.dies_in = None
    check_nothing_is_lost(store, said)


@given(said=messages())
def test_units_hold_every_turn_once_and_calls_with_their_results(said: list[Message]) -> None:
    turns = [Turn(id=str(n), session="s", message=message, at=START, position=n) for n, message in enumerate(said)]
    cut = units(turns, [1] * len(turns))
    assert [index for unit in cut for index in range(unit.first, unit.last + 1)] == list(range(len(turns)))
    assert sum(unit.tokens for unit in cut) == len(turns)
    where = {index: place for place, unit in enumerate(cut) for index in range(unit.first, unit.last + 1)}
    calls = {call.id: index for index, turn in enumerate(turns) for call in turn.message.tool_calls}
    for index, turn in enumerate(turns):
        if turn.message.tool_call_id in calls:
            assert where[index] == where[calls[turn.message.tool_call_id]]
