"""Names of sessions that are forgotten for good, out of the bookkeeping: costs, the audit, jobs, opened sessions.

What was counted stays, under a word that tells nothing and is the same for the same session, so that sums stand.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

import msgspec

from haversack.engine.auditing import AUDIT, DEEDS, veil
from haversack.engine.costing import CALLS
from haversack.engine.costing import COLLECTION as COSTS
from haversack.engine.jobs import JOB_RECORDS, JOBS
from haversack.engine.visits import VISITS
from haversack.store.port import SYSTEM, Batch, Record, Store, Written

__all__ = ["unname", "unnamed"]

_PAGE = 1_000
_Sessions: TypeAlias = "Collection[str] | None"
"""Names of sessions; None: all."""


def unnamed(store: Store, namespace: str, sessions: Collection[str]) -> tuple[Written, ...]:
    """Return what an erasure of these sessions writes in their namespace, in its own transaction."""
    calls = (record for name in sessions for record in _records(store, namespace, COSTS, session=name))
    gone = (Written(collection=VISITS, key=name, value=None) for name in sessions)
    return (*filter(None, map(_veiled_call, calls)), *gone)


def unname(store: Store, namespace: str, sessions: _Sessions) -> None:
    """Take these sessions of the namespace out of what spans namespaces.

    An erasure comes after it, which rebuilds the files without the former bytes.
    """
    if sessions is not None and not sessions:
        return
    jobs = _records(store, SYSTEM, JOBS, about=namespace)
    _rewrite(store, _of(store, AUDIT, namespace, sessions), _veiled_deed)
    _rewrite(store, jobs, lambda record: _without_problems(record, sessions))
    _rewrite(store, _of(store, VISITS, namespace, sessions), lambda record: _written(record, None, None))


def _rewrite(store: Store, records: Iterator[Record], after: Callable[[Record], Written | None]) -> None:
    if written := tuple(filter(None, map(after, records))):
        store.apply(SYSTEM, Batch(records=written))


def _of(store: Store, collection: str, namespace: str, sessions: _Sessions) -> Iterator[Record]:
    for session in [None] if sessions is None else sessions:
        yield from _records(store, SYSTEM, collection, about=namespace, session=session)


def _records(
    store: Store, namespace: str, collection: str, *, about: str | None = None, session: str | None = None
) -> Iterator[Record]:
    last = ""
    while page := store.records(namespace, collection, after=last, limit=_PAGE, about=about, session=session):
        yield from page
        last = page[-1].key


def _veiled_call(record: Record) -> Written | None:
    call = CALLS.value_of(record)
    if call is None or call.session is None:
        return None
    veiled = veil(call.session)
    return _written(record, replace(call, session=veiled).encode(), veiled)


def _veiled_deed(record: Record) -> Written | None:
    deed = DEEDS.value_of(record)
    if deed is None or deed.session is None:
        return None
    veiled = veil(deed.session)
    return _written(record, msgspec.json.encode(replace(deed, session=veiled)), veiled)


def _without_problems(record: Record, sessions: _Sessions) -> Written | None:
    job = JOB_RECORDS.value_of(record)
    told: Sequence[str] = () if job is None else job.result.get("problems", ())
    if job is None or not any(_tells(line, sessions) for line in told):
        return None
    return _written(record, msgspec.json.encode(replace(job, result={**job.result, "problems": []})), None)


def _written(record: Record, value: bytes | None, session: str | None) -> Written:
    return Written(
        collection=record.collection,
        key=record.key,
        value=value,
        expected=record.version,
        about=record.about,
        session=session,
    )


def _tells(line: str, sessions: _Sessions) -> bool:
    return sessions is None or any(session in line for session in sessions)
