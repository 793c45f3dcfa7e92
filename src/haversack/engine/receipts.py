"""Doing a thing once: a request that comes again under the same key gets the first one's receipt.

A receipt holds ids and counts, never words, so that what is forgotten is not kept here. It is looked up for a day or
two and then swept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from haversack.engine.core import Core
from haversack.errors import ConflictError, InputError
from haversack.store.port import Batch, Record, Written
from haversack.store.records import Collection

__all__ = ["RECEIPTS", "Once", "Receipt", "once"]

_COLLECTION = "receipt"
_SWEPT_AT_ONCE = 20
_LEASE = timedelta(minutes=2)
"""A request that began longer ago than this and left no receipt is taken to have died."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a request did, by ids."""

    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Once:
    """The receipt, and whether it is from an earlier request."""

    receipt: Receipt
    repeated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    digest: str
    begun_at: datetime
    receipt: Receipt | None = None


RECEIPTS = Collection(_COLLECTION, _Entry)


def once(core: Core, namespace: str, key: str, request: bytes, act: Callable[[], Receipt]) -> Once:
    """Carry out `act` unless this key has done it; ConflictError when it is being done now, or was another request.

    A request that failed leaves nothing behind and may be tried again.
    """
    now = core.clock()
    name, digest = _digest(key.encode()), hashlib.sha256(request).hexdigest()
    found = _find(core, namespace, name, now)
    entry = RECEIPTS.value_of(found)
    if entry is not None:
        if entry.digest != digest:
            raise InputError("this idempotency key was used for another request: take a new one")
        if entry.receipt is not None:
            return Once(receipt=entry.receipt, repeated=True)
        if now - entry.begun_at < _LEASE:
            raise ConflictError("the first request with this idempotency key is still at work: try again shortly")
    place = found.key if found else f"{now:%Y%m%d}/{name}"
    claim, version = _Entry(digest=digest, begun_at=now), found.version if found else 0
    core.store.apply(namespace, Batch(records=(_written(place, claim, version),)))
    try:
        receipt = act()
    except BaseException:
        _end(core, namespace, _written(place, None, version + 1))
        raise
    done = _Entry(digest=digest, begun_at=now, receipt=receipt)
    _end(core, namespace, _written(place, done, version + 1), *_old(core, namespace, now))
    return Once(receipt=receipt, repeated=False)


def _find(core: Core, namespace: str, name: str, now: datetime) -> Record | None:
    days = (now, now - timedelta(days=1))
    found = (core.store.record(namespace, _COLLECTION, f"{day:%Y%m%d}/{name}") for day in days)
    return next((record for record in found if record is not None), None)


def _written(place: str, entry: _Entry | None, expected: int) -> Written:
    value = None if entry is None else msgspec.json.encode(entry)
    return Written(collection=_COLLECTION, key=place, value=value, expected=expected)


def _end(core: Core, namespace: str, *records: Written) -> None:
    """Write what became of a claim, unless it was taken over or erased while the request was at work."""
    with suppress(ConflictError):
        core.store.apply(namespace, Batch(records=records))


def _old(core: Core, namespace: str, now: datetime) -> tuple[Written, ...]:
    """Deletions of a few receipts that nobody will ask for any more."""
    horizon = f"{now - timedelta(days=1):%Y%m%d}"
    records = core.store.records(namespace, _COLLECTION, limit=_SWEPT_AT_ONCE)
    return tuple(
        Written(collection=_COLLECTION, key=record.key, value=None) for record in records if record.key < horizon
    )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
