"""Stores that earlier schemas left are opened, brought up to date, and answer as they did."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import haversack

_HERE = Path(__file__).parent


def _recorder() -> Any:
    spec = importlib.util.spec_from_file_location("record", _HERE / "record.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kept", sorted(_HERE.glob("schema-*")), ids=lambda kept: kept.name)
def test_a_kept_store_answers_as_it_did(kept: Path, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    shutil.copy(kept / "store.sqlite3", path)
    with haversack.open(str(path)) as sack:
        told = _recorder().answers(sack)
    recorded = json.loads((kept / "answers.json").read_text("utf-8"))
    questions = _recorder().QUESTIONS
    assert _without(told, questions) == _without(recorded, questions)


@pytest.mark.parametrize("kept", sorted(_HERE.glob("schema-*")), ids=lambda kept: kept.name)
def test_a_kept_store_ranks_as_a_new_one_that_holds_the_same(kept: Path, tmp_path: Path) -> None:
    """Rankings get better from release to release; what a store holds must not depend on which one wrote it."""
    path = tmp_path / "store.db"
    shutil.copy(kept / "store.sqlite3", path)
    record = _recorder()
    with haversack.open(str(path)) as sack, haversack.open(":memory:") as new:
        new.maintenance.restore_backup(sack.namespace("user-alice").maintenance.backup())
        both = [one.namespace("user-alice") for one in (sack, new)]
        for question in record.QUESTIONS:
            kept_hits, new_hits = (ns.recall(question, now=record.NOW, top_k=30) for ns in both)
            assert [(hit.id, hit.score) for hit in kept_hits] == [(hit.id, hit.score) for hit in new_hits]


def _without(told: dict[str, Any], questions: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in json.loads(json.dumps(told)).items() if name not in questions}


@pytest.mark.parametrize("kept", sorted(_HERE.glob("schema-*")), ids=lambda kept: kept.name)
def test_a_kept_store_forgets_for_good(kept: Path, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    shutil.copy(kept / "store.sqlite3", path)
    with haversack.open(str(path)) as sack:
        ns = sack.namespace("user-alice")
        ns.forget(session="log", hard=True)
        ns.forget(session="day-1", hard=True)
        assert [info.id for info in ns.sessions()] == ["day-2", "day-0"]
    assert all(b"wind force" not in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize("kept", sorted(_HERE.glob("schema-*")), ids=lambda kept: kept.name)
def test_marks_of_the_engine_leave_the_metadata_of_a_kept_store(kept: Path, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    shutil.copy(kept / "store.sqlite3", path)
    with haversack.open(str(path)) as sack:
        ns = sack.namespace("user-alice")
        rows = ns.changes().memories
        (soft,) = (row for row in rows if row.content == "Alice keeps a grey cat.")
        assert (soft.deleted_at is not None, soft.stage_before, dict(soft.metadata)) == (True, "active", {})
        assert not any(
            key in row.metadata for row in rows for key in ("haversack.deleted_at", "haversack.duplicate_of")
        )
        (back,) = ns.restore(soft.id)
        assert (back.stage, back.deleted_at, back.stage_before) == ("active", None, None)
        assert [row.id for row in ns.page(kinds=["fact"], tags=["units"]).memories] == [
            row.id for row in rows if row.tags == ("units",)
        ]
