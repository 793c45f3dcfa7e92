"""Snapshots, restores and moves of SQLite stores, down to the bytes."""

from __future__ import annotations

import hashlib
import io
import tracemalloc
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from haversack.errors import BusyError, NotAStoreError, NotFoundError, RefusedError, StoreError
from haversack.maintenance import archive, restore
from haversack.maintenance.archive import Schedule
from haversack.maintenance.move import copy_namespace, digest_of
from haversack.maintenance.snapshot import (
    Occasion,
    Snapshot,
    _pour,
    contents_of,
    listed,
    read_manifest,
    take,
    unpacked,
    verify,
)
from haversack.model.identity import make_id
from haversack.model.memory import Memory
from haversack.store.memory import MemoryStore
from haversack.store.port import SYSTEM, Applied, Batch, Erasure, Store, Vector, Written
from haversack.store.sqlite.site import SqliteSite
from haversack.store.sqlite.store import SqliteStore
from haversack.testing.store_contract import sample_memory, sample_turn

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
OCCASION = Occasion(id=make_id(NOW, b"0123456789"), at=NOW, program="0.1.0", reason="a test")


@pytest.fixture
def site(tmp_path: Path) -> SqliteSite:
    return SqliteSite(tmp_path / "memory.db")


@pytest.fixture
def store(site: SqliteSite) -> Iterator[SqliteStore]:
    opened = site.open(site.path)
    fill(opened)
    yield opened
    opened.close()


def fill(store: SqliteStore) -> None:
    """Two namespaces, with an erased turn in the middle of a session, an erased memory, a vector and records."""
    turns = tuple(sample_turn(number, key=f"k{number}") for number in range(5))
    store.apply("a", Batch(turns=turns, memories=(sample_memory(3), sample_memory(1), sample_memory(2))))
    store.apply("a", Batch(memories=(replace(sample_memory(3), importance=0.9),)))
    store.apply("a", Batch(vectors=(Vector(memory=sample_memory(1).id, model="m", data=b"\0\1"),)))
    store.apply("a", Batch(records=(Written(collection="view", key="s", value=b"\xff\0"),)))
    store.apply("a", Batch(erase=Erasure(memories=(sample_memory(2).id,), turns=(turns[0].id, turns[2].id))))
    store.apply("b", Batch(memories=(sample_memory(7, "swordfish"),)))
    store.apply(SYSTEM, Batch(records=(Written(collection="key", key="k", value=b"secret"),)))


def taken(store: SqliteStore, site: SqliteSite, *, only: str | None = None) -> Snapshot:
    return take(store, site, site.path.with_name("one.snapshot"), OCCASION, only=only)


def left_in(site: SqliteSite) -> set[str]:
    return {each.name for each in site.path.parent.iterdir()} - {"memory.db-wal", "memory.db-shm"}


def test_a_snapshot_says_what_it_holds_and_opens_with_any_unzip(store: SqliteStore, site: SqliteSite) -> None:
    snapshot = taken(store, site)
    manifest = verify(site, snapshot.path)
    assert manifest == snapshot.manifest == read_manifest(snapshot.path)
    assert (manifest.taken_at, manifest.program, manifest.schema, manifest.only) == (
        NOW,
        "0.1.0",
        site.newest_schema,
        None,
    )
    assert manifest.namespaces["a"].census == store.census("a")
    assert manifest.namespaces["b"].sequence == store.sequence("b")
    with zipfile.ZipFile(snapshot.path) as archive_file:
        assert archive_file.namelist() == ["manifest.json", "store"]
        assert archive_file.testzip() is None
    assert left_in(site) == {"memory.db", "one.snapshot"}


def test_restoring_beside_is_the_identity(store: SqliteStore, site: SqliteSite) -> None:
    snapshot = taken(store, site)
    target = site.path.with_name("other.db")
    planned = restore.plan(site, snapshot.path, target)
    assert not target.exists()
    done = restore.restore_beside(site, snapshot.path, target)
    assert (planned.preview, done.preview) == (True, False)
    assert replace(planned, preview=False) == done
    with closing(site.open(target)) as other:
        for space in ("a", "b", SYSTEM):
            assert digest_of(other, space) == digest_of(store, space)
            assert other.changes(space) == store.changes(space)
    with pytest.raises(RefusedError, match="target"):
        restore.restore_beside(site, snapshot.path, target)


