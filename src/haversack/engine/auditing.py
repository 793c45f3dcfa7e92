"""The audit: who did what to which memory when. It holds ids, never words; entries are added and never altered."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock

import msgspec

from haversack.engine.core import Core
from haversack.errors import InputError, StoreError
from haversack.model.identity import ENTROPY_BYTES, make_id
from haversack.model.query import Filter
from haversack.model.times import Moment, read_range
from haversack.store.port import SYSTEM, Batch, Store, Written
from haversack.store.records import Collection

__all__ = ["AUDIT", "DEEDS", "Audit", "Deed", "is_over", "veil"]

AUDIT = "audit"
_PAGE = 500
_KEPT_AT_LEAST = timedelta(days=30)
_MOST_NAMED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """One entry."""

    id: str = ""
    """Sorts by time; assigned when it is noted."""
    at: datetime | None = None
    who: str
    """A key's id, or the name of the door where nobody has to show one."""
    did: str
    """The verb: `remember`, `recall`, `forget`, …"""
    namespace: str | None = None
    memories: tuple[str, ...] = ()
    """Their ids; of keys, where the deed is about keys."""
    session: str | None = None
    count: int = 0
    """How many memories or turns it was about; `memories` names the first hundred."""
    request: str | None = None
    """The request's id, as it stands in logs and traces."""


DEEDS = Collection(AUDIT, Deed)


def veil(session: str) -> str:
    """Return a word that tells nothing and is the same for the same session, so that sums stand."""
    return f"forgotten:{hashlib.sha256(session.encode()).hexdigest()[:32]}"


def is_over(store: Store, namespace: str, session: str) -> bool:
    """Whether neither a turn nor a memory of a session is left."""
    said = store.turns(namespace, session, limit=1)
    return not said and not store.select(namespace, Filter(session=session), now=None, limit=1)


class Audit:
    """The audit of one store. Entries gather in memory until `flush`; `now=True` writes at once."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._waiting: list[Deed] = []
        self._lock = Lock()

    def note(self, deed: Deed, *, now: bool = False) -> None:
        """Add an entry."""
        at = self._core.clock()
        named = replace(
            deed,
            id=make_id(at, self._core.entropy(ENTROPY_BYTES)),
            at=at,
            memories=deed.memories[:_MOST_NAMED],
            count=deed.count or len(deed.memories),
        )
        with self._lock:
            self._waiting.append(named)
        if now:
            self.flush()

    def flush(self) -> None:
        """Write what waits; where the store refuses, it goes on waiting."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        if waiting:
            records = tuple(
                Written(
                    collection=AUDIT,
                    key=deed.id,
                    value=msgspec.json.encode(deed),
                    expected=0,
                    about=deed.namespace,
                    session=deed.session,
                )
                for deed in waiting
            )
            try:
                self._core.store.apply(SYSTEM, Batch(records=records))
            except StoreError:
                with self._lock:
                    self._waiting = waiting + self._waiting
                raise

    def forget(self, namespace: str) -> None:
        """Veil, in what waits, the names of sessions of which nothing is left in this namespace."""
        with self._lock:
            named = {deed.session for deed in self._waiting if deed.namespace == namespace and deed.session is not None}
        over = {session for session in named if is_over(self._core.store, namespace, session)}
        if over:
            with self._lock:
                self._waiting = [
                    replace(deed, session=veil(deed.session))
                    if deed.namespace == namespace and deed.session in over
                    else deed
                    for deed in self._waiting
                ]

    def read(
        self,
        *,
        after: str = "",
        since: Moment | None = None,
        until: Moment | None = None,
        namespace: str | None = None,
        did: str | None = None,
    ) -> Iterator[Deed]:
        """Entries behind the id `after`, oldest first, that meet every condition given."""
        start, end = read_range(since, until, self._core.settings.zone)
        return self._read(after, start, end, namespace=namespace, did=did)

    def _read(
        self, after: str, since: datetime | None, until: datetime | None, *, namespace: str | None, did: str | None
    ) -> Iterator[Deed]:
        self.flush()
        place = max(after, make_id(since - timedelta(milliseconds=1), b"\xff" * ENTROPY_BYTES) if since else "")
        while page := self._core.store.records(SYSTEM, AUDIT, after=place, limit=_PAGE, about=namespace):
            for deed in DEEDS.values_of(page):
                if until is not None and deed.at is not None and deed.at >= until:
                    return
                if namespace in (None, deed.namespace) and did in (None, deed.did):
                    yield deed
            place = page[-1].key

    def prune(self, before: datetime) -> int:
        """Remove entries from before this moment, which must be thirty days ago or more; returns how many."""
        if self._core.clock() - before < _KEPT_AT_LEAST:
            raise InputError(f"before={before.isoformat()} is too recent: entries of the last 30 days stay")
        end, gone = make_id(before, bytes(ENTROPY_BYTES)), 0
        while page := self._core.store.records(SYSTEM, AUDIT, limit=_PAGE):
            old = tuple(Written(collection=AUDIT, key=record.key, value=None) for record in page if record.key < end)
            if not old:
                break
            self._core.store.apply(SYSTEM, Batch(records=old))
            gone += len(old)
        return gone
