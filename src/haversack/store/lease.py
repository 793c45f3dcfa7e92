"""One run at a time across processes: a lease with an expiry, held by compare-and-set on a record.

A released lease stays as a record that is over, so that its version only grows: whoever lost it cannot write with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from haversack.errors import ConflictError
from haversack.model.times import EPOCH
from haversack.store.port import LEASE, Batch, Store, Written
from haversack.store.records import Collection

__all__ = ["LEASES", "Lease", "acquire", "held_by", "release", "releasing", "renewing"]


class _Held(msgspec.Struct, frozen=True):
    owner: str
    until: datetime


LEASES = Collection(LEASE, _Held)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to work on something until a moment."""

    key: str
    owner: str
    until: datetime
    version: int


def held_by(store: Store, namespace: str, key: str, now: datetime) -> str | None:
    """Whose the lease is at the moment, if anybody's."""
    record = store.record(namespace, LEASE, key)
    held = LEASES.value_of(record)
    return held.owner if held is not None and held.until > now else None


def acquire(
    store: Store,
    namespace: str,
    key: str,
    *,
    owner: str,
    now: datetime,
    seconds: float,
    abandoned: Callable[[str], bool] = lambda _: False,
) -> Lease | None:
    """The lease, or None while somebody holds it; an owner that is `abandoned` holds nothing."""
    record = store.record(namespace, LEASE, key)
    held = LEASES.value_of(record)
    if held is not None and held.until > now and not abandoned(held.owner):
        return None
    version = record.version if record else 0
    until = now + timedelta(seconds=seconds)
    written = Written(collection=LEASE, key=key, value=_value(owner, until), expected=version)
    try:
        store.apply(namespace, Batch(records=(written,)))
    except ConflictError:
        return None
    return Lease(key=key, owner=owner, until=until, version=version + 1)


def renewing(lease: Lease, until: datetime) -> tuple[Lease, Written]:
    """The lease with a later end, and the write that makes it so; it fails the batch when the lease was lost."""
    written = Written(collection=LEASE, key=lease.key, value=_value(lease.owner, until), expected=lease.version)
    return Lease(key=lease.key, owner=lease.owner, until=until, version=lease.version + 1), written


def releasing(lease: Lease) -> Written:
    """The write that ends the lease; in a batch it makes the whole batch fail when the lease was lost meanwhile.

    It is over at any time: a clock that jumps back does not bring it to life again.
    """
    return Written(collection=LEASE, key=lease.key, value=_value(lease.owner, EPOCH), expected=lease.version)


def release(store: Store, namespace: str, lease: Lease) -> None:
    """End the lease, unless it was lost already."""
    try:
        store.apply(namespace, Batch(records=(releasing(lease),)))
    except ConflictError:
        return


def _value(owner: str, until: datetime) -> bytes:
    return msgspec.json.encode(_Held(owner=owner, until=until))
