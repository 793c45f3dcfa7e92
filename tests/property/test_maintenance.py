"""Laws of maintenance, over namespaces of many shapes."""

from __future__ import annotations

import re
import tempfile
import zipfile
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from haversack.embed.static import StaticEmbedder
from haversack.engine.reorganizing import find_duplicates
from haversack.lifecycle.policy import Policy, softly_deleted
from haversack.maintenance import restore
from haversack.maintenance.ageing import age
from haversack.maintenance.move import copy_namespace, digest_of
from haversack.maintenance.recover import undo
from haversack.maintenance.reorganize import Means, reorganize
from haversack.maintenance.run import Desk
from haversack.maintenance.snapshot import Occasion, take
from haversack.model.identity import make_id
from haversack.model.memory import Kind, Memory, Stage, Trust
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch, Erasure, Written
from haversack.store.sqlite.site import SqliteSite
from haversack.testing.store_contract import sample_memory, sample_turn

from .places import Setup, in_files

START = datetime(2026, 1, 1, tzinfo=UTC)
_statements = st.sampled_from(
    [
        "the printers stand beside the door",
        "the printers stand beside that door",
        "the printers stand beside the window",
        "the printers do not stand beside the door",
        "the office in Berlin has two printers",
        "the office in Paris has two printers",
        "the  OFFICE in Paris has two printers",
    ]
)
_hours = st.integers(0, 90) | st.integers(0, 3_000)


@st.composite
def memories(draw: st.DrawFn) -> list[Memory]:
    rows: list[Memory] = []
    for number in range(draw(st.integers(1, 9))):
        born = START + timedelta(hours=draw(_hours))
        row = Memory(
            id=make_id(born, number.to_bytes(10, "big")),
            kind=draw(st.sampled_from([Kind.FACT, Kind.FACT, Kind.FACT, Kind.PASSAGE, Kind.SUMMARY])),
            content=draw(_statements),
            created_at=born,
            event_time=born,
            importance=draw(st.floats(0, 1)),
            trust=draw(st.sampled_from(list(Trust))),
            entities=tuple(draw(st.lists(st.sampled_from(["Ada", "Bo"]), max_size=2, unique=True))),
            pinned=draw(st.booleans()),
            expires_at=draw(st.none() | st.none() | _hours.map(lambda hours: START + timedelta(hours=hours))),
            access_count=draw(st.integers(0, 6)),
        )
        stage = draw(st.sampled_from([Stage.ACTIVE, Stage.ACTIVE, Stage.DECAYED, Stage.DELETED]))
        rows.append(softly_deleted(row, born) if stage is Stage.DELETED else replace(row, stage=stage))
    return rows


_policies = st.builds(
    Policy,
    max_memories=st.none() | st.integers(0, 4),
    ttl_days=st.sampled_from([{}, {Kind.FACT: 3.0}]),
    retention_days=st.sampled_from([0.0, 5.0, 30.0]),
    protected=st.sampled_from([frozenset[Kind](), frozenset({Kind.PASSAGE})]),
)


def desk_with(rows: list[Memory], now: datetime) -> Desk:
    store, ids = MemoryStore(), count(1)
    store.apply("n", Batch(memories=tuple(rows)))
    return Desk(store=store, namespace="n", clock=lambda: now, new_id=lambda: f"R{next(ids):025}")


def held(desk: Desk) -> dict[str, Memory]:
    return {memory.id: replace(memory, changed=0) for memory in desk.store.changes("n").memories}


