"""A backup that is restored is the namespace that was backed up, from any store into any."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from haversack.errors import ConflictError, InputError, NotFoundError, RefusedError
from haversack.maintenance.backup import back_up, restore_backup
from haversack.maintenance.move import digest_of
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch, Store
from haversack.store.sqlite.store import SqliteStore
from haversack.testing.store_contract import sample_memory, sample_turn
from haversack.testing.store_machine import batches


@contextmanager
def in_memory() -> Generator[MemoryStore]:
    yield MemoryStore()


@contextmanager
def in_a_file() -> Generator[SqliteStore]:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "store.db")
        yield store
        store.close()


Opened: TypeAlias = "Callable[[], AbstractContextManager[MemoryStore | SqliteStore]]"


@pytest.mark.parametrize(("source", "target"), list(itertools.product((in_memory, in_a_file), repeat=2)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(written=st.lists(batches, min_size=1, max_size=6))
def test_restoring_a_backup_is_the_identity(source: Opened, target: Opened, written: list[Batch]) -> None:
    with source() as here, target() as there:
        for batch in written:
            try:
                here.apply("n", batch)
            except ConflictError:
                continue
        if "n" not in here.namespaces():
            with pytest.raises(NotFoundError):
                list(back_up(here, "n"))
            return
        lines = list(back_up(here, "n"))
        moved = restore_backup(there, lines)
        assert (moved.namespace, moved.sha256) == ("n", digest_of(here, "n")[0])
        assert digest_of(there, "n") == digest_of(here, "n")
        assert there.census("n") == here.census("n")
        assert there.graves("n") == here.graves("n")
        for model in here.embedders("n"):
            ids = [memory.id for memory in here.changes("n").memories]
            assert there.vectors("n", model, ids) == here.vectors("n", model, ids)
        if there.namespaces():
            with pytest.raises(RefusedError):
                restore_backup(there, lines)
        assert restore_backup(there, lines, namespace="other").namespace == "other"


def filled(store: Store) -> Store:
    store.apply("n", Batch(memories=tuple(sample_memory(number) for number in range(5))))
    store.apply("n", Batch(turns=tuple(sample_turn(number) for number in range(5))))
    return store


@pytest.mark.parametrize("opened", [in_memory, in_a_file])
def test_a_backup_shows_one_moment(opened: Opened) -> None:
    with opened() as store:
        expected = digest_of(filled(store), "n")
        lines = back_up(store, "n")
        first = next(lines)
        store.apply("n", Batch(memories=(sample_memory(1, "changed meanwhile"), sample_memory(9))))
        store.apply("n", Batch(turns=(sample_turn(9),)))
        there = MemoryStore()
        restore_backup(there, [first, *lines])
        assert digest_of(there, "n") == expected


@pytest.mark.parametrize("opened", [in_memory, in_a_file])
def test_a_damaged_backup_leaves_nothing(opened: Opened) -> None:
    with opened() as store:
        lines = list(back_up(filled(MemoryStore()), "n"))
        damaged = {
            "no backup": [b'{"type": "header", "format": "haversack", "version": 1}\n', *lines[1:]],
            "version 3": [lines[0].replace(b'"version":2', b'"version":3'), *lines[1:]],
            "cut short": lines[:-1],
            "damaged": [*lines[:2], *lines[3:]],
            "not JSON": [*lines[:3], b"{", *lines[3:]],
            "none of a backup's": [*lines[:3], b'{"type": "sequence"}\n', *lines[3:]],
            "is not behind": [*lines[:-1], *[line for line in lines if b'"type":"turn"' in line], lines[-1]],
            "lease": [*lines[:-1], b'{"type":"record","collection":"lease","key":"k","base64":""}\n', lines[-1]],
        }
        for says, given_lines in damaged.items():
            with pytest.raises(InputError, match=says):
                restore_backup(store, given_lines)
            assert store.namespaces() == []
        assert restore_backup(store, lines).memories == 5
