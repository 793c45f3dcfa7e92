"""Encrypted stores, with the real SQLCipher: nothing readable in any file, clear errors, keys that change."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import haversack
from haversack.config import EncryptionSettings
from haversack.errors import BusyError, ConfigError, MissingExtraError, NoSpaceError, NotAStoreError, StoreError
from haversack.maintenance import restore
from haversack.store.port import Batch
from haversack.store.sqlite import cipher as cipher_module
from haversack.store.sqlite import rekey as rekeying
from haversack.store.sqlite.cipher import Cipher
from haversack.store.sqlite.migrate import shipped
from haversack.store.sqlite.site import SqliteSite
from haversack.store.sqlite.store import SqliteStore
from haversack.testing.store_contract import sample_memory
from haversack.wiring import rekey

KEY = "correct horse battery staple"
SECRETS = ("zqswordfish", "zqnamespace", "zqsession", "zqtag", "zqfield", "zqspeaker", "zqedited")


@pytest.fixture(autouse=True)
def quickly(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer rounds than SQLCipher's, where it is not SQLCipher that derives the key as well."""
    if "any_sqlcipher" not in request.node.name:
        monkeypatch.setattr(cipher_module, "_ROUNDS", 1_000)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


@pytest.fixture
def cipher() -> Cipher:
    return Cipher(KEY)


def fill(path: Path, key: str | None = KEY) -> None:
    with haversack.open(path, key=key, embedder="default") as sack:
        ns = sack.namespace("zqnamespace")
        made = ns.remember("the zqswordfish is blue", tags=["zqtag"], metadata={"zqfield": 1})
        ns.edit(made.id, content="the zqedited swordfish is green")
        ns.session("zqsession").add("user", "I saw the zqswordfish", name="zqspeaker")
        ns.recall("zqswordfish")
        sack.maintenance.snapshot()
        ns.maintenance.reorganize(execute=True)


def words(path: Path, key: str | None) -> set[str]:
    with haversack.open(path, key=key, embedder="none") as sack:
        return {hit.memory.content for hit in sack.namespace("zqnamespace").recall("swordfish zqswordfish")}


WORDS = {"the zqedited swordfish is green", "I saw the zqswordfish"}


def readable(folder: Path) -> set[str]:
    """Which secrets stand in some file, or inside a snapshot."""
    data: list[bytes] = []
    for file in folder.rglob("*"):
        if file.is_file():
            data.append(file.read_bytes())
            if file.suffix == ".snapshot":
                with zipfile.ZipFile(file) as inside:
                    data += [inside.read(name) for name in inside.namelist()]
    return {secret for secret in (*SECRETS, KEY) if any(secret.encode() in each for each in data)}


