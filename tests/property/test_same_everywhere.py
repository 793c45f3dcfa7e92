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
from haversack.recall import Recall
from haversack.store.memory import MemoryStore
from haversack.store.port import Store
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
