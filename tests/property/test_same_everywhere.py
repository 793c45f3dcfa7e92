"""Law: the same store, query, configuration and `now` give the same bytes, on every back-end and after reopening."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace
from haversack.engine.settings import Settings
from haversack.errors import BudgetError
from haversack.model.memory import Kind, Memory
from haversack.recall import Recall
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch, Store
from haversack.store.sqlite.store import SqliteStore
from haversack.tokens import counter_for

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
VOCABULARY = ("the", "tide", "at", "Veere", "turns", "会議", "🚲", "café", "red", "boat", "4", "µ")
WORDS = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=9)
STEPS = st.lists(
    st.tuples(st.sampled_from(["fact", "decision", "passage", "user", "assistant", "forget", "pin", "edit"]), WORDS),
    min_size=1,
    max_size=14,
)


def opened(store: Store) -> Haversack:
    """An engine whose clock and ids repeat."""
    looks, drawn = iter(range(10**6)), iter(range(1, 10**6))
    return Haversack(
        Core(
            store=store,
            recall=Recall(store),
            embedder=None,
            settings=Settings(),
            clock=lambda: START + timedelta(seconds=next(looks)),
            entropy=lambda size: (next(drawn) << 40).to_bytes(size, "big"),
            counter=counter_for,
        )
    )


def live_through(ns: Namespace, steps: Sequence[tuple[str, list[str]]]) -> None:
    for kind, words in steps:
        text = " ".join(words)
        known = ns.everything()
        match kind:
            case "user" | "assistant":
                ns.session("s").add(kind, text)
            case "forget" | "edit" if not known:
                continue
            case "forget":
                ns.forget(known[len(text) % len(known)].id, hard=len(text) % 2 == 0)
            case "edit":
                ns.edit(known[0].id, importance=0.9, content=f"{text} then")
            case "pin":
                ns.remember(text, pinned=True)
            case _:
                ns.remember(text, kind=kind)


def answers(ns: Namespace) -> str:
    said: list[object] = [[(hit.id, hit.score, dict(hit.parts)) for hit in ns.recall("the red boat", now=START)]]
    for layout, form in (("flat", "markdown"), ("sections", "json"), ("attention", "xml")):
        for budget in (20, 60, 200):
            try:
                context = ns.context("tide at Veere", budget=budget, layout=layout, format=form, now=START)
            except BudgetError as refused:
                said.append(str(refused))
            else:
                said.append(context.to_dict())
    prompt = ns.session("s").prompt("café 会議", window=900, output=100, now=START, layout="sections")
    return json.dumps([said, prompt.to_dict()], default=str)


@given(STEPS)
@settings(max_examples=25)
def test_every_back_end_gives_the_same_bytes(steps: list[tuple[str, list[str]]]) -> None:
    with opened(MemoryStore()) as sack:
        live_through(sack.namespace("n"), steps)
        expected = answers(sack.namespace("n"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.db"
        with opened(SqliteStore(path)) as sack:
            live_through(sack.namespace("n"), steps)
            assert answers(sack.namespace("n")) == expected
        with opened(SqliteStore(path)) as sack:
            assert answers(sack.namespace("n")) == expected


def twins(order: Sequence[int]) -> list[Memory]:
    """Memories that differ in their ids and in a word that nobody asks for, written in this order."""
    return [
        Memory(
            id=f"{number:026d}",
            kind=Kind.FACT,
            content=f"The tide turns at Veere, {('one', 'two', 'six', 'ten', 'red', 'sun')[number]}.",
            created_at=START,
            event_time=START,
        )
        for number in order
    ]


@given(st.permutations(range(6)), st.sampled_from(["flat", "sections"]))
@settings(max_examples=20)
def test_of_equal_scores_and_times_the_id_decides_in_a_context_and_the_order_of_birth_in_recall(
    order: list[int], layout: str
) -> None:
    rows = twins(order)
    with tempfile.TemporaryDirectory() as folder:
        for store in (MemoryStore(), SqliteStore(Path(folder) / "s.db")):
            store.apply("n", Batch(memories=tuple(rows)))
            with opened(store) as sack:
                ns = sack.namespace("n")
                hits = ns.recall("When does the tide turn?", top_k=10, now=START)
                assert len({hit.score for hit in hits}) == 1
                assert [hit.id for hit in hits] == [one.id for one in rows]
                whole = ns.context("When does the tide turn?", budget=1000, layout=layout, now=START)
                assert len(whole.kept) == 6
                budget, kept = whole.tokens, 6
                while kept > 2:
                    budget -= 1
                    context = ns.context("When does the tide turn?", budget=budget, layout=layout, now=START)
                    kept = len(context.kept)
                    newest = sorted((one.id for one in rows), reverse=True)[:kept]
                    assert sorted(row.memory_id for row in context.kept) == sorted(newest)
