"""The indexes of the open namespaces: built on demand, kept fresh and bounded, saved for the next cold start."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock

from haversack.embed.codec import Quantised, decode_vector
from haversack.embed.embedder import Embedder, WordVectors, has_signs
from haversack.errors import ConflictError, StoreError
from haversack.recall import keeping
from haversack.recall.index import Index
from haversack.recall.rows import Rows
from haversack.recall.segments import dump
from haversack.recall.view import IndexView
from haversack.store.port import Changes, Store

__all__ = ["Shelf", "Slot"]

_PAGE = 10_000
_FEW = 256
_WORTH_SAVING = 250
"""Rows read since the last save that make another one worth its writing, if they are a quarter of the index as well."""


_ROWS = 32_000_000
"""Bytes of memories that are kept beside one namespace's index."""


@dataclass(slots=True)
class Slot:
    """One namespace's index and the memories read lately."""

    namespace: str
    index: Index
    rows: Rows
    turn: Lock = field(default_factory=Lock)
    """Whoever changes the index has it; whoever reads a view needs none."""
    shown: IndexView | None = None
    """The index as it is, while nobody changes it."""
    whole: int = 0
    """The change number up to which nothing is missing; pages may have been taken in beyond it."""
    read: bool = False
    """Whether segments were looked for."""
    unsaved: int = 0
    """Rows taken in since the index was saved or loaded."""
    size: int = 0
    """Bytes of the index after its last change."""
    held: int = 0
    """Bytes that the shelf counts for the slot."""
    saving: Future[None] | None = None

    def view(self) -> IndexView:
        """The index as it is now."""
        if self.shown is None:
            self.size = self.index.nbytes
            self.shown = IndexView(namespace=self.namespace, index=self.index.view(), rows=self.rows)
        return self.shown

    def change(self, index: Index | None = None) -> Index:
        """The index to be changed, or another one in its place: it is no longer as it was shown."""
        self.shown = None
        self.index = index or self.index
        return self.index


