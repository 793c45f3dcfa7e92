"""Keeping healthy, as a person at a terminal does."""

from __future__ import annotations

import hashlib
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def stored(run: Run) -> str:
    return run("remember", "Alice prefers metric units", "--json").data[0]["id"]


def test_snapshot_previews_takes_lists_verifies_and_restores(run: Run, stored: str) -> None:
    assert "would copy 1 namespaces" in run("snapshot").out
    assert not Path("haversack.db.snapshots").exists()
    taken = run("snapshot", "--execute", "--json").data
    assert [each["path"] for each in run("snapshot", "--list", "--json").data] == [taken["path"]]
    assert "is whole" in run("snapshot", "--verify", taken["path"]).out
    run("remember", "said later")
    assert run("restore", taken["path"]).err == "a preview: add --execute to do it\n"
    assert run("restore", taken["path"], "--execute").code == 0
    assert run("recall", "said later", "--json").data == []
    assert run("restore", "--roll-back").code == 0
    assert [hit["memory"]["content"] for hit in run("recall", "said later", "--json").data] == ["said later"]
    assert run("restore", taken["path"], "--to", "other.db", "--execute").code == 0
    assert run("restore", taken["path"], "--to", "other.db", "--execute").code == 4
    assert run("doctor").code == 0


def test_one_namespace_goes_and_comes_back(run: Run, stored: str) -> None:
    run("remember", "bob's own", "--namespace", "bob")
    taken = run("snapshot", "--only", "bob", "--to", "bob.snapshot", "--execute", "--json").data
    assert list(taken["manifest"]["namespaces"]) == ["bob"]
    assert "would erase for good: 1 memories" in run("reset", "--namespace", "bob").out
    refused = run("reset", "--namespace", "bob", "--execute", "--confirm", "alice")
    assert (refused.code, "confirmation" in refused.err) == (4, True)
    assert run("reset", "--namespace", "bob", "--execute", "--confirm", "bob", "--no-snapshot").code == 0
    assert "would restore 1 memories" in run("restore", "bob.snapshot", "--only", "bob").out
    assert run("restore", "bob.snapshot", "--only", "bob", "--execute").code == 0
    assert [hit["memory"]["content"] for hit in run("recall", "own", "-n", "bob", "--json").data] == ["bob's own"]
    assert run("restore", "bob.snapshot", "--only", "eve", "--execute").code == 3


