"""Which collections of records there are, what their values are, and which records are damaged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from haversack.compaction.extraction.extractor import READ_UPTO
from haversack.compaction.view import VIEWS
from haversack.engine.access import USES
from haversack.engine.aging import POLICIES
from haversack.engine.allowances import ALLOWANCES
from haversack.engine.auditing import DEEDS
from haversack.engine.calibrating import CALIBRATIONS
from haversack.engine.costing import CALLS
from haversack.engine.editing import FORMER
from haversack.engine.feedback import VOTES
from haversack.engine.jobs import JOB_RECORDS
from haversack.engine.keys import KEY_USES, KEYS
from haversack.engine.receipts import RECEIPTS
from haversack.engine.stays import STAYS
from haversack.engine.trims import TALLIES
from haversack.engine.visits import FRAMES, PLACES
from haversack.maintenance.archive import EXCHANGES, SCHEDULES, SNAPSHOTS
from haversack.maintenance.health import Damaged
from haversack.maintenance.move import PROGRESS
from haversack.maintenance.run import RUN_RECORDS, STEP_RECORDS
from haversack.maintenance.sharing import ASKED, DECIDED
from haversack.store.lease import LEASES
from haversack.store.port import SYSTEM, Batch, Record, Store, Written
from haversack.store.records import Collection

__all__ = ["damaged_records", "drop_damaged"]

_EVERYWHERE = (LEASES, RUN_RECORDS, STEP_RECORDS, PROGRESS)
_OWN: tuple[Collection[Any], ...] = (
    CALLS,
    FORMER,
    FRAMES,
    POLICIES,
    READ_UPTO,
    RECEIPTS,
    TALLIES,
    USES,
    VIEWS,
    VOTES,
    *_EVERYWHERE,
)
"""Those of a namespace. Records of `hidden` have no value; those of `segment` are made again when they are damaged."""
_SPANNING: tuple[Collection[Any], ...] = (
    ALLOWANCES,
    ASKED,
    CALIBRATIONS,
    DECIDED,
    DEEDS,
    EXCHANGES,
    JOB_RECORDS,
    KEYS,
    KEY_USES,
    PLACES,
    SCHEDULES,
    SNAPSHOTS,
    STAYS,
    *_EVERYWHERE,
)
_PAGE = 1_000


def damaged_records(store: Store, namespace: str) -> tuple[Damaged, ...]:
    """Return the records that cannot be decoded: every verb takes them for absent."""
    return tuple(
        Damaged(collection=record.collection, key=record.key, reason=reason)
        for collection in (_SPANNING if namespace == SYSTEM else _OWN)
        for record in _records(store, namespace, collection)
        if (reason := _fault(collection, record)) is not None
    )


def drop_damaged(store: Store, namespace: str) -> tuple[Damaged, ...]:
    """Remove them and return what was removed. Keys stay: a store without its keys might be open to everybody."""
    gone = tuple(each for each in damaged_records(store, namespace) if each.collection != KEYS.name)
    if gone:
        written = tuple(Written(collection=each.collection, key=each.key, value=None) for each in gone)
        store.apply(namespace, Batch(records=written))
    return gone


def _records(store: Store, namespace: str, collection: Collection[Any]) -> Iterator[Record]:
    after = ""
    while page := store.records(namespace, collection.name, after=after, limit=_PAGE):
        yield from (record for record in page if record.key.endswith(collection.ending))
        after = page[-1].key


def _fault(collection: Collection[Any], record: Record) -> str | None:
    try:
        collection.decode(record.value)
    except (ValueError, RecursionError) as error:
        return str(error)
    return None
