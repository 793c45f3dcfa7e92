"""The indexes of the open namespaces: built on demand, kept fresh and bounded, saved for the next cold start."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock, RLock
from typing import TYPE_CHECKING

from haversack.embed.codec import Quantised, decode_vector
from haversack.embed.embedder import Embedder, WordVectors, has_signs
from haversack.errors import ConflictError, StoreError
from haversack.recall import keeping
from haversack.recall.index import Index
from haversack.recall.rows import Rows
from haversack.recall.segments import dump
from haversack.store.port import Store

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["Shelf", "Slot"]

_PAGE = 10_000
_FEW = 256
_WORTH_SAVING = 250
"""Rows read since the last save that make another one worth its writing, if they are a quarter of the index as well."""


_ROWS = 32_000_000
"""Bytes of memories that are kept beside one namespace's index."""


@dataclass(slots=True)
class Slot:
    """One namespace's index, the memories read lately, and the lock that guards both."""

    namespace: str
    index: Index
    rows: Rows
    lock: RLock = field(default_factory=RLock)
    read: bool = False
    """Whether segments were looked for."""
    unsaved: int = 0
    """Rows taken in since the index was saved or loaded."""
    size: int = 0
    """Bytes of the index after its last change."""
    held: int = 0
    """Bytes that the shelf counts for the slot."""
    saving: Future[None] | None = None


