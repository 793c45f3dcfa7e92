"""Every door says when erased bytes wait for a reader to end, and the server goes on by itself."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from haversack.cli import main
from haversack.engine.haversack import Haversack
from haversack.mcp.tools import TOOLS, ToolOptions
from haversack.server import app as application
from haversack.store.port import BYTES_WAIT
from haversack.store.sqlite.store import SqliteStore

WORD = "swordfish-4711"
Http = Callable[..., Any]
Erase = Callable[[Http, str], dict[str, Any]]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits two seconds for the reader below."""
    once = SqliteStore.__init__

    def made(store: SqliteStore, *given: Any, **options: Any) -> None:
        once(store, *given, **options)
        store.patience = 0.01

    monkeypatch.setattr(SqliteStore, "__init__", made)


@pytest.fixture
def reader(sack: Haversack, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Somebody who reads the store as it was before the erasure, from another connection."""
    sack.namespace("alice").remember(f"The word is {WORD}.")
    with closing(sqlite3.connect(tmp_path / "memory.db", isolation_level=None, check_same_thread=False)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM memories").fetchone()
        yield connection


def left(tmp_path: Path) -> bool:
    return any(WORD.encode() in each.read_bytes() for each in tmp_path.glob("memory.db*"))


def delete(http: Http, memory: str) -> dict[str, Any]:
    return http("DELETE", f"/v1/namespaces/alice/memories/{memory}?hard=true").json()


def post(http: Http, memory: str) -> dict[str, Any]:
    body = {"ids": [memory], "hard": True, "preview": False}
    return http("POST", "/v1/namespaces/alice/forget", json=body).json()


def reset(http: Http, memory: str) -> dict[str, Any]:
    del memory
    body = {"execute": True, "confirm": "alice", "snapshot": False}
    return http("POST", "/v1/namespaces/alice/reset", json=body).json()


def dakera(http: Http, memory: str) -> dict[str, Any]:
    body = {"agent_id": "alice", "memory_ids": [memory], "hard": True}
    return http("POST", "/v1/memory/forget", json=body).json()


@pytest.mark.parametrize("erase", [delete, post, reset, dakera])
def test_the_answer_over_http_says_whether_the_bytes_are_gone(
    http: Http, sack: Haversack, reader: sqlite3.Connection, tmp_path: Path, erase: Erase
) -> None:
    first, second = (sack.namespace("alice").remember(f"{WORD} {number}") for number in range(2))
    assert erase(http, first.id)["scrubbed"] is False
    assert left(tmp_path)
    reader.execute("COMMIT")
    if erase is reset:
        second = sack.namespace("alice").remember(WORD)
    assert erase(http, second.id)["scrubbed"] is True


def test_mcp_says_so_in_words_and_in_facts(sack: Haversack, reader: sqlite3.Connection) -> None:
    ns = sack.namespace("alice")
    (memory,) = ns.recall("word")
    (tool,) = (each for each in TOOLS if each.name == "forget")
    answer = tool.run(ns, tool.takes(ids=[memory.id], hard=True, execute=True), ToolOptions())
    assert BYTES_WAIT in answer.text
    assert answer.facts["scrubbed"] is False
    reader.execute("COMMIT")


@pytest.mark.parametrize("as_json", [False, True])
def test_the_command_says_so(
    sack: Haversack,
    reader: sqlite3.Connection,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    *,
    as_json: bool,
) -> None:
    (memory,) = sack.namespace("alice").recall("word")
    store = ["--store", str(tmp_path / "memory.db"), "-n", "alice", *(["--json"] if as_json else [])]
    with pytest.raises(SystemExit):
        main(["forget", memory.id, "--hard", "--execute", "--yes", *store])
    printed = capsys.readouterr().out
    assert msgspec.json.decode(printed)["scrubbed"] is False if as_json else BYTES_WAIT in printed
    reader.execute("COMMIT")


@contextmanager
def running(sack: Haversack) -> Generator[None]:
    """The server's work in the background, without its sockets."""
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def live() -> None:
        made = application.create_app(sack)
        async with made.router.lifespan_context(made):
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(live()))
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def test_the_server_removes_them_when_the_reader_has_ended_though_nobody_writes(
    sack: Haversack, reader: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application, "_SCRUB_EVERY", 0.01)
    monkeypatch.setattr(application, "_SCRUB_AT_LEAST_EVERY", 0.05)
    with running(sack):
        assert not sack.namespace("alice").forget(everything=True, hard=True).scrubbed
        assert left(tmp_path)
        reader.execute("COMMIT")
        deadline, pause = time.monotonic() + 60, threading.Event()
        while left(tmp_path):
            assert time.monotonic() < deadline
            pause.wait(0.02)


def test_a_reader_that_stays_costs_one_rebuilding_and_not_one_at_each_write(
    sack: Haversack, reader: sqlite3.Connection, tmp_path: Path
) -> None:
    ns = sack.namespace("alice")
    assert not ns.forget(everything=True, hard=True).scrubbed
    rebuilt = (tmp_path / "memory.db-wal").stat().st_size
    for number in range(5):
        ns.remember(f"Note {number}")
        assert not sack.maintenance.scrub()
    with closing(sqlite3.connect(tmp_path / "memory.db")) as other:
        pages = other.execute("PRAGMA page_count").fetchone()[0] * 4096
    assert (tmp_path / "memory.db-wal").stat().st_size - rebuilt < 5 * pages
    reader.execute("COMMIT")
    ns.remember("The last one")
    assert sack.maintenance.scrub()
    assert not left(tmp_path)
