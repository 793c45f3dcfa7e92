"""Writers of one process take turns: with a time-out, without holding up readers, and anew in a forked child."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from haversack.errors import BusyError
from haversack.store.port import Batch, Written
from haversack.store.sqlite.store import SqliteStore
from haversack.store.sqlite.turns import Turns


def held(turns: Turns) -> Callable[[], None]:
    """Somebody else takes the turn, until the answer is called."""
    taken, go = threading.Event(), threading.Event()

    def hold() -> None:
        with turns.mine():
            taken.set()
            go.wait(30)

    holding = threading.Thread(target=hold)
    holding.start()
    assert taken.wait(30)

    def let_go() -> None:
        go.set()
        holding.join(30)

    return let_go


def one(key: str) -> Batch:
    return Batch(records=(Written(collection="c", key=key, value=b"x", expected=0),))


def test_who_waits_too_long_is_told_so_and_the_next_one_is_not(tmp_path: Path):
    turns = Turns(tmp_path / "m.db", 0.01)
    let_go = held(turns)
    with pytest.raises(BusyError, match=r"m\.db is held by another writer; nothing was saved, try again"), turns.mine():
        pytest.fail("the turn was somebody else's")
    let_go()
    with turns.mine():
        pass


def test_a_turn_ends_with_an_error_too(tmp_path: Path):
    turns = Turns(tmp_path / "m.db", 0.01)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), turns.mine():
            raise ZeroDivisionError


def test_a_forked_child_waits_for_no_thread_of_its_parent(tmp_path: Path):
    turns = Turns(tmp_path / "m.db", 0.01)
    let_go = held(turns)
    child = os.fork()
    if child == 0:
        try:
            with turns.mine():
                os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    let_go()


def test_writes_wait_for_their_turn_and_reads_for_none(tmp_path: Path):
    store = SqliteStore(tmp_path / "m.db", busy_timeout=0.01)
    try:
        store.apply("a", one("first"))
        let_go = held(store._turns)
        with pytest.raises(BusyError):
            store.apply("a", one("second"))
        assert [record.key for record in store.records("a", "c")] == ["first"]
        let_go()
        store.apply("a", one("second"))
        assert [record.key for record in store.records("a", "c")] == ["first", "second"]
    finally:
        store.close()
