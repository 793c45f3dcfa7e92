"""Sessions that a client opens and closes: when, for whom, and what was said of them at the end.

Their memories carry the session's name; this keeps only the frame, in the namespace, so that an erasure reaches it.
What spans namespaces is which one an id belongs to, because a client may ask for a session by its id alone.
"""

from __future__ import annotations

from collections.abc import Mapping
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
        place = Written(collection=VISITS, key=visit.id, value=msgspec.json.encode(visit.namespace))
        self._core.store.apply(SYSTEM, Batch(records=(place,)))
        return self._put(visit)

    def get(self, visit_id: str) -> Visit:
        """One session; raises NotFoundError."""
        place = self._core.store.record(SYSTEM, VISITS, visit_id) if visit_id else None
        namespace = PLACES.value_of(place)
        found = None if namespace is None else self._find(namespace, visit_id)
        if found is None:
            raise NotFoundError(f"no session {visit_id!r}")
        return found

    def touch(self, visit_id: str) -> Visit:
        """Note that it goes on; one that has ended stays ended."""
        visit = self.get(visit_id)
        return visit if visit.ended_at else self._put(replace(visit, last_at=self._core.clock()))

    def end(self, visit_id: str, summary: str | None = None) -> Visit:
        """Close it, with the id of the memory that sums it up; a second time changes nothing."""
        visit = self.get(visit_id)
        if visit.ended_at is not None:
            return visit
        now = self._core.clock()
        return self._put(replace(visit, ended_at=now, last_at=now, summary=summary))

    def of(self, namespace: str) -> list[Visit]:
        """A namespace's sessions, the newest first."""
        found: list[Visit] = []
        after = ""
        while page := self._core.store.records(namespace, VISITS, after=after, limit=_PAGE):
            found += FRAMES.values_of(page)
            after = page[-1].key
        return found[::-1]

    def _find(self, namespace: str, visit_id: str) -> Visit | None:
        return FRAMES.value_of(self._core.store.record(namespace, VISITS, visit_id))

    def _put(self, visit: Visit) -> Visit:
        record = Written(collection=VISITS, key=visit.id, value=msgspec.json.encode(visit))
        self._core.store.apply(visit.namespace, Batch(records=(record,)))
        return visit
