"""An import writes only what its caller may write, and brings nothing back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from haversack.engine.haversack import Haversack
from haversack.engine.importing import Imported
from haversack.engine.namespace import Namespace
from haversack.errors import InputError
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch, Written
from haversack.transfer import read_files
from haversack.transfer.entries import RecordEntry
from haversack.transfer.writing import dump_header, dump_record, render_line

ALLOWED = ("view", "hidden", "policy", "feedback", "extracted")
OTHERS = ("lease", "cost", "access", "trim", "run", "run_step", "journal", "segment", "key", "audit", "job", "anything")


def exported(ns: Namespace, path: Path) -> Path:
    path.write_bytes(b"".join(ns.take_out()))
    return path


def bring(ns: Namespace, path: Path, *, may_administer: bool = True) -> Imported:
    return ns.bring_in(read_files([path]), may_administer=may_administer)


def record(path: Path, collection: str, key: str, value: object) -> Path:
    data = value if isinstance(value, bytes) else msgspec.json.encode(value)
    line = dump_record(RecordEntry(collection=collection, key=key, value=data))
    path.write_bytes(render_line(dump_header()) + render_line(line))
    return path


def changed(path: Path, memory_id: str, changes: Mapping[str, object]) -> Path:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line.update(changes if line.get("id") == memory_id else {})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("collection", OTHERS)
def test_records_of_other_collections_do_not_land(ns: Namespace, tmp_path: Path, collection: str) -> None:
    ns.remember("x")
    done = bring(ns, record(tmp_path / "r.jsonl", collection, "k", {}))
    assert (done.records, done.bad) == (0, 1)
    assert f"records of '{collection}' are not imported" in str(done.problems[0])


@pytest.mark.parametrize("collection", sorted(set(ALLOWED) - {"hidden"}))
@pytest.mark.parametrize("value", [b"\xff\0", b"{}", b'"x"', b"[[[", b'{"retention_days": "never"}'])
def test_a_value_is_decoded_before_it_lands(
    ns: Namespace, store: MemoryStore, tmp_path: Path, collection: str, value: bytes
) -> None:
    turn = ns.session("s").add("user", "said")
    key = {"policy": "lifecycle", "feedback": ns.everything()[0].id}.get(collection, turn.session)
    done = bring(ns, record(tmp_path / "r.jsonl", collection, key, value))
    if collection == "policy" and value == b"{}":  # all defaults
        assert done.records == 1
        return
    assert (done.records, done.bad) == (0, 1)
    assert store.records("alice", collection) == []
    assert f"record {collection}/{key}: its value cannot be decoded" in str(done.problems[0])


def test_a_policy_lands_for_who_may_administer_alone(ns: Namespace, tmp_path: Path) -> None:
    before = ns.maintenance.policy()
    path = record(tmp_path / "r.jsonl", "policy", "lifecycle", {"max_memories": 7})
    refused = bring(ns, path, may_administer=False)
    assert (refused.records, refused.bad) == (0, 1)
    assert "takes an admin's key" in str(refused.problems[0])
    assert ns.maintenance.policy() == before
    assert bring(ns, path).records == 1
    assert ns.maintenance.policy() != before
    assert bring(ns, record(tmp_path / "r.jsonl", "policy", "other", {})).bad == 1


def test_a_view_lands_under_its_own_session(ns: Namespace, tmp_path: Path) -> None:
    ns.session("s").add("user", "said")
    done = bring(ns, record(tmp_path / "r.jsonl", "view", "s", {"session": "t"}))
    assert (done.records, done.bad) == (0, 1)
    assert bring(ns, record(tmp_path / "r.jsonl", "view", "s", {"session": "s"})).records == 1


def test_a_record_lands_beside_what_it_is_about(ns: Namespace, store: MemoryStore, tmp_path: Path) -> None:
    kept = ns.remember("kept")
    for collection in ("hidden", "feedback"):
        done = bring(ns, record(tmp_path / "r.jsonl", collection, "nobody", []))
        assert (done.records, done.bad, done.forgotten) == (0, 1, 0)
        assert "what it is about is not here" in str(done.problems[0])
    for collection, value in (("view", {"session": "secret name"}), ("extracted", 3)):
        done = bring(ns, record(tmp_path / "r.jsonl", collection, "secret name", value))
        assert (done.records, done.bad, done.forgotten) == (0, 0, 1)
    ns.forget(kept.id, hard=True)
    done = bring(ns, record(tmp_path / "r.jsonl", "feedback", kept.id, []))
    assert (done.records, done.bad, done.forgotten) == (0, 0, 1)
    turn = ns.session("s").add("user", "said")
    assert bring(ns, record(tmp_path / "r.jsonl", "hidden", turn.id, b"smuggled")).records == 1
    assert [each.value for each in store.records("alice", "hidden")] == [b""]


def test_a_record_that_is_there_stays_as_it_is(ns: Namespace, store: MemoryStore, tmp_path: Path) -> None:
    ns.session("s").add("user", "said")
    store.apply("alice", Batch(records=(Written(collection="extracted", key="s", value=b"0"),)))
    done = bring(ns, record(tmp_path / "r.jsonl", "extracted", "s", 9))
    assert (done.records, done.known) == (0, 1)
    assert [each.value for each in store.records("alice", "extracted")] == [b"0"]


def test_strict_stops_at_what_may_not_land(ns: Namespace, tmp_path: Path) -> None:
    path = record(tmp_path / "r.jsonl", "lease", "k", {})
    with pytest.raises(InputError, match="record lease/k: records of 'lease' are not imported"):
        ns.bring_in(read_files([path]), strict=True)


def test_other_words_take_the_place_of_a_memory_and_leave_its_history(ns: Namespace, tmp_path: Path) -> None:
    memory = ns.remember("the gate is 4711", importance=0.9, tags=["door"])
    ns.vote(memory.id, "up")
    path = changed(exported(ns, tmp_path / "out.jsonl"), memory.id, {"content": "the gate is 1234", "tags": []})
    done = bring(ns, path, may_administer=False)
    assert (done.memories, done.replaced, done.bad) == (1, [memory.id], 0)
    assert (ns.get(memory.id).content, ns.get(memory.id).tags) == ("the gate is 1234", ())
    (before,) = ns.earlier(memory.id)
    assert before.fields == {"content": "the gate is 4711", "tags": ["door"]}
    assert bring(ns, path).replaced == []


@pytest.mark.parametrize(
    ("here", "there", "may_administer", "lands"),
    [
        ("manual", "correction", False, False),
        ("verified", "manual", False, False),
        ("extracted", "verified", False, False),
        ("manual", "correction", True, True),
        ("manual", "verified", False, True),
        ("manual", "manual", False, True),
    ],
)
def test_trust_rises_for_who_may_administer_alone(
    ns: Namespace, tmp_path: Path, here: str, there: str, *, may_administer: bool, lands: bool
) -> None:
    memory, other = ns.remember("one", trust=here), ns.remember("other")
    path = exported(ns, tmp_path / "out.jsonl")
    changed(path, memory.id, {"content": "two", "trust": there})
    changed(path, other.id, {"content": "another"})
    done = bring(ns, path, may_administer=may_administer)
    assert (ns.get(memory.id).content, ns.get(memory.id).trust) == (("two", there) if lands else ("one", here))
    assert ns.get(other.id).content == "another"
    assert done.bad == (not lands)
    if not lands:
        told = f"memory {memory.id}: it has other words here, and would rise from {here} to {there}"
        assert str(done.problems[0]).startswith(told)


def test_other_words_do_not_revive_what_was_softly_forgotten_or_ended(ns: Namespace, tmp_path: Path) -> None:
    hidden, ended = ns.remember("hidden thing"), ns.remember("ended thing")
    path = exported(ns, tmp_path / "out.jsonl")
    changed(path, hidden.id, {"content": "hidden thing again"})
    changed(path, ended.id, {"content": "ended thing again"})
    ns.forget(hidden.id)
    new = ns.remember("new thing", supersedes=ended.id)
    done = bring(ns, path)
    assert done.replaced == [ended.id]
    assert [one.content for one in ns.everything()] == ["new thing"]
    assert ns.get(hidden.id).content == "hidden thing"
    assert ns.get(ended.id).superseded_by == new.id


def test_an_erased_turn_without_a_key_stays_away(ns: Namespace, tmp_path: Path) -> None:
    session = ns.session("s")
    session.add("user", "My PIN is 4711")
    session.add("assistant", "Noted.")
    path = exported(ns, tmp_path / "out.jsonl")
    (passage,) = [one for one in ns.everything() if "4711" in one.content]
    ns.forget(passage.id, hard=True)
    done = bring(ns, path)
    assert (done.turns, done.memories, done.forgotten) == (0, 0, 2)
    assert [turn.message.text for turn in session.turns()] == ["Noted."]
    assert b"4711" not in b"".join(ns.take_out())


def test_a_passage_of_an_erased_turn_and_the_words_of_an_erased_statement_stay_away(
    ns: Namespace, sack: Haversack, tmp_path: Path
) -> None:
    turn = ns.session("s").add("user", "My PIN is 4711")
    fact = ns.remember("the door code is 99")
    path = exported(ns, tmp_path / "out.jsonl")
    words = path.read_text().replace(fact.id, "0" * 26).replace(ns.everything(kinds=["passage"])[0].id, "1" * 26)
    path.write_text(words)
    ns.forget([fact.id, ns.everything(kinds=["passage"])[0].id], hard=True)
    done = bring(ns, path)
    assert (done.memories, done.turns, done.forgotten) == (0, 0, 3)
    elsewhere = sack.namespace("bob")
    assert bring(elsewhere, path).memories == 2
    assert [one.id for one in elsewhere.session("s").turns()] == [turn.id]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_erased_memory_does_not_keep_the_others_of_its_file_away(ns: Namespace, tmp_path: Path, place: int) -> None:
    path = tmp_path / "mem0.json"
    told = [{"id": f"m-{n}", "memory": f"statement {n}", "user_id": "alice"} for n in range(3)]
    path.write_text(json.dumps(told[place : place + 1]))
    bring(ns, path)
    ns.forget(ns.everything()[0].id, hard=True)
    path.write_text(json.dumps(told))
    done = bring(ns, path)
    assert (done.memories, done.forgotten, done.known) == (2, 1, 0)
    assert {one.content for one in ns.everything()} == {f"statement {n}" for n in range(3) if n != place}


def test_a_grown_file_adds_its_new_messages_alone(ns: Namespace, tmp_path: Path) -> None:
    said = [
        {"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(("a", "ok", "a", "ok", "b"))
    ]
    path = tmp_path / "log.jsonl"
    counts: list[tuple[int, int]] = []
    for upto in (3, 5):
        path.write_text(json.dumps({"session_id": "s", "messages": said[:upto]}) + "\n")
        done = bring(ns, path)
        counts.append((done.turns, done.known))
    assert counts == [(3, 0), (2, 3)]
    assert [turn.message.text for turn in ns.session("s").turns()] == ["a", "ok", "a", "ok", "b"]


def test_reset_lets_an_export_be_brought_in_again(ns: Namespace, tmp_path: Path) -> None:
    ns.session("s").add("user", "My PIN is 4711")
    ns.remember("likes tea")
    path = exported(ns, tmp_path / "out.jsonl")
    lines = path.read_bytes()
    ns.forget(everything=True, hard=True)
    done = bring(ns, path)
    assert (done.turns, done.memories, done.records, done.forgotten) == (0, 0, 0, 3)
    ns.maintenance.reset(execute=True, confirm="alice", snapshot=False)
    assert (bring(ns, path).turns, b"".join(ns.take_out())) == (1, lines)
