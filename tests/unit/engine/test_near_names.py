"""Namespaces whose names look alike share nothing that the engine tells, on any back-end and after reopening."""

from __future__ import annotations

from pathlib import Path

import pytest

import haversack
from haversack.engine.haversack import Haversack
from haversack.testing.names import NEAR_NAMES

NAMES = [name for name in NEAR_NAMES if not name.endswith("*")]
"""Those that the engine takes."""


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return ":memory:" if request.param == "memory" else str(tmp_path / "store.db")


def live(sack: Haversack) -> None:
    for number, name in enumerate(NAMES):
        ns = sack.namespace(name)
        ns.remember(f"The ferry number {number} is late.")
        ns.session("s").add("user", f"Where is ferry {number}?")


def check(sack: Haversack, gone: str | None = None) -> None:
    assert sack.namespaces() == sorted(NAMES)  # what was erased everywhere keeps its graves
    for number, name in enumerate(NAMES):
        ns, there = sack.namespace(name), name != gone
        expected = {f"The ferry number {number} is late.", f"Where is ferry {number}?"} if there else set[str]()
        assert {hit.memory.content for hit in ns.recall("ferry number", top_k=100)} == expected
        assert [turn.message.text for turn in ns.session("s").turns()] == (
            [f"Where is ferry {number}?"] if there else []
        )
        census = ns.stats()
        assert (sum(census.memories.values()), census.turns) == ((2, 1) if there else (0, 0))
        context = ns.context("ferry number", budget=500, min_relevance=0)
        assert sorted(row.memory_id for row in context.kept) == sorted(one.id for one in ns.everything())


def test_nothing_is_shared(place: str) -> None:
    with haversack.open(place, embedder="none") as sack:
        live(sack)
        check(sack)
        if place == ":memory:":
            return
    with haversack.open(place, embedder="none") as sack:
        check(sack)


@pytest.mark.parametrize("gone", ["u", "u ", "\u00fc"])
def test_what_one_erases_the_others_keep(place: str, gone: str) -> None:
    with haversack.open(place, embedder="none") as sack:
        live(sack)
        sack.namespace(gone).forget(everything=True, hard=True)
        check(sack, gone)


def test_a_session_of_the_same_name_belongs_to_its_namespace(place: str) -> None:
    with haversack.open(place, embedder="none") as sack:
        live(sack)
        for name in NAMES:
            (session,) = sack.namespace(name).sessions()
            assert (session.id, session.turns) == ("s", 1)