def test_restoring_over_swaps_and_keeps_the_old_store_until_confirmed(store: SqliteStore, site: SqliteSite) -> None:
    snapshot = taken(store, site)
    store.apply("b", Batch(memories=(sample_memory(8, "later"),)))
    before = contents_of(site, site.path)
    with pytest.raises(BusyError, match="close it first"):
        restore.restore_over(site, snapshot.path, NOW)
    assert contents_of(site, site.path) == before
    assert "memory.db.previous" not in left_in(site)
    store.close()
    done = restore.restore_over(site, snapshot.path, NOW)
    assert done.replaced == before
    assert contents_of(site, site.path) == snapshot.manifest.namespaces
    assert contents_of(site, site.path.with_name("memory.db.previous")) == before
    with pytest.raises(RefusedError, match="confirm"):
        restore.restore_over(site, snapshot.path, NOW)
    aside = restore.roll_back(site, NOW)
    assert contents_of(site, site.path) == before
    assert contents_of(site, aside) == snapshot.manifest.namespaces
    aside.unlink()
    restore.restore_over(site, snapshot.path, NOW)
    restore.confirm(site)
    assert left_in(site) == {"memory.db", "one.snapshot"}
    with pytest.raises(NotFoundError):
        restore.confirm(site)


def test_restoring_over_a_store_that_is_damaged_or_gone(store: SqliteStore, site: SqliteSite) -> None:
    snapshot = taken(store, site)
    store.close()
    site.path.write_bytes(b"no database at all" * 100)
    assert restore.restore_over(site, snapshot.path, NOW).replaced == {}
    assert contents_of(site, site.path) == snapshot.manifest.namespaces
    restore.confirm(site)
    site.path.unlink()
    restore.restore_over(site, snapshot.path, NOW)
    assert contents_of(site, site.path) == snapshot.manifest.namespaces
    assert left_in(site) == {"memory.db", "one.snapshot"}


def test_every_changed_byte_is_noticed(store: SqliteStore, site: SqliteSite) -> None:
    path = taken(store, site).path
    whole = path.read_bytes()
    for place in {*range(0, len(whole), 211), len(whole) - 1}:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(NotAStoreError):
            verify(site, path)
    for end in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:end])
        with pytest.raises(NotAStoreError):
            restore.restore_beside(site, path, site.path.with_name("other.db"))
    path.write_bytes(whole[:9])
    assert listed(site.path.parent) == []
    assert left_in(site) == {"memory.db", "one.snapshot"}


def test_a_sealed_snapshot_of_another_store_is_noticed(store: SqliteStore, site: SqliteSite) -> None:
    path = taken(store, site).path
    with zipfile.ZipFile(path) as whole:
        manifest, inside = whole.read("manifest.json"), whole.read("store")
    with zipfile.ZipFile(path, "w") as forged:
        forged.writestr("manifest.json", manifest)
        forged.writestr("store", inside[:-1] + bytes([inside[-1] ^ 1]))
        forged.comment = bytes(64)
    body = path.read_bytes()[:-64]
    path.write_bytes(body + hashlib.sha256(body).hexdigest().encode())
    with pytest.raises(NotAStoreError, match="is not the one that its manifest describes"):
        verify(site, path)


