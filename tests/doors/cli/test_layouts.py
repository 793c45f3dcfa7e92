"""Layouts from the command line: presets by name, weights for one call, layouts of one's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import haversack

Run = Callable[..., Any]


@pytest.fixture
def store(run: Run) -> None:
    with haversack.open("haversack.db", embedder="none") as sack:
        for kind in ("fact", "decision", "insight"):
            words = [f"{kind} number {number} speaks of the harbour wall" for number in range(30)]
            sack.namespace("default").remember_many([{"content": each, "kind": kind} for each in words])


def planned(answer: Any) -> dict[str, int]:
    return {section["name"]: section["planned"] for section in answer.data["sections"] if section["candidates"]}


@pytest.mark.usefixtures("store")
def test_presets_and_weights_share_the_budget(run: Run, tmp_path: Path) -> None:
    ask = ("context", "the harbour wall", "--budget", "400", "--json")
    assert planned(run(*ask, "--layout", "sections")) == {"user_facts": 200, "decisions": 133, "learnings": 66}
    assert planned(run(*ask, "--layout", "sections-audit")) == {"user_facts": 120, "decisions": 240, "learnings": 40}
    weights = ("--weight", "userFacts=1", "--weight", "decisions=1", "--weight", "learnings=0")
    assert planned(run(*ask, *weights)) == {"user_facts": 200, "decisions": 200}
    settings = tmp_path / "own.yaml"
    settings.write_text("engine: {layouts: {two: {sections: {a: {kinds: [fact]}, b: {kinds: [decision], weight: 3}}}}}")
    own = planned(run(*ask, "--config", str(settings), "--layout", "two"))
    assert own == {"a": 100, "b": 300}


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("weight", "says"),
    [
        ("learnings", "'learnings' must read SECTION=NUMBER"),
        ("learnings=much", "'learnings=much' must read SECTION=NUMBER"),
        ("learnings=nan", "a finite number from 0 is needed"),
        ("learnings=-1", "a finite number from 0 is needed"),
        ("learning=1", "did you mean 'learnings'"),
    ],
)
def test_a_weight_that_makes_no_sense(run: Run, weight: str, says: str) -> None:
    answer = run("context", "harbour", "--weight", weight)
    assert answer.code == 2
    assert says in answer.err
