"""What the engine notes of a memory stands in fields of its own; metadata of any name is the caller's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import haversack
from haversack import Namespace

MINE = {"haversack.deleted_at": "in May", "haversack.stage_before": 7, "haversack.duplicate_of": "another"}


@pytest.fixture
def ns(tmp_path: Path) -> Iterator[Namespace]:
    with haversack.open(tmp_path / "memory.db", embedder="none") as sack:
        yield sack.namespace("n")


def test_metadata_of_any_name_survives_forgetting_and_restoring(ns: Namespace) -> None:
    kept = ns.remember("the mill grinds barley", kind="fact", metadata=MINE)
    ns.forget(kept.id)
    hidden = ns.get(kept.id)
    assert (hidden.metadata, hidden.stage_before, hidden.duplicate_of) == (MINE, "active", None)
    assert hidden.deleted_at is not None
    (back,) = ns.restore(kept.id)
    assert (back.metadata, back.stage, back.deleted_at) == (MINE, "active", None)


def test_metadata_of_any_name_survives_folding_and_unfolding(ns: Namespace) -> None:
    first = ns.remember("the mill at Veere grinds the barley", kind="fact")
    second = ns.remember("The mill at Veere grinds barley", kind="fact", metadata=MINE)
    assert (second.superseded_by, second.duplicate_of, second.metadata) == (first.id, first.id, MINE)
    back = ns.unfold(second.id)
    assert (back.superseded_by, back.duplicate_of, back.metadata) == (None, None, MINE)


def test_nothing_goes_with_what_metadata_names(ns: Namespace) -> None:
    first = ns.remember("the mill grinds barley", kind="fact")
    other = ns.remember("boats leave at noon", kind="fact", metadata={"haversack.duplicate_of": first.id})
    assert ns.forget(first.id, hard=True).derived == ()
    assert ns.get(other.id).content == "boats leave at noon"
