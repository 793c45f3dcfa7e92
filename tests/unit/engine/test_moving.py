from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from haversack.engine.asynchronous import to_async
from haversack.engine.haversack import Haversack
from haversack.engine.importing import Imported
from haversack.engine.namespace import Namespace
from haversack.errors import InputError
from haversack.store.memory import MemoryStore
from haversack.transfer import read_files

LINES = (
    '{"session_id": "s1", "messages": [{"role": "user", "content": "moisture 40"},'
    ' {"role": "assistant", "content": "ok"}]}\n'
    "not json\n"
    '{"session_id": "s2", "messages": [{"role": "user", "content": "moisture 55"}]}\n'
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "chat.jsonl"
    path.write_text(LINES, encoding="utf-8")
    return path


def test_what_can_be_read_lands_and_the_rest_is_reported(ns: Namespace, file: Path) -> None:
    seen: list[int] = []
    done = ns.bring_in(read_files([file]), watch=lambda so_far: seen.append(so_far.turns))
    assert (done.turns, done.bad, done.sessions, done.known) == (3, 1, {"s1", "s2"}, 0)
    assert done.problems[0].place == "line 2"
    assert seen[-1] == 3


def test_a_second_import_adds_nothing(ns: Namespace, file: Path) -> None:
    ns.bring_in(read_files([file]))
    before = ns.stats()
    done = ns.bring_in(read_files([file]))
    assert (done.turns, done.known) == (0, 3)
    assert ns.stats() == before


def test_strict_stops_at_the_bad_record_and_keeps_what_came_before(ns: Namespace, file: Path) -> None:
    with pytest.raises(InputError, match="line 2"):
        ns.bring_in(read_files([file]), strict=True)
    assert [info.id for info in ns.sessions()] == ["s1"]


def test_an_export_brought_in_elsewhere_is_equal(
    ns: Namespace, engine: Callable[..., Haversack], tmp_path: Path
) -> None:
    session = ns.session("s")
    session.add("user", "Let's plan", name="Alice", at="2026-01-01", metadata={"turn": "D1:1"})
    session.add("assistant", "Yes \U0001f600", at="2026-01-02")
    old = ns.remember("ships on Fridays", importance=0.9, entities=["team"], pinned=True)
    ns.remember("ships on Mondays", supersedes=old.id)
    ns.forget(ns.remember("a slip").id)
    lines = list(ns.take_out())
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"".join(lines))
    other = engine(MemoryStore()).namespace("copy")
    done = other.bring_in(read_files([path]))
    assert done.bad == 0
    assert list(other.take_out()) == lines
    assert other.session("s").turns() == session.turns()


def test_documents_are_cut_into_passages_once(ns: Namespace, tmp_path: Path) -> None:
    path = tmp_path / "tides.md"
    path.write_text("# Tides\n\n" + "\n\n".join(f"Paragraph {n} on the tide." for n in range(200)))
    first = ns.bring_in(read_files([path]))
    again = ns.bring_in(read_files([path]))
    assert first.memories > 1
    assert (again.memories, again.known) == (0, first.memories)


def test_what_was_erased_for_good_stays_away(ns: Namespace, tmp_path: Path) -> None:
    kept, gone = ns.remember("kept"), ns.remember("gone")
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"".join(ns.take_out()))
    ns.forget([kept.id, gone.id], hard=True)
    ns.remember("new")
    done: Imported = ns.bring_in(read_files([path]))
    assert (done.memories, done.forgotten) == (0, 2)
    assert ns.stats().memories == {"fact": 1}


def test_the_asynchronous_face_runs_the_same_verbs(sack: Haversack) -> None:
    async def use() -> tuple[int, str, bool]:
        async with to_async(sack) as shared:
            ns = shared.namespace("alice")
            await asyncio.gather(*(ns.remember(f"fact {n} about tea") for n in range(20)))
            await ns.session("s").add("user", "tea at four")
            hits = await ns.recall("tea", top_k=50)
            planned = await ns.maintenance.lifecycle()
            return len(hits), ns.name, planned.preview

    assert asyncio.run(use()) == (21, "alice", True)


def test_a_memory_that_was_edited_elsewhere_replaces_what_was_imported(ns: Namespace, tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    for words in ("likes tea", "likes green tea", "likes green tea"):
        path.write_text(f'[{{"id": "m-1", "memory": "{words}", "user_id": "alice"}}]')
        ns.bring_in(read_files([path]))
    assert [hit.content for hit in ns.recall("tea")] == ["likes green tea"]
    assert ns.stats().memories == {"fact": 1}