class Shelf:
    """Safe for threads. Saving runs on one thread of its own; `close` waits for it."""

    def __init__(self, store: Store, embedder: Embedder | None, words: WordVectors | None, limit_bytes: int) -> None:
        self._store = store
        self._embedder = embedder
        self._words = words
        self._limit = limit_bytes
        self._slots: OrderedDict[str, Slot] = OrderedDict()
        self._erased = set[str]()
        self._size = 0
        self._lock = Lock()
        self._saver: ThreadPoolExecutor | None = None
        self._saves = "durable" in store.abilities

    def view(self, namespace: str) -> IndexView:
        """The namespace's index with every change that the store acknowledged before this call.

        Threads ask the store side by side; only one at a time takes in what is new. Nothing is locked for them while
        they read the view.
        """
        slot = self._slot(namespace)
        shown = self._with_landed(slot, self._fresh(slot))
        self._evict(namespace)
        return shown

    def holds(self, namespace: str) -> bool:
        """Whether the namespace has an index here."""
        return namespace in self._slots

    def take_erased(self) -> set[str]:
        """Return the namespaces in which erasures were taken in since the last time."""
        if not self._erased:
            return self._erased
        with self._lock:
            taken, self._erased = self._erased, set[str]()
        return taken

    def lacks(self, namespace: str) -> bool:
        """Whether a memory of the namespace's index had no vector when it was last read; nothing is read for it."""
        slot = self._slots.get(namespace)
        return self._embedder is not None and slot is not None and slot.index.unembedded > 0

    def save(self, namespace: str) -> None:
        """Keep the namespace's index as segments, now."""
        self.view(namespace)
        self._save(self._slot(namespace))

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

    def _fresh(self, slot: Slot) -> IndexView:
        while (shown := slot.shown) is None:
            with slot.turn:
                if slot.shown is None:
                    return self._read_on(slot)
        since = shown.index.upto
        changes = self._changes(slot, since, _FEW)
        return shown if changes.upto == since else self._caught_up(slot, since, changes)

    def _caught_up(self, slot: Slot, since: int, changes: Changes) -> IndexView:
        """The index with these changes since that number, unless somebody else has taken them in."""
        with slot.turn:
            shown = slot.shown
            if shown is not None and shown.index.upto == since:
                self._take(slot, changes)
                return self._read_on(slot) if changes.more else self._settled(slot)
            return shown if shown is not None and shown.index.upto >= changes.upto else self._read_on(slot)

    def _read_on(self, slot: Slot) -> IndexView:
        """Take in every change."""
        if not slot.read:
            slot.read = True
            kept = keeping.restore(
                self._store, slot.namespace, self._model, self._dimension, self._words, sign_bytes=self._sign_bytes
            )
            slot.whole = slot.change(kept).upto
        more = True
        while more:
            changes = self._changes(slot, slot.index.upto, _PAGE)
            more = changes.more
            if changes.upto != slot.index.upto:
                self._take(slot, changes)
        return self._settled(slot)

    def _settled(self, slot: Slot) -> IndexView:
        """The index as it is with every change; kept for the next start where it has grown."""
        slot.whole = slot.index.upto
        if slot.index.gone > max(1000, slot.index.present):
            slot.change(self._new_index())
            slot.whole = 0
            return self._read_on(slot)
        if self._saves and slot.unsaved >= max(_WORTH_SAVING, slot.index.columns.rows // 4):
            self._save_later(slot)
        return slot.view()

    def _changes(self, slot: Slot, since: int, limit: int) -> Changes:
        model = None if self._embedder is None else self._embedder.model
        return self._store.changes(slot.namespace, since=since, limit=limit, known=min(slot.whole, since), model=model)

    def _take(self, slot: Slot, changes: Changes) -> None:
        index = slot.change(self._new_index() if changes.reset else None)
        if changes.reset:
            slot.rows.clear()
        slot.rows.drop(changes.erased)
        slot.rows.drop(memory.id for memory in changes.memories)
        slot.rows.drop(each.memory for each in changes.restaged)
        index.drop(changes.erased)
        if changes.erased or changes.reset:
            with self._lock:
                self._erased.add(slot.namespace)
        index.put(changes.memories, self._decoded(changes.vectors))
        index.restage(changes.restaged)
        index.upto = changes.upto
        slot.unsaved += len(changes.memories)

    def _with_landed(self, slot: Slot, shown: IndexView) -> IndexView:
        """Also with vectors that were stored later than their memories; they land oldest first."""
        if not self._landed(slot, shown.index, _FEW):
            return shown
        with slot.turn:
            if slot.shown is not None:
                slot.change().embed(self._landed(slot, slot.index, _PAGE))
                return slot.view()
        return shown

    def _landed(self, slot: Slot, index: Index, most: int) -> dict[str, Quantised]:
        if self._embedder is None or not index.unembedded:
            return {}
        ids = index.without_vector(most)
        return self._decoded(self._store.vectors(slot.namespace, self._embedder.model, ids))

    def _decoded(self, stored: Mapping[str, bytes]) -> dict[str, Quantised]:
        """Stored vectors as the index takes them; foreign bytes are left out."""
        if not stored:
            return {}
        dimension, sign_bytes = self._dimension, self._sign_bytes
        decoded = {memory_id: decode_vector(data, dimension, sign_bytes) for memory_id, data in stored.items()}
        return {memory_id: vector for memory_id, vector in decoded.items() if vector is not None}

    def _save_later(self, slot: Slot) -> None:
        if slot.saving is not None and not slot.saving.done():
            return
        with self._lock:
            if self._saver is None:
                self._saver = ThreadPoolExecutor(1, "haversack-segments")
            slot.saving = self._saver.submit(self._save, slot)

    def _save(self, slot: Slot) -> None:
        with suppress(StoreError, ConflictError):  # a segment is a convenience: without it nothing is lost
            if slot.index.gone:
                whole = Slot(slot.namespace, self._new_index(), Rows(self._store, slot.namespace, 0))
                self._read_on(whole)
                with slot.turn:
                    self._read_on(whole)
                    slot.change(whole.index)
                    slot.whole = whole.whole
                    slot.rows.clear()
                    slot.view()
            with slot.turn:
                if slot.shown is None or slot.shown.index.gone:
                    return
                index, slot.unsaved = slot.shown.index, 0
            keeping.save(self._store, slot.namespace, self._model, dump(index), index.upto)

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
