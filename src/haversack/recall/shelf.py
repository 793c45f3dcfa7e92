"""The indexes of the open namespaces: built behind the writes, fresh and bounded, saved for the next cold start."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Lock
from time import monotonic

from haversack.embed.codec import Quantised, decode_vector
from haversack.embed.embedder import Embedder, WordVectors, has_signs
from haversack.errors import ConflictError, StoreError
from haversack.recall import keeping
from haversack.recall.builder import Builder
from haversack.recall.compact import compacted
from haversack.recall.index import Index
from haversack.recall.rows import Rows
from haversack.recall.slot import Slot
from haversack.recall.view import IndexView
from haversack.store.port import Changes, Store

__all__ = ["Shelf"]

_PAGE = 250
"""Changes that are taken in at a time: whoever needs the index waits for no more of them."""
_OWN = 2_500
"""Changes that a question takes in itself, so that it is exactly fresh; more of them are left to the builder."""
_LANDED = 256
"""Vectors stored later than their memories that a question takes in."""
_WORTH_SAVING = 250
"""Rows read since the last save that make another one worth its writing, if they are a quarter of the index as well."""
_MANY = 10_000
"""Namespaces whose writes are counted."""
_ROWS = 32_000_000
"""Bytes of memories that are kept beside one namespace's index."""


