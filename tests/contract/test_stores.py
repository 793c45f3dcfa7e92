"""The shipped store contract, run on the back-ends that this package has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from haversack.store.memory import MemoryStore
from haversack.store.port import Store
from haversack.store.sqlite.cipher import Cipher
from haversack.store.sqlite.store import SqliteStore
from haversack.testing.store_contract import StoreContract


class TestMemoryStore(StoreContract):
    def open_store(self) -> Store:
        return MemoryStore()


class TestSqliteStore(StoreContract):
    path: Path
    opened: list[SqliteStore]

    @pytest.fixture(autouse=True)
    def place(self, tmp_path: Path) -> Iterator[None]:
        self.path = tmp_path / "a store?#.db"
        self.opened = []
        yield
        for store in self.opened:
            store.close()

    def open_store(self) -> Store:
        self.opened.append(SqliteStore(self.path))
        return self.opened[-1]


class TestEncryptedStore(TestSqliteStore):
    cipher = Cipher("a key")

    def open_store(self) -> Store:
        self.opened.append(SqliteStore(self.path, cipher=self.cipher))
        return self.opened[-1]
