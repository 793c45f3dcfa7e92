"""Sessions that a client opens and closes: when, for whom, and what was said of them at the end.

Their memories carry the session's name; this keeps only the frame, in the namespace, so that an erasure reaches it.
What spans namespaces is which one an id belongs to, because a client may ask for a session by its id alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import msgspec

from haversack.engine.core import Core
from haversack.engine.draft import read_metadata
from haversack.errors import NotFoundError
from haversack.model.text import namespace_label
from haversack.store.port import SYSTEM, Batch, Written
from haversack.store.records import Collection
from haversack.store.retry import persisting

__all__ = ["FRAMES", "PLACES", "VISITS", "Visit", "Visits"]

VISITS = "visit"
_PAGE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One session's frame."""

    id: str
    """Also the session's name in its namespace."""
    namespace: str
    started_at: datetime
    last_at: datetime
    ended_at: datetime | None = None
    summary: str | None = None
    """Id of the memory that says what was said."""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


FRAMES = Collection(VISITS, Visit)
"""In the visits' namespaces."""
PLACES = Collection(VISITS, str)
"""In the space that spans them: which namespace a visit is in."""


class Visits:
    """The opened and closed sessions of one store."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def start(self, namespace: str, metadata: Mapping[str, Any] | None = None) -> Visit:
        """Open a session."""
        now = self._core.clock()
        visit = Visit(
            id=next(self._core.new_ids(now)),
            namespace=namespace_label(namespace),
            started_at=now,
            last_at=now,
            metadata=dict(read_metadata(metadata)),
        )
        name = msgspec.json.encode(visit.namespace)
        place = Written(collection=VISITS, key=visit.id, value=name, about=visit.namespace, session=visit.id)
        self._core.store.apply(SYSTEM, Batch(records=(place,)))
        self._put(visit, 0)
        return visit

    def get(self, visit_id: str) -> Visit:
        """One session; raises NotFoundError."""
        return self._stored(visit_id)[0]

    def _stored(self, visit_id: str) -> tuple[Visit, int]:
        """One session and the version of its record."""
        place = self._core.store.record(SYSTEM, VISITS, visit_id) if visit_id else None
        namespace = PLACES.value_of(place)
        found = None if namespace is None else self._find(namespace, visit_id)
        if found is None:
            raise NotFoundError(f"no session {visit_id!r}")
        return found

    def touch(self, visit_id: str) -> Visit:
        """Note that it goes on; one that has ended stays ended."""
        now = self._core.clock()
        return self._change(visit_id, lambda visit: replace(visit, last_at=now))

    def end(self, visit_id: str, summary: str | None = None) -> Visit:
        """Close it, with the id of the memory that sums it up; a second time changes nothing."""
        now = self._core.clock()
        return self._change(visit_id, lambda visit: replace(visit, ended_at=now, last_at=now, summary=summary))

    def of(self, namespace: str) -> list[Visit]:
        """A namespace's sessions, the newest first."""
        found: list[Visit] = []
        after = ""
        while page := self._core.store.records(namespace, VISITS, after=after, limit=_PAGE):
            found += FRAMES.values_of(page)
            after = page[-1].key
        return found[::-1]

    def _change(self, visit_id: str, change: Callable[[Visit], Visit]) -> Visit:
        """Change one that goes on, as it is now; one that has ended stays as it is."""
        return persisting(lambda: self._try_to_change(visit_id, change))

    def _try_to_change(self, visit_id: str, change: Callable[[Visit], Visit]) -> Visit:
        visit, version = self._stored(visit_id)
        if visit.ended_at is not None:
            return visit
        changed = change(visit)
        self._put(changed, version)
        return changed

    def _find(self, namespace: str, visit_id: str) -> tuple[Visit, int] | None:
        record = self._core.store.record(namespace, VISITS, visit_id)
        visit = FRAMES.value_of(record)
        return None if record is None or visit is None else (visit, record.version)

    def _put(self, visit: Visit, version: int) -> None:
        record = Written(collection=VISITS, key=visit.id, value=msgspec.json.encode(visit), expected=version)
        self._core.store.apply(visit.namespace, Batch(records=(record,)))