class Shelf:
    """Safe for threads. Indexes are built on one thread of its own and saved on another; `close` ends both."""

    def __init__(self, store: Store, embedder: Embedder | None, words: WordVectors | None, limit_bytes: int) -> None:
        self._store = store
        self._embedder = embedder
        self._words = words
        self._limit = limit_bytes
        self._slots: OrderedDict[str, Slot] = OrderedDict()
        self._erased = set[str]()
        self._size = 0
        self._lock = Lock()
        self._written = Counter[str]()
        """Memories that this process wrote into each namespace since its index was last looked after."""
        self._builder = Builder(lambda slot: self._step(slot) is not None)
        self._saver: ThreadPoolExecutor | None = None
        self._saves = "durable" in store.abilities
        self._closed = False

    def view(self, namespace: str, *, wait: float | None = None) -> IndexView:
        """Return the namespace's index with every change that the store acknowledged before this call.

        With `wait`, more than 2,500 changes are waited for that many seconds only; then the view is of what is
        ready, and says how far it is `behind`. Threads ask the store side by side; only one at a time takes in what is
        new. Nothing is locked for them while they read the view.
        """
        slot = self._slot(namespace)
        shown = self._fresh(slot) if wait is None else self._early(slot, wait)
        shown = shown if shown.behind else self._with_landed(slot, shown)
        self._evict(namespace)
        return shown

    def written(self, namespace: str, count: int) -> None:
        """Tell that so many memories were written: the builder takes in what would be too much for a question."""
        with self._lock:
            if len(self._written) > _MANY:  # who writes little never makes a load: nothing is lost with the counts
                self._written.clear()
            self._written[namespace] += count
            slot = self._slots.get(namespace)
            if slot is not None:
                slot.written = monotonic()
            if self._written[namespace] < _OWN:
                return
            del self._written[namespace]
        slot = self._slot(namespace)
        slot.written = monotonic()
        self._builder.build(slot, asked=False)

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

    @contextmanager
    def erasing(self, namespace: str) -> Generator[None]:
        """Keep the index for the next start although an erasure meanwhile drops what was kept: without what is erased.

        It is loaded before and saved again in the background, so nothing is read and indexed anew.
        """
        slot = self._slot(namespace)
        known = slot.index.present >= _WORTH_SAVING
        had = known if slot.read else keeping.is_kept(self._store, namespace, self._model)
        if had:
            self._shown(slot)
        yield
        if had:
            self._save_later(slot, catch_up=True)

    def forget(self, namespace: str) -> None:
        """Drop the namespace's index; it is built again when it is asked for."""
        with self._lock:
            self._remove(namespace)

    def close(self, *, keep: bool = True) -> None:
        """Stop building, wait for what is being saved, and drop every index; `keep` what was built and is worth it."""
        self._builder.close()
        with self._lock:
            self._closed = True
            saver, self._saver = self._saver, None
            slots = list(self._slots.values())
        if saver is not None:
            saver.shutdown(wait=True)
        for slot in slots if keep else ():
            if self._is_worth_saving(slot):
                self._save(slot)
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
        """The index with every change."""
        if slot.built is not None:
            self._builder.build(slot, asked=True).wait()
        while (shown := self._caught_up(slot)) is None:  # page after page is the builder's: it makes way for questions
            self._builder.build(slot, asked=True).wait()
        return shown

    def _early(self, slot: Slot, wait: float) -> IndexView:
        """The index with every change where these are few or taken in within so many seconds; else as it is."""
        if self._is_near(slot) and (shown := self._caught_up(slot)) is not None:
            return shown
        built = self._builder.build(slot, asked=True)
        if built.wait(wait) and (shown := self._caught_up(slot)) is not None:
            return shown
        self._builder.make_way()
        with slot.turn:  # two threads that compute take turns of some milliseconds each
            shown = self._begun(slot)
        behind = max(0, self._store.sequence(slot.namespace) - shown.index.upto)
        # What changed since is read as it is now: the cache is told of changes only when they are taken in.
        return replace(shown, behind=behind, rows=Rows(self._store, slot.namespace, 0)) if behind else shown

    def _is_near(self, slot: Slot) -> bool:
        """Whether the changes that wait are a question's to take in; told only while the builder is at work."""
        if slot.built is None:
            return True
        return self._store.sequence(slot.namespace) - self._shown(slot).index.upto <= _OWN

    def _caught_up(self, slot: Slot) -> IndexView | None:
        """Take in what a question takes in itself; None if there is more."""
        steps = (self._step(slot) for _ in range(_OWN // _PAGE))
        return next((shown for shown in steps if shown is not None), None)

    def _step(self, slot: Slot) -> IndexView | None:
        """Take in a page of changes, unless somebody else has done so; None if there are more."""
        shown = slot.shown
        if shown is None or shown.index.upto > slot.whole:  # not whole yet: one thread reads for all
            with slot.turn:
                since = self._begun(slot).index.upto
                return self._took(slot, self._changes(slot, since, _PAGE))
        since = shown.index.upto
        changes = self._changes(slot, since, _PAGE)
        if changes.upto == since:
            return shown
        with slot.turn:
            if slot.index.upto == since:
                return self._took(slot, changes)
            shown = slot.view()
        return shown if not changes.more and shown.index.upto >= changes.upto else None

    def _took(self, slot: Slot, changes: Changes) -> IndexView | None:
        if changes.upto != slot.index.upto:
            self._take(slot, changes)
            slot.show()
        return None if changes.more else self._settled(slot)

    def _shown(self, slot: Slot) -> IndexView:
        """The index as it is, at first as it was kept."""
        if slot.shown is not None:
            return slot.shown
        with slot.turn:
            return self._begun(slot)

    def _begun(self, slot: Slot) -> IndexView:
        if not slot.read:
            kept = keeping.restore(
                self._store, slot.namespace, self._model, self._dimension, self._words, sign_bytes=self._sign_bytes
            )
            slot.read = True
            if kept is not None:
                slot.change(kept.index)
                slot.whole = kept.whole
        return slot.view()

    def _settled(self, slot: Slot) -> IndexView:
        """The index with every change; kept for the next start where it has grown."""
        slot.whole = slot.index.upto
        if self._is_worth_saving(slot) or slot.index.gone > max(1000, slot.index.present):
            self._save_later(slot)
        return slot.view()

    def _is_worth_saving(self, slot: Slot) -> bool:
        return self._saves and slot.unsaved >= max(_WORTH_SAVING, slot.index.columns.rows // 4)

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
        if not self._landed(slot, shown.index, _LANDED):
            return shown
        with slot.turn:
            slot.change().embed(self._landed(slot, slot.index, _LANDED))
            return slot.show()

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

    def _save_later(self, slot: Slot, *, catch_up: bool = False) -> None:
        """Have the index freed of gone rows and saved; `catch_up` with what happened meanwhile as well."""
        if not catch_up and slot.saving is not None and not slot.saving.done():
            return
        with self._lock:
            if self._closed:
                return
            if self._saver is None:
                self._saver = ThreadPoolExecutor(1, "haversack-segments")
            slot.saving = self._saver.submit(self._save, slot, catch_up=catch_up)

    def _save(self, slot: Slot, *, catch_up: bool = False) -> None:
        with suppress(StoreError, ConflictError):  # a segment is a convenience: without it nothing is lost
            if catch_up:
                if keeping.is_kept(self._store, slot.namespace, self._model):  # nothing was erased
                    return
                self._fresh(slot)
            self._free_of_gone(slot)
            with slot.turn:
                index, whole = slot.view().index, slot.whole
                if index.gone or not self._saves:
                    return
                slot.unsaved = 0
            keeping.save(self._store, slot.namespace, self._model, keeping.Kept(index, whole))

    def _free_of_gone(self, slot: Slot) -> None:
        """Put an index without gone rows in the place of the present one: made beside it, as long as that succeeds."""
        for is_last in (False, False, True):
            with slot.turn:
                shown = slot.view()
                if not shown.index.gone:
                    return
                if is_last:
                    slot.change(compacted(shown.index))
                    slot.show()
                    return
            made = compacted(shown.index)
            with slot.turn:
                if slot.shown is shown:
                    slot.change(made)
                    slot.show()
                    return

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
            slot.dropped = True
            self._size -= slot.held
