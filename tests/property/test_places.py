"""Every property that opens an engine or a store does so in a `Setup`, so that it runs on each of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from haversack.store.port import Store

from .places import SETUPS, Setup

HERE = Path(__file__).parent
OPENERS = frozenset({"Core", "Haversack", "MemoryStore", "Setup", "SqliteSite", "SqliteStore", "open_haversack"})
ON_ITS_OWN = {
    "places.py": "It is the one way.",
    "interleaving_world.py": "Two engines are its subject: schedules, which are played in memory and on files.",
    "interleaving_files.py": "The same: two stores are open on each file.",
    "test_backup.py": "No engine: one store is copied into another, in memory and in files both ways.",
    "test_compaction.py": "No engine: one compaction, killed in the midst of it.",
    "test_maintenance.py": "No engine but one, in a Setup: a run and its undoing; snapshots need files.",
    "test_store.py": "No engine: the machine names its two set-ups, for the third is the oracle itself.",
    "test_plan.py": "No engine: the rules of a batch, which test_store holds every store to.",
    "test_recall.py": "No engine: an index over rows, which test_same_everywhere asks on every store.",
    "test_early_answers.py": "No engine: an index behind its store, which test_same_everywhere asks on every store.",
    "test_words_gone.py": "Two engines on one file are its subject, and every file beside it.",
    "test_reads.py": "The rows that one file gives, counted by its store.",
    "test_growth.py": "The time of one call, which another engine would only disturb.",
}
"""Files that open one otherwise, and why."""
IN_FILES = {"test_no_byte_of_what_was_forgotten_for_good_stands_anywhere": "Memory has no bytes that stay."}
"""Properties that run on files alone, and why."""


def opened(source: str) -> Iterator[str]:
    """What of a module opens an engine or a store otherwise than in a Setup, or in some of the set-ups only."""
    whole = ast.parse(source)
    for node in ast.walk(whole):
        if isinstance(node, ast.Call) and (name := _name(node.func)) and _opens(name):
            yield name
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("bench", "tests")):
            yield f"from {node.module}"
        if isinstance(node, ast.Subscript) and _name(node.value) == "SETUPS":
            yield ast.unparse(node)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield from _kept_from_some(node)


def _name(called: ast.expr) -> str:
    return ast.unparse(called) if isinstance(called, ast.Name | ast.Attribute) else ""


def _opens(name: str) -> bool:
    return name == "haversack.open" or name.rpartition(".")[2] in OPENERS


def _kept_from_some(test: ast.FunctionDef) -> Iterator[str]:
    marks = {_name(each) for each in test.decorator_list}
    runs = "everywhere" in marks or ("in_files" in marks and test.name in IN_FILES)
    if any(each.arg == "setup" for each in test.args.args) and not runs:
        yield test.name


def test_every_engine_is_opened_in_the_shared_way() -> None:
    found = {path.name: [*opened(path.read_text())] for path in sorted(HERE.glob("*.py")) if path != Path(__file__)}
    assert {name: how for name, how in found.items() if how and name not in ON_ITS_OWN} == {}
    assert {name for name in ON_ITS_OWN if not found[name]} == set()


@pytest.mark.parametrize(
    "source",
    [
        "def test_it():\n    haversack.open(':memory:')",
        "def test_it():\n    with wiring.open_haversack('x') as sack: pass",
        "def made():\n    return Haversack(core)",
        "STORE = MemoryStore()",
        "from bench.growth.entrances import bed",
        "@pytest.mark.parametrize('setup', SETUPS[:1])\ndef test_it(setup: Setup): pass",
        "@pytest.fixture(params=SETUPS[:1])\ndef sack(request): pass",
        "@in_files\ndef test_it(setup: Setup): pass",
        "def test_it(setup: Setup): pass",
    ],
)
def test_another_way_is_seen(source: str) -> None:
    assert [*opened(source)] != []


@pytest.mark.parametrize(
    "source",
    [
        "@everywhere\n@given(x)\ndef test_it(setup: Setup):\n    with setup.open() as sack: pass",
        "def f(s: Haversack): pass",
    ],
)
def test_the_shared_way_is_seen(source: str) -> None:
    assert [*opened(source)] == []


def test_each_store_has_one_engine_and_two() -> None:
    assert [str(each) for each in SETUPS] == ["memory-1", "memory-2", "sqlite-1", "sqlite-2"]


class Noting:
    """A store that notes whose it is when it is asked."""

    def __init__(self, store: Store, number: int, asked: list[int]) -> None:
        self._store, self._number, self._asked = store, number, asked

    def namespaces(self, matching: str = "*", **named: Any) -> list[str]:
        self._asked.append(self._number)
        return self._store.namespaces(matching, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.mark.parametrize("in_file", [False, True])
def test_both_engines_act(in_file: bool) -> None:  # noqa: FBT001
    """Sixteen calls: each engine has half of them, half of the first and half of the second of each pair."""
    asked: list[int] = []
    with Setup(in_file=in_file, engines=2).place() as place:
        number = iter(range(2))
        sack = place.open(over=lambda store: cast("Store", Noting(store, next(number), asked)))
        for _ in range(16):
            sack.namespaces()
    assert asked == [0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0]
