"""One run at a time across processes: a lease with an expiry, held by compare-and-set on a record.

A released lease stays as a record that is over, so that its version only grows: whoever lost it cannot write with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from haversack.errors import ConflictError
from haversack.store.port import Batch, Store, Written

__all__ = ["COLLECTION", "Lease", "acquire", "release", "releasing"]

COLLECTION = "lease"


class _Held(msgspec.Struct, frozen=True):
    owner: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to work on something until a moment."""

    key: str
    owner: str
    until: datetime
    version: int


def acquire(store: Store, namespace: str, key: str, *, owner: str, now: datetime, seconds: float) -> Lease | None:
    """The lease, or None while somebody holds it."""
    record = store.record(namespace, COLLECTION, key)
    if record is not None and msgspec.json.decode(record.value, type=_Held).until > now:
        return None
    version = record.version if record else 0
    until = now + timedelta(seconds=seconds)
    held = msgspec.json.encode(_Held(owner=owner, until=until))
    try:
        store.apply(namespace, Batch(records=(Written(collection=COLLECTION, key=key, value=held, expected=version),)))
    except ConflictError:
        return None
    return Lease(key=key, owner=owner, until=until, version=version + 1)


def releasing(lease: Lease, now: datetime) -> Written:
    """The write that ends the lease; in a batch it makes the whole batch fail when the lease was lost meanwhile."""
    over = msgspec.json.encode(_Held(owner=lease.owner, until=now))
    return Written(collection=COLLECTION, key=lease.key, value=over, expected=lease.version)


def release(store: Store, namespace: str, lease: Lease, now: datetime) -> None:
    """End the lease, unless it was lost already."""
    try:
        store.apply(namespace, Batch(records=(releasing(lease, now),)))
    except ConflictError:
        return
