"""Memories that were read lately, so that those that keep being found are not read again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import TypeAlias

from haversack.model.memory import Memory
from haversack.store.port import Store

__all__ = ["MemoriesOf", "Rows"]

MemoriesOf: TypeAlias = "Callable[[Sequence[int]], Sequence[Memory | None]]"
"""The memories of rows of an index; None for one that was erased meanwhile."""

_PER_MEMORY = 1_000
"""Bytes that a memory takes besides its content, near enough."""


class Rows:
    """A bounded cache of one namespace's memories; its owner drops what changed. Safe for threads.

    Two halves: what is asked for stays in the younger one, which grows old when it is full. What was read while
    something was dropped is not kept: it may be as it was before.
    """

    def __init__(self, store: Store, namespace: str, limit_bytes: int) -> None:
        self._store = store
        self._namespace = namespace
        self._half = limit_bytes // 2
        self._young: dict[str, Memory] = {}
        self._old: dict[str, Memory] = {}
        self._size = 0
        self._drops = 0
        self._lock = Lock()

    def get(self, ids: Sequence[str]) -> list[Memory | None]:
        """Each memory, None where it was erased."""
        with self._lock:
            found = [self._young.get(each) or self._again(each) for each in ids]
            drops = self._drops
        missing = [each for each, memory in zip(ids, found, strict=True) if memory is None]
        if not missing:
            return found
        read = {memory.id: memory for memory in self._store.memories(self._namespace, missing)}
        with self._lock:
            for memory in read.values() if drops == self._drops else ():
                self._keep(memory)
        return [memory or read.get(each) for each, memory in zip(ids, found, strict=True)]

    def drop(self, ids: Iterable[str]) -> None:
        """Forget what changed or is gone."""
        with self._lock:
            self._drops += 1
            for each in ids:
                self._young.pop(each, None)
                self._old.pop(each, None)

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._drops += 1
            self._young, self._old, self._size = {}, {}, 0

    @property
    def nbytes(self) -> int:
        """Bytes held at most, near enough."""
        return 2 * self._size if self._old else self._size

    def _again(self, memory_id: str) -> Memory | None:
        memory = self._old.pop(memory_id, None)
        if memory is not None:
            self._keep(memory)
        return memory

    def _keep(self, memory: Memory) -> None:
        if any(isinstance(value, list | dict) for value in memory.metadata.values()):
            return  # its caller could change them
        self._size += _PER_MEMORY + 2 * len(memory.content)
        self._young[memory.id] = memory
        if self._size > self._half:
            self._young, self._old, self._size = {}, self._young, 0
