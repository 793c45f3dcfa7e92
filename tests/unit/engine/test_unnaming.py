"""Names of forgotten sessions, looked for in the bytes of every file of the store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import haversack
from haversack.engine.auditing import Deed
from haversack.llm.cost import Call, Purpose
from haversack.maintenance.restore import restore_beside, restore_over, roll_back
from haversack.model.identity import make_id
from haversack.model.memory import Source
from haversack.store.port import SYSTEM, Batch, Written

if TYPE_CHECKING:
    from haversack.engine.haversack import Haversack

NAME = 'Zo\u00eb Quill\'s "appointments"'
OTHER = "harbour talk"
AT = datetime(2026, 11, 1, tzinfo=UTC)


def remains(folder: Path, words: str = "Quill") -> list[str]:
    return [each.name for each in folder.rglob("*") if each.is_file() and words.encode() in each.read_bytes()]


def talk(sack: Haversack, name: str) -> None:
    """A session that is mentioned wherever one can be: turns, a view, what was read, costs, audit, a failed import."""
    ns = sack.namespace("n")
    session = ns.session(name)
    for number in range(30):
        session.add("user", f"The crane number {number} lifts {number} tons at the harbour of Oslo.")
        session.add("assistant", f"Crane {number} is noted, with its {number} tons.")
    session.extract()
    assert session.compact().turns_summarized > 0
    call = Call(
        at=AT,
        purpose=Purpose.EXTRACTION,
        model="m",
        namespace="n",
        session=name,
        input_tokens=3,
        output_tokens=4,
        dollars=0.5,
    )
    key = make_id(AT, len(name).to_bytes(10, "big"))
    cost = Written(collection="cost", key=key, value=call.encode(), session=name)
    sack._core.store.apply("n", Batch(records=(cost,)))
    sack.audit.note(Deed(who="key", did="read turns", namespace="n", session=name, count=60))
    work = sack.jobs.start("import", "n", lambda _: {"problems": [f"conversation {name}: no text"]}, asked_by="key")
    sack.jobs.wait(work.id)


@pytest.fixture
def sack(tmp_path: Path) -> Haversack:
    return haversack.open(str(tmp_path / "store.db"), embedder="none")


def test_the_name_of_a_forgotten_session_is_in_no_file(sack: Haversack, tmp_path: Path) -> None:
    talk(sack, NAME)
    talk(sack, OTHER)
    ns = sack.namespace("n")
    assert remains(tmp_path)
    planned = ns.forget(session=NAME, hard=True, preview=True)
    assert planned.sessions == (NAME,)
    done = ns.forget(session=NAME, hard=True)
    assert replace(done, preview=True, at=None, certificate="") == planned
    assert remains(tmp_path) == []
    assert remains(tmp_path, OTHER) != []
    assert [info.id for info in ns.sessions()] == [OTHER]
    assert sorted((call.session or "")[:10] for call in ns.costs()) == ["forgotten:", OTHER[:10]]
    assert sum(call.input_tokens for call in ns.costs()) == 6
    deeds = [(deed.did, (deed.session or "")[:10], deed.count) for deed in sack.audit.read(namespace="n")]
    assert deeds == [("read turns", "forgotten:", 60), ("read turns", OTHER[:10], 60)]
    assert [len(job.result["problems"]) for job in sack.jobs.all()] == [0, 1]
    sack.close()
    assert remains(tmp_path) == []


def test_a_session_that_is_emptied_turn_by_turn_loses_its_name_at_the_last(sack: Haversack, tmp_path: Path) -> None:
    ns = sack.namespace("n")
    session = ns.session(NAME)
    session.add("user", "the first turn")
    session.add("user", "the second turn")
    first, second = sorted(hit.id for hit in ns.recall("turn"))
    note = ns.remember("told in that session", source=Source(session=NAME))
    assert ns.forget(first, hard=True).sessions == ()
    assert ns.forget(second, hard=True).sessions == ()
    assert ns.forget(note.id, hard=True).sessions == (NAME,)
    assert remains(tmp_path) == []
    assert session.add("user", "anew").position == 0
    assert session.unread() == 1
    sack.close()


def test_an_opened_session_goes_with_its_memories(sack: Haversack, tmp_path: Path) -> None:
    visit = sack.visits.start("n", {"patient": "Quill"})
    sack.namespace("n").remember("told", source=Source(session=visit.id))
    other = sack.visits.start("n", {"patient": "Adler"})
    assert sack.namespace("n").forget(session=visit.id, hard=True).sessions == (visit.id,)
    assert remains(tmp_path) == []
    assert remains(tmp_path, visit.id) == []
    assert sack.visits.of("n") == [other]
    assert [record.key for record in sack._core.store.records(SYSTEM, "visit")] == [other.id]
    sack.close()


@pytest.mark.parametrize("verb", ["forget", "reset"])
def test_a_whole_namespace_leaves_no_session_names(sack: Haversack, tmp_path: Path, verb: str) -> None:
    talk(sack, NAME)
    if verb == "forget":
        sack.namespace("n").forget(everything=True, hard=True)
    else:
        sack.maintenance.reset(["n"], execute=True, confirm="n", snapshot=False)
    assert remains(tmp_path) == []
    sack.close()


def test_a_rewritten_snapshot_forgets_the_name_too(sack: Haversack, tmp_path: Path) -> None:
    talk(sack, NAME)
    sack.namespace("n").remember("stays")
    kept = sack.maintenance.snapshot(tmp_path / "kept.haversack")
    done = sack.namespace("n").forget(session=NAME, hard=True)
    done = sack.maintenance.forget_in_snapshots(done)
    assert [each.id for each in done.rewritten or ()] == [kept.manifest.id]
    assert sack._core.files is not None
    site = sack._core.files.site
    sack.close()
    restore_beside(site, kept.path, tmp_path / "later.db")
    assert remains(tmp_path) == []
    assert sorted(remains(tmp_path, "stays")) == ["later.db", "store.db"]


def test_the_store_that_a_restore_put_aside_forgets_as_well(sack: Haversack, tmp_path: Path) -> None:
    ns = sack.namespace("n")
    ns.session(NAME).add("user", "my code is swordfish")
    kept = sack.maintenance.snapshot(tmp_path / "kept.haversack")
    turn = ns.session(NAME).turns()[0].id
    ns.remember("The code is a swordfish, as told", source=Source(session=NAME, turns=(turn,)))
    assert sack._core.files is not None
    site = sack._core.files.site
    sack.close()
    restore_over(site, kept.path, datetime.now(UTC))
    assert sorted(remains(tmp_path, "swordfish")) == ["store.db", "store.db.previous"]
    with haversack.open(str(site.path), embedder="none") as again:
        passage = again.namespace("n").recall("code")[0]
        assert again.namespace("n").forget(passage.id, hard=True).derived == ()
    assert remains(tmp_path, "swordfish") == remains(tmp_path) == []


def test_the_store_that_a_roll_back_put_aside_forgets_as_well(sack: Haversack, tmp_path: Path) -> None:
    sack.namespace("n").session(NAME).add("user", "my code is swordfish")
    kept = sack.maintenance.snapshot(tmp_path / "kept.haversack")
    assert sack._core.files is not None
    site = sack._core.files.site
    sack.close()
    restore_over(site, kept.path, datetime.now(UTC))
    roll_back(site, datetime.now(UTC))
    assert sorted(remains(tmp_path, "swordfish")) == ["store.db", "store.db.restored"]
    with haversack.open(str(site.path), embedder="none") as again:
        passage = again.namespace("n").recall("code")[0]
        again.namespace("n").forget(passage.id, hard=True)
    assert remains(tmp_path, "swordfish") == remains(tmp_path) == []