def test_no_byte_of_what_is_kept_can_be_read_in_any_file(path: Path, tmp_path: Path) -> None:
    open_store = haversack.open(path, key=KEY)
    fill(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["m.db", "m.db-shm", "m.db-wal", "m.db.snapshots"]
    assert readable(tmp_path) == set()
    open_store.close()
    assert readable(tmp_path) == set()
    assert words(path, KEY) == WORDS


def test_the_scan_finds_what_is_not_encrypted(path: Path, tmp_path: Path) -> None:
    fill(path, None)
    assert readable(tmp_path) == set(SECRETS)


def test_any_sqlcipher_opens_it_by_the_same_passphrase(path: Path) -> None:
    fill(path)
    driver: Any = import_module("sqlcipher3.dbapi2")
    connection = driver.connect(str(path))
    connection.execute(f"PRAGMA key = '{KEY}'")
    assert connection.execute("SELECT count(*) FROM memories").fetchone() == (2,)
    connection.close()


@pytest.mark.parametrize(
    ("made_with", "opened_with", "message"),
    [
        (KEY, None, "encrypted and no key was given"),
        (KEY, "another", "the key does not open"),
        (None, KEY, "is not encrypted, but a key was given"),
    ],
)
def test_what_does_not_fit_is_refused_by_name_and_not_touched(
    path: Path, made_with: str | None, opened_with: str | None, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    fill(path, made_with)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(NotAStoreError, match=message) as caught:
        haversack.open(path, key=opened_with)
    (fault,) = SqliteSite(path, None if opened_with is None else Cipher(opened_with)).examine()
    assert (fault.code, fault.severe, message in fault.what) == ("not-a-store", True, True)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    told = f"{caught.value}{fault}{''.join(capfd.readouterr())}"
    assert all(key not in told for key in (KEY, "another"))


def test_a_key_does_not_show_itself(cipher: Cipher) -> None:
    assert KEY not in f"{cipher!r}{cipher}{EncryptionSettings(key_file='k')!r}"


def test_a_key_comes_from_a_function_a_file_or_a_variable(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(path)
    (tmp_path / "key").write_text(f"{KEY}\n")
    monkeypatch.setenv("THE_KEY", KEY)
    with haversack.open(path, key=lambda: KEY) as sack:
        assert sack.namespaces() == ["zqnamespace"]
    for where in ({"key_file": str(tmp_path / "key")}, {"key_env": "THE_KEY"}):
        with haversack.open(path, config={"encryption": where}) as sack:
            assert sack.namespaces() == ["zqnamespace"]
    monkeypatch.setenv("HAVERSACK_ENCRYPTION__KEY_FILE", str(tmp_path / "key"))
    haversack.open(path).close()


def test_a_key_that_cannot_be_had_is_named(path: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    for name, message in (("empty", "empty is empty"), ("none", "none cannot be read")):
        with pytest.raises(ConfigError, match=message):
            haversack.open(path, config={"encryption": {"key_file": str(tmp_path / name)}})
    with pytest.raises(ConfigError, match="NO_SUCH is not set"):
        haversack.open(path, config={"encryption": {"key_env": "NO_SUCH"}})
    with pytest.raises(ConfigError, match="not both"):
        EncryptionSettings(key_env="A", key_file="b")
    with pytest.raises(ConfigError, match="empty"):
        haversack.open(path, key="")
    assert not path.exists()


def test_without_the_package_the_extra_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "haversack.store.sqlite.cipher")
    monkeypatch.setitem(sys.modules, "sqlcipher3", None)
    monkeypatch.setitem(sys.modules, "sqlcipher3.dbapi2", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'haversack\[encrypt\]'"):
        haversack.open(path, key=KEY)


def test_a_key_is_given_changed_and_taken_away(path: Path, tmp_path: Path) -> None:
    fill(path, None)
    for folder in tmp_path.glob("*.snapshots/*"):
        folder.unlink()
    for old, new in ((None, KEY), (KEY, "another"), ("another", None), (None, KEY)):
        rows = rekey(path, key=old, new_key=new)
        assert rows["memories"] == 2
        assert words(path, new) == WORDS
        assert sorted(each.name for each in tmp_path.iterdir()) == ["m.db", "m.db.snapshots"]
        with pytest.raises(NotAStoreError):
            haversack.open(path, key=old)
    assert readable(tmp_path) == set()
    with haversack.open(path, key=KEY, embedder="none") as sack:
        assert sack.maintenance.health().faults == ()


def test_a_snapshot_keeps_its_key_and_is_no_sign_of_lost_writes(path: Path, tmp_path: Path) -> None:
    fill(path)
    rekey(path, key=KEY, new_key="another")
    with haversack.open(path, key="another", embedder="none") as sack:
        assert sack.maintenance.health().faults == ()
        snapshot = sack.maintenance.snapshots()[0].path
    with pytest.raises(NotAStoreError, match="the key does not open"):
        restore.restore_beside(SqliteSite(path, Cipher("another")), snapshot, tmp_path / "back.db")
    restore.restore_beside(SqliteSite(path, Cipher(KEY)), snapshot, tmp_path / "back.db")
    assert words(tmp_path / "back.db", KEY) == WORDS


def test_a_change_of_key_waits_for_nobody_and_leaves_the_old_store_when_it_fails(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(path)
    with haversack.open(path, key=KEY), pytest.raises(BusyError, match="close it first"):
        rekey(path, key=KEY, new_key="another")
    counts = rekeying._counts

    def wrong(connection: sqlite3.Connection, schema: str) -> dict[str, int]:
        found = counts(connection, schema)
        return found if schema == "main" else {**found, "memories": 1}

    with monkeypatch.context() as patched:
        patched.setattr(rekeying, "_counts", wrong)
        with pytest.raises(StoreError, match="nothing was changed"):
            rekey(path, key=KEY, new_key="another")
    assert words(path, KEY) == WORDS
    assert not list(tmp_path.glob("*partial*"))


def test_one_namespace_is_forgotten_in_an_encrypted_snapshot_and_restored_from_it(path: Path) -> None:
    fill(path)
    with haversack.open(path, key=KEY, embedder="none") as sack:
        ns = sack.namespace("zqnamespace")
        (fact,) = ns.recall("swordfish", kinds=["fact"])
        done = sack.maintenance.forget_in_snapshots(ns.forget(fact.id, hard=True))
        assert done.rewritten is not None
        assert [each.memories for each in done.rewritten] == [1, 1]
        alone = sack.maintenance.snapshot(path.with_name("alone.snapshot"), namespace="zqnamespace")
        assert alone.manifest.only == next(iter(alone.manifest.namespaces))
        assert alone.manifest.only != "zqnamespace"
        sack.maintenance.reset(["zqnamespace"], execute=True, confirm="zqnamespace", snapshot=False)
        moved = sack.maintenance.restore_namespace(alone.path, "zqnamespace")
        assert (moved.memories, moved.turns) == (1, 1)


def test_snapshots_under_other_keys_are_named_as_still_holding_what_was_forgotten(path: Path) -> None:
    fill(path, None)
    rekey(path, new_key=KEY)
    with haversack.open(path, key=KEY, embedder="none") as sack:
        own = sack.maintenance.snapshot()
        ns = sack.namespace("zqnamespace")
        (fact,) = ns.recall("swordfish", kinds=["fact"])
        gone = ns.forget(fact.id, hard=True)
        assert len(sack.maintenance.still_holding(gone)) == 3
        done = sack.maintenance.forget_in_snapshots(gone)
        assert [each.path for each in done.rewritten or ()] == [own.path]
        assert own.path not in [each.path for each in sack.maintenance.still_holding(done)]
        assert len(sack.maintenance.still_holding(done)) == 2


def test_a_migration_keeps_its_copy_encrypted(path: Path, tmp_path: Path, cipher: Cipher) -> None:
    store = SqliteStore(path, migrations=shipped()[:1], cipher=cipher)
    with store._connections.lease() as connection:
        connection.execute("INSERT INTO sequences VALUES ('zqnamespace', 1, 0, 0, 0)")
    store.close()
    assert SqliteSite(path, cipher).schema(path) == 1
    newer = SqliteStore(path, cipher=cipher)
    newer.apply("zqnamespace", Batch(memories=(sample_memory(1, "zqswordfish"),)))
    newer.close()
    assert (tmp_path / "m.db.before-v2").exists()
    assert readable(tmp_path) == set()


def test_its_errors_are_the_stores_own(path: Path, cipher: Cipher) -> None:
    store = SqliteStore(path, cipher=cipher, busy_timeout=0.05)
    with store._connections.lease() as connection:
        connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0] + 2}")
    too_much = Batch(memories=tuple(sample_memory(number, "x" * 4_000) for number in range(9)))
    with pytest.raises(NoSpaceError):
        store.apply("n", too_much)
    other = SqliteStore(path, cipher=cipher)
    with other._connections.lease() as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyError):
            store.apply("n", Batch(memories=(sample_memory(99),)))
        connection.execute("ROLLBACK")
    store.close()
    other.close()
    with pytest.raises(StoreError, match="closed"):
        store.sequence("n")