def test_one_namespace_alone(store: SqliteStore, site: SqliteSite) -> None:
    snapshot = taken(store, site, only="a")
    assert (snapshot.manifest.only, list(snapshot.manifest.namespaces)) == ("a", ["a"])
    with zipfile.ZipFile(snapshot.path) as archive_file:
        inside = archive_file.read("store")
    assert b"swordfish" not in inside
    assert b"secret" not in inside
    with pytest.raises(RefusedError, match="exists there already"):
        restore.restore_namespace(site, snapshot.path, store, "a")
    wanted = digest_of(store, "a")
    store.apply("a", Batch(erase=Erasure(everything=True, graves=False)))
    moved = restore.restore_namespace(site, snapshot.path, store, "a")
    assert digest_of(store, "a") == wanted
    assert (moved.memories, moved.turns, moved.records, moved.tombstones) == (2, 3, 1, 5)
    assert [turn.position for turn in store.turns("a", "s")] == [1, 3, 4]
    assert store.apply("a", Batch(turns=(sample_turn(9, key="k2"),))).skipped == (sample_turn(9).id,)
    assert store.apply("a", Batch(turns=(sample_turn(2),))).skipped == (sample_turn(2).id,)
    with pytest.raises(NotFoundError, match="nobody"):
        restore.restore_namespace(site, snapshot.path, store, "nobody")