def differing(before: dict[str, Memory], after: dict[str, Memory]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def _hide(memory: Memory, keep: str) -> Memory:
    return replace(memory, superseded_by=keep, valid_to=memory.event_time, duplicate_of=keep)


MEANS = Means(
    duplicates=lambda rows: find_duplicates(rows, Policy().dedup),
    hide=_hide,
    synthesize=lambda name, rows: f"{name}: {len(rows)} statements",
)


@given(rows=memories(), policy=_policies, hours=_hours)
def test_a_lifecycle_run_touches_what_its_preview_names_and_nothing_twice(
    rows: list[Memory], policy: Policy, hours: int
) -> None:
    desk = desk_with(rows, START + timedelta(hours=hours))
    before = held(desk)
    planned = age(desk, policy, execute=False)
    assert held(desk) == before
    done = age(desk, policy, execute=True)
    assert sorted(each.memory for each in done.transitions) == sorted(each.memory for each in planned.transitions)
    assert (done.counts, done.turns) == (planned.counts, planned.turns)
    assert differing(before, held(desk)) == {each.memory for each in planned.transitions}
    settled = held(desk)
    assert age(desk, policy, execute=True).transitions == ()
    assert held(desk) == settled


@example(
    rows=[sample_memory(number, "the printers stand beside the door") for number in range(3)],
    policy=Policy(max_memories=2),
    hours=0,
)
@given(rows=memories(), policy=_policies, hours=_hours)
def test_reorganising_touches_what_its_preview_names_and_nothing_twice(
    rows: list[Memory], policy: Policy, hours: int
) -> None:
    desk = desk_with(rows, START + timedelta(hours=hours))
    before = held(desk)
    planned = reorganize(desk, policy, MEANS, execute=False)
    assert held(desk) == before
    done = reorganize(desk, policy, MEANS, execute=True)
    assert done.decision == planned.decision
    assert differing(before, held(desk)) == set(planned.decision.touched)
    settled = held(desk)
    assert reorganize(desk, policy, MEANS, execute=True).decision.touched == ()
    assert held(desk) == settled


@settings(max_examples=200)
@given(rows=memories(), policy=_policies, hours=_hours, tidy=st.booleans())
def test_undoing_a_run_gives_back_what_was_there(rows: list[Memory], policy: Policy, hours: int, tidy: bool) -> None:  # noqa: FBT001
    desk = desk_with(rows, START + timedelta(hours=hours))
    before = held(desk)
    done = reorganize(desk, policy, MEANS, execute=True) if tidy else age(desk, policy, execute=True)
    assert done.run is not None
    undone = undo(desk, done.run)
    after = held(desk)
    kept = {name: row for name, row in before.items() if name not in undone.erased}
    assert {name: row for name, row in after.items() if name in before} == kept
    assert all(after[name].stage is Stage.DELETED for name in after.keys() - before.keys())


@st.composite
def histories(draw: st.DrawFn) -> list[Batch]:
    """Batches that leave holes, tombstones and records behind."""
    batches: list[Batch] = []
    for number in range(draw(st.integers(1, 6))):
        batches.append(
            Batch(
                memories=tuple(sample_memory(each, draw(st.text(max_size=5))) for each in draw(_numbers)),
                turns=tuple(sample_turn(10 * number + each, draw(st.sampled_from("st"))) for each in draw(_numbers)),
                records=tuple(Written(collection="c", key=str(each), value=b"\xff") for each in draw(_numbers)),
            )
        )
        gone = tuple(sample_turn(each).id for each in draw(_numbers))
        batches.append(Batch(erase=Erasure(turns=gone, memories=draw(_never_again(number)))))
    return batches


_numbers = st.lists(st.integers(0, 9), max_size=4, unique=True)


def _never_again(number: int) -> st.SearchStrategy[tuple[str, ...]]:
    """An erased id cannot come back, so each round erases only an id that later rounds do not write."""
    made = sample_memory(100 + number).id
    return st.sampled_from([(), (made,)])


@settings(max_examples=20)
@given(history=histories())
def test_snapshot_restore_and_move_are_the_identity(history: list[Batch]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        site = SqliteSite(Path(folder) / "a.db")
        with closing(site.open(site.path)) as store:
            for batch in history:
                store.apply("n", batch)
            occasion = Occasion(id=make_id(START, b"0" * 10), at=START, program="test")
            snapshot = take(store, site, Path(folder) / "a.snapshot", occasion)
            restore.restore_beside(site, snapshot.path, Path(folder) / "b.db")
            wanted = digest_of(store, "n")
            with closing(site.open(Path(folder) / "b.db")) as restored:
                assert digest_of(restored, "n") == wanted
                assert restored.changes("n") == store.changes("n")
            if store.namespaces():
                with closing(site.open(Path(folder) / "c.db")) as target:
                    copy_namespace(store, target, "n", origin="a")
                    assert digest_of(target, "n") == wanted


@st.composite
def secrets(draw: st.DrawFn) -> str:
    """Words that stand nowhere by accident, in several scripts, with signs that JSON and SQL write otherwise."""
    core = draw(st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789", min_size=10, max_size=14))
    around = draw(st.text(alphabet='ñ東é"\\\n\t \U0001f600ω', max_size=6))
    return f"{around}zq{core}{around}"


def _on_disk(folder: Path) -> dict[str, bytes]:
    """Every file, and what is inside snapshots."""
    found: dict[str, bytes] = {}
    for file in folder.rglob("*"):
        if file.is_file():
            found[file.name] = file.read_bytes()
            if file.suffix == ".snapshot":
                with zipfile.ZipFile(file) as inside:
                    found |= {f"{file.name}/{name}": inside.read(name) for name in inside.namelist()}
    return found


def _traces(secret: str, files: dict[str, bytes]) -> list[str]:
    core = max(re.findall("[a-z0-9]+", secret), key=len).encode()
    return [name for name, data in files.items() if core in data]


@in_files
@settings(max_examples=12)
@given(words=st.lists(secrets(), min_size=2, max_size=4, unique=True), kept=secrets(), turn=secrets())
def test_no_byte_of_what_was_forgotten_for_good_stands_anywhere(
    setup: Setup, words: list[str], kept: str, turn: str
) -> None:
    if any(max(re.findall("[a-z0-9]+", one), key=len) in kept for one in [*words, turn]):
        return
    with setup.place() as place:
        with place.open(embedder=StaticEmbedder()) as sack:
            ns = sack.namespace("n")
            memory = ns.remember(words[0], importance=0.9, tags=["t"])
            ns.remember(kept, kind="decision")
            said = ns.session("s").add("user", turn)
            for later in words[1:]:
                ns.edit(memory.id, content=later)
                ns.vote(memory.id, "up")
            ns.recall(words[-1][:8] or "x")
            ns.context("anything", budget=300)
            ns.maintenance.reorganize(execute=True)
            ns.maintenance.lifecycle(execute=True)
            sack.maintenance.snapshot()
            (passage,) = [hit.id for hit in ns.recall("anything", top_k=50, kinds=["passage"])][:1] or [None]
            gone = [ns.forget(memory.id, hard=True)]
            if passage is not None:
                gone.append(ns.forget(passage, hard=True))
            else:
                gone.append(ns.forget(session="s", hard=True))
            assert said.id in gone[-1].turns
            for one in gone:
                sack.maintenance.forget_in_snapshots(one)
            files = _on_disk(place.path.parent)
            for secret in [*words, turn]:
                assert _traces(secret, files) == []
            assert _traces(kept, files) != []
        files = _on_disk(place.path.parent)
        assert [_traces(secret, files) for secret in [*words, turn]] == [[]] * (len(words) + 1)