def test_lifecycle_and_reorganize_preview_journal_and_undo(run: Run, stored: str, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("ttl_days: {fact: 0.0000001}\n")
    assert "ttl_days: fact 1e-07" in run("lifecycle", "--policy", "policy.yaml").out
    planned = run("lifecycle", "--json").data
    assert [(each["memory"], each["action"]) for each in planned["transitions"]] == [(stored, "delete")]
    done = run("lifecycle", "--execute", "--json").data
    assert done["transitions"][0]["memory"] == stored
    assert run("recall", "units", "--json").data == []
    assert "1 memories are as they were before" in run("lifecycle", "--undo", done["run"]).out
    assert [hit["memory"]["id"] for hit in run("recall", "units", "--json").data] == [stored]
    (tmp_path / "policy.yaml").write_text("ttl_day: {}\n")
    assert "did you mean 'ttl_days'" in run("lifecycle", "--policy", "policy.yaml").err
    (tmp_path / "policy.yaml").write_text("{}\n")
    run("lifecycle", "--policy", "policy.yaml")
    assert "would hide 0 duplicates" in run("reorganize").out
    did = run("reorganize", "--execute", "--json").data
    assert did["verified"]
    assert Path(did["backup"]).exists()
    assert [each["state"] for each in run("lifecycle", "--runs", "--json").data] == ["undone", "done", "done"]
    assert "memories: 1" in run("lifecycle", "--stats").out
    assert "already" in run("reorganize", "--recover", did["run"]).out


def test_migrate_says_the_schema_and_copies_a_store(run: Run, stored: str) -> None:
    assert run("migrate", "--json").data == {"schema": 6, "newest": 6, "migrated": False}
    assert "would copy 1 memories" in run("migrate", "--to", "new.db").out
    assert not Path("new.db").exists()
    assert run("migrate", "--to", "new.db", "--execute").code == 0
    assert [hit["memory"]["id"] for hit in run("recall", "units", "--store", "new.db", "--json").data] == [stored]
    again = run("migrate", "--to", "new.db", "--execute")
    assert (again.code, "target" in again.err) == (4, True)


def test_a_hard_forget_names_the_snapshots_and_rewrites_them_on_request(run: Run, stored: str) -> None:
    other = run("remember", "the swordfish is in the fridge", "--json").data[0]["id"]
    taken = run("snapshot", "--execute", "--json").data["path"]
    told = run("forget", other, "--hard", "--execute", "--yes")
    assert "may hold it" in told.err
    with zipfile.ZipFile(taken) as inside:
        assert b"swordfish" in inside.read("store")
    told = run("forget", stored, "--hard", "--execute", "--yes", "--snapshots")
    assert "rewritten without 1 memories" in told.err
    assert "may hold it" not in told.err
    assert run("snapshot", "--verify", taken).code == 0
    with zipfile.ZipFile(taken) as inside:
        assert b"metric" not in inside.read("store")
    refused = run("forget", other, "--snapshots", "--execute")
    assert (refused.code, "--hard" in refused.err) == (2, True)


def test_the_certificate_covers_the_snapshots_that_were_rewritten(run: Run, stored: str) -> None:
    taken = run("snapshot", "--execute", "--json").data["path"]
    done = run("forget", stored, "--hard", "--execute", "--yes", "--snapshots", "--json").data
    (file,) = done["rewritten"]
    manifest = run("snapshot", "--verify", taken, "--json").data
    assert (file["path"], file["memories"], file["after"]) == (taken, 1, manifest["sha256"])
    at = datetime.fromisoformat(done["at"]).isoformat()
    words = [done["namespace"], at, *done["memories"], *done["derived"], *done["turns"]]
    words += [manifest["id"], file["before"], file["after"]]
    assert done["certificate"] == hashlib.sha256("\n".join(words).encode()).hexdigest()


def test_doctor_tells_mends_and_salvages(run: Run, stored: str, tmp_path: Path) -> None:
    assert run("doctor", "--json").data["sound"]
    (tmp_path / "haversack.db.4194304.partial").write_bytes(b"half")
    with closing(sqlite3.connect("haversack.db")) as connection:
        connection.execute("INSERT INTO prices VALUES ('default', 'nobody', 'e', 1)")
        connection.commit()
    told = run("doctor", "--json").data
    assert ({fault["code"] for fault in told["faults"]}, told["sound"]) == ({"partial", "orphans"}, True)
    assert len(run("doctor", "--fix", "--json").data["mended"]) == 2
    assert run("doctor", "--json").data["faults"] == []
    with closing(sqlite3.connect("haversack.db")) as connection:
        connection.execute("UPDATE memories SET content = 'Alice prefers metric unitz'")
        connection.commit()
    told = run("doctor")
    assert (told.code, "FAULT (altered)" in told.out) == (1, True)
    assert "copied" in run("doctor", "--salvage", "rescued.db").out
    assert run("doctor", "--salvage", "rescued.db").code == 4
    Path("haversack.db").write_bytes(b"junk" * 999)
    for told in (run("doctor"), run("doctor", "--fix")):
        assert (told.code, "not-a-store" in told.out, "restore the last snapshot" in told.out) == (1, True, True)


def test_doctor_notices_that_writes_are_missing(run: Run, stored: str) -> None:
    old = Path("haversack.db").read_bytes()
    run("remember", "said later")
    run("snapshot", "--execute")
    Path("haversack.db").write_bytes(old)
    told = run("doctor")
    assert (told.code, "FAULT (behind)" in told.out) == (1, True)


def test_a_schedule(run: Run, stored: str) -> None:
    assert "every 12 hours; keeps the last 2, 3 daily" in run("snapshot", "--every", "12", "--keep", "2", "3", "0").out
    assert "verified" in run("snapshot", "--scheduled").out
    assert "none is due" in run("snapshot", "--scheduled").out


def test_a_memory_is_shared_only_after_somebody_accepts_it(run: Run, stored: str) -> None:
    (proposal,) = run("share", stored, "--to", "team", "--by", "alice", "--json").data
    assert run("recall", "units", "-n", "team", "--json").data == []
    assert "open" in run("share", "-n", "team").out
    assert run("share", "--accept", proposal["asked"]["proposal"], "--by", "bob").code == 3  # not its namespace
    assert run("share", "--accept", proposal["asked"]["proposal"], "-n", "team").code == 2  # who?
    accepted = run("share", "--accept", proposal["asked"]["proposal"], "--by", "bob", "-n", "team")
    assert ("accepted" in accepted.out, "bob" in accepted.out) == (True, True)
    (hit,) = run("recall", "units", "-n", "team", "--json").data
    shared = hit["memory"]["metadata"]
    assert (shared["shared.author"], shared["shared.accepted_by"], shared["shared.memory"]) == ("alice", "bob", stored)
    assert run("share", "--reject", proposal["asked"]["proposal"], "--by", "eve", "-n", "team").code != 0
    for wrong in ((stored,), ("--to", "team"), (stored, "--to", "team", "--accept", "x")):
        assert run("share", *wrong, "--by", "alice").code == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (": : [", "cannot be read as YAML"),
        ("\udcff", "cannot be read as YAML"),
        ("ttl_days: {fcat: 1}", "did you mean 'fact'"),
        ("eviction: [weekest]", "did you mean 'weakest'"),
        ("ttl_day: {fact: 1}", "did you mean 'ttl_days'"),
        ("", "must hold settings of a policy"),
    ],
)
def test_a_policy_that_cannot_be_one_is_refused_by_name(run: Run, stored: str, text: str, told: str) -> None:
    Path("policy.yaml").write_bytes(text.encode("utf-8", "surrogateescape"))
    refused = run("lifecycle", "--policy", "policy.yaml")
    assert (refused.code, told in refused.err) == (2, True), (stored, refused.err)


