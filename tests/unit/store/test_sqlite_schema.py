"""A store whose schema is not the one that Haversack makes is refused wherever it is met, and can be mended."""

from __future__ import annotations

import hashlib
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

import haversack
from haversack.errors import NotAStoreError
from haversack.maintenance.restore import restore_beside, restore_namespace, restore_over, roll_back
from haversack.maintenance.snapshot import Occasion, take, verify
from haversack.store.port import Batch, Erasure
from haversack.store.sqlite import connection as connections
from haversack.store.sqlite import migrate as migrations
from haversack.store.sqlite import site as sites
from haversack.store.sqlite.cipher import Cipher
from haversack.store.sqlite.migrate import shipped
from haversack.store.sqlite.rekey import rekey
from haversack.store.sqlite.schema import foreign_in
from haversack.store.sqlite.site import SqliteSite
from haversack.store.sqlite.store import SqliteStore
from haversack.testing.store_contract import sample_memory

NOW = datetime(2026, 11, 29, tzinfo=UTC)
OCCASION = Occasion(id="01JDWN2F00000000000000000A", at=NOW, program="0.1.0")

SHADOW = (
    "CREATE TABLE shadow (content TEXT)",
    "CREATE TRIGGER keep AFTER DELETE ON memories BEGIN INSERT INTO shadow VALUES (old.content); END",
)
ADDED = {
    "trigger": (
        "CREATE TRIGGER swap AFTER INSERT ON memories BEGIN UPDATE memories SET content = 'x' WHERE id = new.id; END",
    ),
    "view": ("CREATE VIEW seen AS SELECT content FROM memories",),
    "index": ("CREATE INDEX by_words ON memories (content)",),
    "statistics": ("ANALYZE",),
}
CHANGED = {
    "table": SHADOW[:1],
    "shadow": SHADOW,
    "column": ("ALTER TABLE memories ADD COLUMN spare TEXT",),
    "default": ("DROP TABLE prices", "CREATE TABLE prices (namespace, memory, encoding, tokens DEFAULT (random()))"),
    "missing": ("DROP INDEX memories_by_fingerprint",),
    "replaced": ("DROP INDEX memories_by_fingerprint", "CREATE INDEX memories_by_fingerprint ON memories (content)"),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "store.db"
    with closing(SqliteStore(place)) as store:
        store.apply("n", Batch(memories=(sample_memory(1, "swordfish"), sample_memory(2))))
    return place


def alter(path: Path, statements: tuple[str, ...]) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def forged_snapshot(path: Path, statements: tuple[str, ...]) -> Path:
    """A snapshot as somebody else could make it: size, hash and seal are right for the altered store."""
    site, forged = SqliteSite(path), path.with_name("given.snapshot")
    with closing(SqliteStore(path)) as store:
        manifest = msgspec.json.decode(
            msgspec.json.encode(take(store, site, path.with_name("true"), OCCASION).manifest)
        )
    alter(path, statements)
    whole = path.read_bytes()
    manifest |= {"bytes": len(whole), "sha256": hashlib.sha256(whole).hexdigest()}
    with zipfile.ZipFile(forged, "w") as archive:
        archive.writestr("manifest.json", msgspec.json.encode(manifest))
        archive.writestr("store", whole)
        archive.comment = bytes(64)
    unsealed = forged.read_bytes()[:-64]
    forged.write_bytes(unsealed + hashlib.sha256(unsealed).hexdigest().encode())
    return forged


@pytest.mark.parametrize("what", [*ADDED, *CHANGED])
@pytest.mark.parametrize("read_only", [False, True])
def test_opening_refuses_and_names_the_object_and_the_command(path: Path, what: str, *, read_only: bool) -> None:
    statements = (ADDED | CHANGED)[what]
    alter(path, statements)
    with pytest.raises(NotAStoreError, match="schema that Haversack did not make") as refused:
        SqliteStore(path, read_only=read_only)
    assert ("--fix" if what in ADDED else "--salvage NEW") in str(refused.value)


def test_the_message_in_full(path: Path) -> None:
    alter(path, ADDED["trigger"])
    with pytest.raises(NotAStoreError) as refused:
        SqliteStore(path)
    assert str(refused.value) == (
        f"{path} has a schema that Haversack did not make: trigger swap was added. "
        f"`haversack doctor --fix --store {path}` removes it and keeps every memory"
    )


@pytest.mark.parametrize("what", list(ADDED))
def test_the_doctor_removes_what_holds_no_rows(path: Path, what: str) -> None:
    alter(path, ADDED[what])
    site = SqliteSite(path)
    (fault,) = site.examine()
    assert (fault.code, fault.severe, fault.mends) == ("schema", True, True)
    assert any(line.startswith("removed the ") for line in site.mend())
    assert site.examine() == []
    with closing(SqliteStore(path)) as store:
        assert len(store.changes("n").memories) == 2


@pytest.mark.parametrize("what", [*ADDED, *CHANGED])
def test_the_doctor_copies_every_memory_to_a_store_without_it(path: Path, tmp_path: Path, what: str) -> None:
    alter(path, (ADDED | CHANGED)[what])
    site = SqliteSite(path)
    (fault,) = (each for each in site.examine() if each.code == "schema")
    assert fault.mends == (what in ADDED)
    saved = site.salvage(tmp_path / "new.db")
    assert saved.lost_tables == ()
    with closing(SqliteStore(tmp_path / "new.db")) as store:
        assert [each.content for each in store.changes("n").memories] == ["swordfish", sample_memory(2).content]
        store.apply("n", Batch(erase=Erasure(memories=(sample_memory(1).id,))))
    assert b"swordfish" not in (tmp_path / "new.db").read_bytes()


def test_a_trigger_is_refused_before_a_migration_runs(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(SqliteStore(path, migrations=shipped()[:1])):
        pass
    alter(path, ADDED["view"])
    with pytest.raises(NotAStoreError, match="view seen was added"):
        SqliteStore(path)
    assert SqliteSite(path).schema(path) == 1


def test_an_older_store_that_is_migrated_has_the_schema_of_a_new_one(path: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    SqliteStore(old, migrations=shipped()[:1]).close()
    SqliteStore(old).close()
    for each in (old, path):
        with closing(sqlite3.connect(each)) as connection:
            assert foreign_in(connection, shipped()) == []


def test_blanks_case_and_quotes_mean_nothing_but_literals_do(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        for migration in shipped():
            for statement in migration.statements:
                spoken = statement.replace("namespace", '"namespace"').replace("    ", "\t").replace("TEXT", "text")
                connection.execute(spoken)
        assert foreign_in(connection, shipped()) == []
        connection.execute("CREATE INDEX a ON memories (id) WHERE kind = 'fact'")
        (found,) = foreign_in(connection, shipped())
        assert str(found) == "index a was added"


Restore = Callable[[SqliteSite, Path], object]


def beside(site: SqliteSite, snapshot: Path) -> object:
    return restore_beside(site, snapshot, site.path.with_name("beside.db"))


def over(site: SqliteSite, snapshot: Path) -> object:
    return restore_over(site, snapshot, NOW)


def one(site: SqliteSite, snapshot: Path) -> object:
    with closing(SqliteStore(site.path)) as store:
        return restore_namespace(site, snapshot, store, "n")


def look(site: SqliteSite, snapshot: Path) -> object:
    return verify(site, snapshot)


def test_the_forgery_is_right_but_for_what_was_added(path: Path) -> None:
    snapshot = forged_snapshot(path, ("DROP INDEX memories_by_fingerprint", shipped_index()))
    assert verify(SqliteSite(path), snapshot).id == OCCASION.id


def shipped_index() -> str:
    return next(each for each in shipped()[0].statements if " memories_by_fingerprint " in each)


@pytest.mark.parametrize("act", [beside, over, one, look])
def test_no_snapshot_with_a_trigger_is_restored_or_called_sound(path: Path, tmp_path: Path, act: Restore) -> None:
    snapshot = forged_snapshot(path, ADDED["trigger"])
    here = tmp_path / "here" / "store.db"
    here.parent.mkdir()
    SqliteStore(here).close()
    before = here.read_bytes()
    says = r"given\.snapshot is refused: unzipped, its store .* trigger swap was added"
    with pytest.raises(NotAStoreError, match=says):
        act(SqliteSite(here), snapshot)
    assert {each.name.removesuffix("-wal").removesuffix("-shm") for each in here.parent.iterdir()} == {"store.db"}
    assert here.read_bytes() == before


def test_rolling_back_to_a_store_that_was_altered_meanwhile_changes_nothing(path: Path, tmp_path: Path) -> None:
    with haversack.open(path, embedder="none") as sack:
        snapshot = sack.maintenance.snapshot().path
    site = SqliteSite(path)
    restore_over(site, snapshot, NOW)
    alter(tmp_path / "store.db.previous", ADDED["trigger"])
    before = path.read_bytes()
    with pytest.raises(NotAStoreError, match="trigger swap"):
        roll_back(site, NOW)
    assert path.read_bytes() == before
    assert (tmp_path / "store.db.previous").exists()


SETTINGS = {"synchronous": 2, "secure_delete": 1, "trusted_schema": 0, "cell_size_check": 1}
"""What each connection must say: FULL, ON, OFF, ON."""


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, int]]]:
    """The settings of every connection of the stores here, as they are when it is closed or the test ends."""
    opened: list[sqlite3.Connection] = []
    seen: list[dict[str, int]] = []
    connect = connections.connect

    def noting(*given: object, **options: object) -> sqlite3.Connection:
        connection = connect(*given, **options)  # pyright: ignore[reportArgumentType]
        opened.append(connection)
        seen.append({name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in SETTINGS})
        return connection

    for module in (connections, migrations, sites):
        monkeypatch.setattr(module, "connect", noting)
    yield seen
    assert opened


@pytest.mark.parametrize("key", [None, "secret"], ids=["plain", "encrypted"])
def test_every_connection_that_writes_is_durable_and_careful(
    tmp_path: Path, made: list[dict[str, int]], key: str | None
) -> None:
    path, cipher = tmp_path / "one.db", None if key is None else Cipher(key)
    SqliteStore(path, migrations=shipped()[:1], cipher=cipher).close()
    site = SqliteSite(path, cipher)
    with haversack.open(path, embedder="none", key=key) as sack:  # migrates
        sack.namespace("n").remember("The boat lies in Bergen.")
        snapshot = sack.maintenance.snapshot().path
    restore_over(site, snapshot, NOW)
    restore_beside(site, snapshot, tmp_path / "two.db")
    site.salvage(tmp_path / "three.db")
    site.mend()
    for each in ("one.db", "two.db", "three.db"):
        SqliteStore(tmp_path / each, cipher=cipher).close()
    other = Cipher("another")
    rekey(path, cipher, other)
    SqliteStore(path, cipher=other).close()
    assert len(made) > 10
    assert all(each == SETTINGS for each in made)


def test_no_other_place_makes_connections() -> None:
    """Only `connect`, what it asks of SQLCipher, the scratch database of the schema, and the change of key."""
    folder = Path(haversack.__file__).parent
    makers = ("sqlite3.connect(", "_driver.connect(", ".plainly", "cipher.connect(")
    found = {
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*.py")
        if any(maker in file.read_text(encoding="utf-8") for maker in makers)
    }
    places = ("connection", "cipher", "schema", "rekey")
    assert found == {f"store/sqlite/{name}.py" for name in places}