def test_an_interrupted_move_goes_on_where_it_stopped(
    store: SqliteStore, site: SqliteSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("haversack.maintenance.move._BATCH", 1)
    monkeypatch.setattr("haversack.maintenance.move._TURNS", 2)
    apply = SqliteStore.apply
    for allowed in range(12):
        with closing(site.open(site.path.with_name(f"{allowed}.db"))) as target:
            left = [allowed]

            def dying(self: SqliteStore, namespace: str, batch: Batch, left: list[int] = left) -> object:
                left[0] -= 1
                if left[0] < 0:
                    raise StoreError("pulled the plug")
                return apply(self, namespace, batch)

            with monkeypatch.context() as patch:
                patch.setattr(SqliteStore, "apply", dying)
                try:
                    copy_namespace(store, target, "a", origin="here")
                except StoreError as error:
                    assert "plug" in str(error)  # noqa: PT017 - how many steps there are is not the test's business
            if left[0] < 0:
                if allowed:
                    with pytest.raises(RefusedError, match="being filled from here"):
                        copy_namespace(store, target, "a", origin="elsewhere")
                copy_namespace(store, target, "a", origin="here")
            assert digest_of(target, "a") == digest_of(store, "a")


def test_a_store_that_cannot_tell_everything_is_refused(store: SqliteStore) -> None:
    mute = MemoryStore()
    mute.abilities = frozenset()
    with pytest.raises(RefusedError, match="capability"):
        copy_namespace(store, mute, "a", origin="here")
    with pytest.raises(RefusedError, match="capability"):
        take(MemoryStore(), SqliteSite(store.path), store.path.with_name("x.snapshot"), OCCASION)


def test_erasing_reaches_snapshots(store: SqliteStore, site: SqliteSite) -> None:
    at = NOW - timedelta(minutes=1)
    said = replace(sample_memory(1, "swordfish again"), id=make_id(at, b"0" * 10))
    late: Memory = replace(said, id=make_id(NOW + timedelta(minutes=1), b"0" * 10))
    store.apply("c", Batch(memories=(said,)))
    snapshot = taken(store, site)
    assert archive.holding(site, [snapshot], "c", [said.id]) == [snapshot]
    assert archive.holding(site, [snapshot], "c", [late.id]) == []
    assert archive.holding(site, [snapshot], "d", [said.id]) == []

    def erase(store: Store) -> Applied:
        return store.apply("c", Batch(erase=Erasure(memories=(said.id,))))

    done = archive.erase_from(site, snapshot, erase, NOW)
    assert done is not None
    assert (done.id, done.memories, done.turns) == (OCCASION.id, 1, 0)
    manifest = verify(site, snapshot.path)
    assert (done.before, done.after) == (snapshot.manifest.sha256, manifest.sha256)
    assert done.before != done.after
    assert (manifest.rewritten_at, manifest.taken_at, manifest.id) == (NOW, NOW, OCCASION.id)
    with zipfile.ZipFile(snapshot.path) as archive_file:
        assert b"swordfish again" not in archive_file.read("store")
    assert archive.erase_from(site, snapshot, erase, NOW) is None
    assert left_in(site) == {"memory.db", "one.snapshot"}


def test_what_is_retained() -> None:
    days = [NOW - timedelta(days=day, hours=hour) for day in range(40) for hour in (0, 6)]
    kept = archive.retained(days, Schedule(keep_last=3, keep_daily=4, keep_weekly=3))
    assert sorted(kept, reverse=True) == [
        NOW,  # Sunday 1 March, week 9
        NOW - timedelta(hours=6),
        NOW - timedelta(days=1),
        NOW - timedelta(days=2),
        NOW - timedelta(days=3),
        NOW - timedelta(days=7),  # Sunday, week 8
        NOW - timedelta(days=14),
    ]
    assert archive.retained([], Schedule()) == set()


def test_a_schedule_says_when_and_expires_its_own_only(store: SqliteStore, site: SqliteSite) -> None:
    schedule = Schedule(every_hours=1, keep_last=1, keep_daily=0, keep_weekly=0)
    archive.set_schedule(store, schedule)
    assert archive.schedule_of(store) == schedule
    assert archive.due(store, schedule, NOW)
    paths: list[Path] = []
    for hour, scheduled in enumerate((True, False, True)):
        at = NOW + timedelta(hours=hour)
        occasion = replace(OCCASION, id=make_id(at, b"0" * 10), at=at)
        snapshot = take(store, site, site.path.with_name(archive.name_for(site, at, occasion.id)), occasion)
        archive.note(store, snapshot, scheduled=scheduled)
        paths.append(snapshot.path)
    assert not archive.due(store, schedule, NOW + timedelta(hours=2, minutes=59))
    assert archive.due(store, schedule, NOW + timedelta(hours=3))
    assert archive.expire(store, schedule) == [paths[0]]
    assert [each.path for each in archive.known(store, site)] == paths[1:]
    assert archive.expire(store, schedule) == []


def test_a_snapshot_never_replaces_a_file(store: SqliteStore, site: SqliteSite) -> None:
    taken(store, site)
    with pytest.raises(RefusedError, match="never replaces"):
        taken(store, site)


def test_no_room_is_said_before_anything_is_written(
    store: SqliteStore, site: SqliteSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 1_000_000

    monkeypatch.setattr("haversack.maintenance.checks.shutil.disk_usage", lambda _folder: Usage)  # pyright: ignore[reportUnknownLambdaType]
    with pytest.raises(RefusedError, match="space"):
        taken(store, site)
    assert left_in(site) == {"memory.db"}


def _made(site: SqliteSite, manifest: bytes, store: bytes) -> Path:
    """A sealed snapshot of these parts."""
    path = site.path.with_name("made.snapshot")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive_file:
        archive_file.writestr("manifest.json", manifest)
        archive_file.writestr("store", store)
        archive_file.comment = bytes(64)
    content = path.read_bytes()[:-64]
    path.write_bytes(content + hashlib.sha256(content).hexdigest().encode())
    return path


def test_a_manifest_without_end_is_not_read(store: SqliteStore, site: SqliteSite) -> None:
    honest = msgspec.json.encode(taken(store, site).manifest)
    path = _made(site, honest + b" " * (100 << 20), b"")
    tracemalloc.start()
    with pytest.raises(NotAStoreError, match=r"its manifest has more than \d\d,\d{3},\d{3} bytes"):
        read_manifest(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 << 20
    assert listed(site.path.parent)[0].path.name == "one.snapshot"


def test_no_more_is_unpacked_than_the_manifest_says(store: SqliteStore, site: SqliteSite) -> None:
    manifest = replace(taken(store, site).manifest, bytes=1_000)
    path = _made(site, msgspec.json.encode(manifest), bytes(50 << 20))
    with pytest.raises(NotAStoreError, match="not the one that its manifest describes"):
        verify(site, path)
    with pytest.raises(NotAStoreError, match="not the one"), unpacked(site, path, site.path.parent):
        pass
    unending = io.BytesIO(bytes(10_000))
    assert _pour(unending, target := io.BytesIO(), 1_000)[0] == 1_001
    assert (unending.tell(), target.tell()) == (1_001, 1_001)
    assert left_in(site) == {"memory.db", "one.snapshot", "made.snapshot"}
