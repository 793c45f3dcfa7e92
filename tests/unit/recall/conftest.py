"""Memories and turns made in a line, and a recall over the dictionary store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from haversack.embed.embedder import Vectors
from haversack.model.identity import make_id
from haversack.model.memory import Kind, Memory, Source
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch

START = datetime(2024, 5, 1, 12, tzinfo=UTC)
NOW = datetime(2024, 6, 1, tzinfo=UTC)

Make = Callable[..., Memory]


@pytest.fixture
def make() -> Make:
    """make(content, session=None, **fields): a memory, each an hour younger than the one before."""
    made = 0

    def memory(content: str, *, session: str | None = None, **fields: object) -> Memory:
        nonlocal made
        made += 1
        at = START + timedelta(hours=made)
        values: dict[str, object] = {
            "id": make_id(at, made.to_bytes(10, "big")),
            "kind": Kind.PASSAGE,
            "content": content,
            "created_at": at,
            "event_time": at,
            "source": Source(session=session),
        }
        return Memory(**(values | fields))  # type: ignore[arg-type]

    return memory


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def put(store: MemoryStore, make: Make) -> Callable[..., list[Memory]]:
    """put(contents, namespace="n", **fields): stores one memory for each and returns them."""

    def write(contents: Sequence[str], *, namespace: str = "n", **fields: object) -> list[Memory]:
        memories = [make(content, **fields) for content in contents]
        store.apply(namespace, Batch(memories=tuple(memories)))
        return memories

    return write


class TableEmbedder:
    """Looks each text up in a table; counts its calls."""

    def __init__(self, table: dict[str, Sequence[float]], model: str = "table") -> None:
        self.table = table
        self.model = model
        self.dimension = len(next(iter(table.values())))
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        return np.array([self.table[text] for text in texts], np.float32).reshape(len(texts), self.dimension)

    def embed_query(self, text: str) -> Vectors:
        return self.embed([text])[0]


@pytest.fixture
def embedder_of() -> type[TableEmbedder]:
    return TableEmbedder
