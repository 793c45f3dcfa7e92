"""Taking everything out again: the turns, memories and records that make an equal store."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from haversack.engine.core import Core
from haversack.engine.forgetting import every_memory
from haversack.model.memory import Memory, Turn
from haversack.store.port import Record

__all__ = ["KEPT_COLLECTIONS", "take_out"]

KEPT_COLLECTIONS = ("view", "policy", "feedback")
"""Records that belong to what is remembered; the others (leases, index segments, journals) belong to a machine."""

_PAGE = 1_000


def take_out(core: Core, namespace: str) -> Iterator[Turn | Memory | Record]:
    """Sessions oldest first with their turns in order, then memories in the order of their arrival, then records."""
    for session in reversed(core.store.sessions(namespace)):
        after = -1
        while page := core.store.turns(namespace, session.id, after=after, limit=_PAGE):
            yield from page
            after = page[-1].position
    yield from sorted(every_memory(core, namespace), key=attrgetter("born"))
    for collection in KEPT_COLLECTIONS:
        yield from core.store.records(namespace, collection, limit=1_000_000)