def test_maintenance_of_what_is_not_there_makes_nothing(run: Run, stored: str) -> None:
    assert run("lifecycle", "-n", "nobody", "--execute", "--json").data["looked_at"] == 0
    assert run("reorganize", "-n", "nobody", "--execute").code == 0
    assert [each["namespace"] for each in run("doctor", "--json").data["health"]["namespaces"]] == ["default"], stored
    refused = run("snapshot", "--only", "nobody", "--execute")
    assert (refused.code, "no namespace 'nobody'" in refused.err) == (3, True)


def test_a_store_is_encrypted_and_its_key_changed(run: Run, stored: str) -> None:
    Path("one.key").write_text("one\n")
    Path("two.key").write_text("two\n")
    Path("one.yaml").write_text("encryption: {key_file: one.key}")
    Path("two.yaml").write_text("encryption: {key_file: two.key}")
    assert run("rekey", "--decrypt", "--execute").code == 2  # it is plain
    assert "would write" in run("rekey", "--new-key-file", "one.key").out
    assert run("rekey", "--new-key-file", "one.key", "--execute", "--json").data["rows"]["memories"] == 1
    refused = run("recall", "units")
    assert (refused.code, "encrypted" in refused.err) == (4, True)
    told = run("doctor", "--config", "two.yaml")
    assert (told.code, "the key does not open" in told.out) == (1, True)
    done = run("rekey", "--config", "one.yaml", "--new-key-file", "two.key", "--execute")
    assert (done.code, "two\n" in done.out) == (0, False)
    assert run("recall", "units", "--config", "two.yaml", "--json").data[0]["memory"]["id"] == stored
    assert run("rekey", "--config", "two.yaml", "--decrypt", "--execute").code == 0
    assert run("recall", "units", "--json").data[0]["memory"]["id"] == stored
    for wrong in ((), ("--decrypt", "--new-key-file", "one.key"), ("--new-key-file", "none.key")):
        assert run("rekey", *wrong).code == 2


def test_previews_change_no_byte_of_the_store(run: Run, stored: str) -> None:
    taken = run("snapshot", "--execute", "--json").data["path"]
    before = hashlib.sha256(Path("haversack.db").read_bytes()).hexdigest()
    for command in (
        ("lifecycle",),
        ("lifecycle", "--stats"),
        ("reorganize",),
        ("snapshot",),
        ("restore", taken),
        ("reset",),
        ("migrate",),
        ("migrate", "--to", "other.db"),
        ("rekey", "--decrypt"),
        ("forget", stored),
        ("forget", "--all", "--hard"),
        ("doctor",),
        ("share",),
    ):
        assert run(*command).code == 0, command
        assert hashlib.sha256(Path("haversack.db").read_bytes()).hexdigest() == before, command
    assert not Path("other.db").exists()