class Shelf:
    """Safe for threads. Saving runs on one thread of its own; `close` waits for it."""

    def __init__(self, store: Store, embedder: Embedder | None, words: WordVectors | None, limit_bytes: int) -> None:
        self._store = store
        self._embedder = embedder
        self._words = words
        self._limit = limit_bytes
        self._slots: OrderedDict[str, Slot] = OrderedDict()
        self._size = 0
        self._lock = Lock()
        self._saver: ThreadPoolExecutor | None = None
        self._saves = "durable" in store.abilities

    @contextmanager
    def fresh(self, namespace: str) -> Generator[Slot]:
        """The namespace's index and memories, locked, with every change that the store has acknowledged."""
        slot = self._slot(namespace)
        with slot.lock:
            if self._store.sequence(namespace) != slot.index.upto:
                self._catch_up(namespace, slot)
                slot.size = slot.index.nbytes
            if self._embedder is not None and slot.index.unembedded:
                self._take_landed(namespace, slot.index)
            yield slot
        self._evict(namespace)

    def lacks(self, namespace: str) -> bool:
        """Whether a memory of the namespace's index had no vector when it was last read; nothing is read for it."""
        slot = self._slots.get(namespace)
        return self._embedder is not None and slot is not None and slot.index.unembedded > 0

    def vectors(self, namespace: str, ids: Sequence[str]) -> dict[str, Quantised]:
        """Stored vectors as the index takes them; foreign bytes are left out."""
        if self._embedder is None or not ids:
            return {}
        stored = self._store.vectors(namespace, self._embedder.model, ids)
        dimension, sign_bytes = self._dimension, self._sign_bytes
        decoded = {memory_id: decode_vector(data, dimension, sign_bytes) for memory_id, data in stored.items()}
        return {memory_id: vector for memory_id, vector in decoded.items() if vector is not None}

    def save(self, namespace: str) -> None:
        """Keep the namespace's index as segments, now."""
        with self.fresh(namespace) as slot:
            pass
        self._save(namespace, slot)

    def forget(self, namespace: str) -> None:
        """Drop the namespace's index; it is built again when it is asked for."""
        with self._lock:
            self._remove(namespace)

    def close(self) -> None:
        """Wait for what is being saved, and drop every index."""
        with self._lock:
            saver, self._saver = self._saver, None
            self._saves = False
        if saver is not None:
            saver.shutdown(wait=True)
        with self._lock:
            self._slots.clear()
            self._size = 0

    @property
    def _dimension(self) -> int:
        return 0 if self._embedder is None else self._embedder.dimension

    @property
    def _sign_bytes(self) -> int:
        return self._embedder.sign_bytes if has_signs(self._embedder) else 0

    @property
    def _model(self) -> str:
        return "words" if self._embedder is None else self._embedder.model

    def _slot(self, namespace: str) -> Slot:
        with self._lock:
            slot = self._slots.get(namespace)
            if slot is None:
                slot = self._slots[namespace] = Slot(namespace, self._new_index(), Rows(self._store, namespace, _ROWS))
            self._slots.move_to_end(namespace)
            return slot

    def _new_index(self) -> Index:
        return Index(self._dimension, self._words, self._sign_bytes)

    def _catch_up(self, namespace: str, slot: Slot) -> None:
        if not slot.read:
            slot.read = True
            kept = keeping.restore(
                self._store, namespace, self._model, self._dimension, self._words, sign_bytes=self._sign_bytes
            )
            slot.index = kept or slot.index
        if slot.index.gone > max(1000, slot.index.present):
            slot.index = self._new_index()
        slot.index, taken = self._read_on(namespace, slot.index, slot.rows)
        slot.unsaved += taken
        if self._saves and slot.unsaved >= max(_WORTH_SAVING, slot.index.columns.rows // 4):
            self._save_later(namespace, slot)

    def _read_on(self, namespace: str, index: Index, rows: Rows) -> tuple[Index, int]:
        """The index with every change, and how many rows that took; another index when the old one is void."""
        taken, known, more = 0, index.upto, True
        while more:
            changes = self._store.changes(namespace, since=index.upto, limit=_PAGE, known=known)
            if changes.reset:
                index = self._new_index()
                rows.clear()
            index.drop(changes.erased)
            rows.drop(changes.erased)
            rows.drop(memory.id for memory in changes.memories)
            rows.drop(each.memory for each in changes.restaged)
            index.put(changes.memories, self.vectors(namespace, [memory.id for memory in changes.memories]))
            index.restage(changes.restaged)
            index.upto, more = changes.upto, changes.more
            taken += len(changes.memories)
        return index, taken

    def _take_landed(self, namespace: str, index: Index) -> None:
        """Vectors that another process stored for memories that are here; they land oldest first."""
        if landed := self.vectors(namespace, index.without_vector(_FEW)):
            index.embed(landed)
            index.embed(self.vectors(namespace, index.without_vector(_PAGE)))

    def _save_later(self, namespace: str, slot: Slot) -> None:
        if slot.saving is not None and not slot.saving.done():
            return
        with self._lock:
            if self._saver is None:
                self._saver = ThreadPoolExecutor(1, "haversack-segments")
            slot.saving = self._saver.submit(self._save, namespace, slot)

    def _save(self, namespace: str, slot: Slot) -> None:
        with suppress(StoreError, ConflictError):  # a segment is a convenience: without it nothing is lost
            if slot.index.gone:
                whole, _ = self._read_on(namespace, self._new_index(), Rows(self._store, namespace, 0))
                with slot.lock:
                    slot.index, _ = self._read_on(namespace, whole, slot.rows)
                    slot.rows.clear()
            with slot.lock:
                if slot.index.gone:
                    return
                parts, upto = dump(slot.index), slot.index.upto
                slot.unsaved = 0
            keeping.save(self._store, namespace, self._model, parts, upto)

    def _evict(self, keep: str) -> None:
        with self._lock:
            slot = self._slots.get(keep)
            if slot is not None:
                before, slot.held = slot.held, slot.size + slot.rows.nbytes
                self._size += slot.held - before
            while self._size > self._limit and len(self._slots) > 1:
                oldest = next(iter(self._slots))
                if oldest == keep:
                    self._slots.move_to_end(keep)
                    continue
                self._remove(oldest)

    def _remove(self, namespace: str) -> None:
        slot = self._slots.pop(namespace, None)
        if slot is not None:
            self._size -= slot.held
