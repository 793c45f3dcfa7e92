"""Taking everything out again: the lines that make an equal namespace elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from haversack.engine.core import Core
from haversack.engine.forgetting import every_memory
from haversack.model.memory import Turn
from haversack.store.port import Record
from haversack.transfer.entries import RecordEntry
from haversack.transfer.writing import dump_header, dump_memory, dump_record, dump_turn, render_line

__all__ = ["KEPT_COLLECTIONS", "take_out"]

KEPT_COLLECTIONS = ("view", "hidden", "policy", "feedback", "extracted")
"""Records that belong to what is remembered; the others (leases, index segments, journals) belong to a machine."""

_PAGE = 1_000


def take_out(core: Core, namespace: str) -> Iterator[bytes]:
    """A header, sessions oldest first with their turns in order, memories in the order of their arrival, records."""
    yield render_line(dump_header())
    for session in reversed(core.store.sessions(namespace)):
        yield from (render_line(dump_turn(turn)) for turn in _turns(core, namespace, session.id))
    for memory in sorted(every_memory(core, namespace), key=attrgetter("born")):
        yield render_line(dump_memory(memory))
    for collection in KEPT_COLLECTIONS:
        after = ""
        while page := core.store.records(namespace, collection, after=after, limit=_PAGE):
            yield from (render_line(dump_record(_entry(record))) for record in page)
            after = page[-1].key


def _entry(record: Record) -> RecordEntry:
    return RecordEntry(collection=record.collection, key=record.key, value=record.value)


def _turns(core: Core, namespace: str, session: str) -> Iterator[Turn]:
    after = -1
    while page := core.store.turns(namespace, session, after=after, limit=_PAGE):
        yield from page
        after = page[-1].position
