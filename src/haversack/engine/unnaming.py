"""Names of sessions that are forgotten for good, out of the bookkeeping: costs, the audit, jobs, opened sessions.

What was counted stays, under a word that tells nothing and is the same for the same session, so that sums stand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

import msgspec

from haversack.engine.auditing import AUDIT, DEEDS
from haversack.engine.costing import CALLS
from haversack.engine.costing import COLLECTION as COSTS
from haversack.engine.jobs import JOB_RECORDS, JOBS
from haversack.engine.visits import PLACES, VISITS
from haversack.store.port import SYSTEM, Batch, Record, Store, Written

__all__ = ["unname", "unnamed"]

_PAGE = 1_000


def unnamed(store: Store, namespace: str, sessions: Collection[str]) -> tuple[Written, ...]:
    """What an erasure of these sessions writes in their namespace, in its own transaction."""
    if not sessions:
        return ()

    def call(record: Record) -> bytes | None:
        before = CALLS.value_of(record)
        if before is None or before.session is None or before.session not in sessions:
            return record.value
        return replace(before, session=_veil(before.session)).encode()

    gone = (Written(collection=VISITS, key=name, value=None) for name in sessions)
    return (*_rewritten(store, namespace, COSTS, call), *gone)


def unname(store: Store, namespace: str, sessions: Collection[str] | None) -> None:
    """Take these sessions (None: all) of the namespace out of what spans namespaces.

    An erasure comes after it, which rebuilds the files without the former bytes.
    """

    def deed(record: Record) -> bytes | None:
        before = DEEDS.value_of(record)
        session = None if before is None or before.namespace != namespace else before.session
        if before is None or session is None or not _is_among(session, sessions):
            return record.value
        return msgspec.json.encode(replace(before, session=_veil(session)))

    def job(record: Record) -> bytes | None:
        before = JOB_RECORDS.value_of(record)
        told: Sequence[str] = () if before is None else before.result.get("problems", ())
        if before is None or before.namespace != namespace or not any(_tells(line, sessions) for line in told):
            return record.value
        return msgspec.json.encode(replace(before, result={**before.result, "problems": []}))

    def visit(record: Record) -> bytes | None:
        is_gone = PLACES.value_of(record) == namespace and _is_among(record.key, sessions)
        return None if is_gone else record.value

    if sessions is not None and not sessions:
        return
    for collection, after in ((AUDIT, deed), (JOBS, job), (VISITS, visit)):
        if records := tuple(_rewritten(store, SYSTEM, collection, after)):
            store.apply(SYSTEM, Batch(records=records))


def _rewritten(
    store: Store, namespace: str, collection: str, after: Callable[[Record], bytes | None]
) -> Iterator[Written]:
    """The records of a collection that are otherwise afterwards, or not there."""
    last = ""
    while page := store.records(namespace, collection, after=last, limit=_PAGE):
        for record in page:
            value = after(record)
            if value != record.value:
                yield Written(collection=collection, key=record.key, value=value, expected=record.version)
        last = page[-1].key


def _is_among(session: str, sessions: Collection[str] | None) -> bool:
    return sessions is None or session in sessions


def _tells(line: str, sessions: Collection[str] | None) -> bool:
    return sessions is None or any(session in line for session in sessions)


def _veil(session: str) -> str:
    return f"forgotten:{hashlib.sha256(session.encode()).hexdigest()[:32]}"
