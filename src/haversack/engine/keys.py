"""API keys: who may do what in which namespaces. Secrets are stored as hashes and shown once, when a key is made.

A key is `hvs_<id>_<secret>`. The secret is 256 random bits, so one SHA-256 is enough of a hash: there is nothing to
guess. Keys are records of the namespace that spans namespaces, so every process that shares the store sees a revoked
key at once.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from threading import Lock
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from haversack.engine.core import Core
from haversack.errors import ConflictError, InputError, NotFoundError, nearest
from haversack.model.text import label, matches
from haversack.store.port import SYSTEM, Batch, Record, Written
from haversack.store.records import Collection
from haversack.store.retry import persisting

__all__ = ["KEYS", "KEY_USES", "TOKEN", "Issued", "Key", "Keyring", "Scope", "matches"]

_PAST = "key-past"
"""Says that keys were removed from the list."""
TOKEN = "token:"  # noqa: S105 - a prefix, no secret
"""How the ids of keys begin that stand for an identity provider's tokens; no key of a store has a colon."""
_PREFIX = "hvs"
_ID_BYTES, _SECRET_BYTES = 10, 32
_MOST = 10_000
_LONGEST_GRACE = timedelta(days=7)
_NOBODY = hashlib.sha256(b"").hexdigest()


class Scope(StrEnum):
    """What a key may do; each includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def covers(self, wanted: Scope) -> bool:
        """Whether this scope is enough where `wanted` is asked for."""
        order = list(Scope)
        return order.index(self) >= order.index(wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key as it may be shown: never its secret."""

    id: str
    name: str
    scope: Scope
    namespaces: tuple[str, ...] | None = None
    """Exact names, or `prefix*` for all that begin so; None: every namespace, also those to come."""
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    replaced_by: str | None = None
    """The key that a rotation made in its place."""
    made_by: str | None = None
    """The id of the key that made it; None for one that was made beside the store."""
    makes_keys: bool = True
    """Whether it may make and rotate keys, where its scope allows that."""
    last_used_at: datetime | None = None
    uses: int = 0
    """Requests so far. Written in batches: the newest ones may be missing."""

    def reaches(self, namespace: str) -> bool:
        """Whether the namespace is among those it may touch."""
        return self.namespaces is None or any(matches(pattern, namespace) for pattern in self.namespaces)

    def contains(self, scope: Scope, namespaces: Iterable[str] | None) -> bool:
        """Whether it could hand out a key with these rights: nobody gives more than they have."""
        if not self.scope.covers(scope):
            return False
        if self.namespaces is None:
            return True
        return namespaces is not None and all(
            any(_within(wanted, own) for own in self.namespaces) for wanted in namespaces
        )

    def is_live(self, now: datetime) -> bool:
        """Neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A key fresh from the press; `secret` is never to be had again."""

    key: Key
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    key: Key
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Used:
    uses: int = 0
    last_used_at: datetime | None = None


KEYS = Collection("key", _Stored)
KEY_USES = Collection("key-use", _Used)


class Keyring:
    """The keys of one store."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._uses: dict[str, tuple[int, datetime]] = {}
        self._lock = Lock()

    def create(
        self,
        name: str,
        *,
        scope: Scope | str = Scope.READ,
        namespaces: Iterable[str] | None = None,
        expires_at: datetime | None = None,
        maker: Key | None = None,
    ) -> Issued:
        """Make a key. Its secret is in the answer and nowhere else. It ends with its maker, or earlier."""
        now = self._core.clock()
        if expires_at is not None and expires_at <= now:
            raise InputError(f"expires_at={expires_at.isoformat()} is in the past")
        end = None if maker is None else maker.expires_at
        if expires_at is not None and end is not None and expires_at > end:
            raise InputError(
                f"expires_at={expires_at.isoformat()} is too late: the key that makes it ends at {end.isoformat()}"
            )
        stored, secret = self._press(
            Key(
                id=self._new_id(),
                name=label(name, "name"),
                scope=read_scope(scope),
                namespaces=read_patterns(namespaces),
                created_at=now,
                expires_at=expires_at or end,
                made_by=None if maker is None else maker.id,
            )
        )
        self._write(*_new_records(stored))
        return Issued(key=stored.key, secret=secret)

    def check(self, secret: str) -> Key | None:
        """The live key of this secret, or None. Takes the same time however much of the secret is right."""
        digest, found = _digest(secret), self._find(_id_in(secret))
        right = hmac.compare_digest(digest, found.digest if found else _NOBODY)
        now = self._core.clock()
        if found is None or not right or not found.key.is_live(now):
            return None
        self._count(found.key, now)
        return found.key

    def all(self) -> list[Key]:
        """Every key, revoked and expired ones included, by age."""
        store = self._core.store
        uses = {record.key: record for record in store.records(SYSTEM, KEY_USES.name, limit=_MOST)}
        found = (stored.key for stored in KEYS.values_of(store.records(SYSTEM, KEYS.name, limit=_MOST)))
        return sorted((_with_uses(key, uses.get(key.id)) for key in found), key=lambda key: (key.created_at, key.id))

    def get(self, key_id: str) -> Key:
        """One key; raises NotFoundError."""
        stored, _ = self._stored(key_id)
        return _with_uses(stored.key, self._core.store.record(SYSTEM, KEY_USES.name, key_id))

    def change(
        self, key_id: str, *, name: str | None = None, namespaces: Iterable[str] | UnsetType | None = UNSET
    ) -> Key:
        """Give a key another name, or these namespaces instead of its own (None: every one), or both at once."""
        changed: dict[str, Any] = {}
        if name is not None:
            changed["name"] = label(name, "name")
        if namespaces is not UNSET:
            changed["namespaces"] = read_patterns(namespaces)
        return self._change(key_id, lambda key: replace(key, **changed))

    def revoke(self, key_id: str, *, children: bool = False) -> list[Key]:
        """From now on the key opens nothing, nor with `children` any that it made; they stay listed. The key is first.

        The keys that it was rotated from, and what those made, count as its own.
        """
        now = self._core.clock()
        revoked = [self._end(key_id, now)]
        while children and (standing := [key for key in self.children(key_id) if key.revoked_at is None]):
            revoked += [self._end(key.id, now) for key in standing]
        return revoked

    def children(self, key_id: str) -> list[Key]:
        """The keys that this key made, those that they made, and so on, by age; live or not."""
        known = self.all()
        family, grown = {key_id}, True
        while grown:
            new = {key.id for key in known if key.made_by in family or key.replaced_by in family} - family
            family |= new
            grown = bool(new)
        return [key for key in known if key.id in family and key.id != key_id]

    def rotate(self, key_id: str, *, grace: timedelta = timedelta(), maker: Key | None = None) -> Issued:
        """A new key with the same name, scope, namespaces and end; the old one works for `grace` longer.

        Rotated by another key, it counts as made by that one and ends with it at the latest.
        """
        if not timedelta() <= grace <= _LONGEST_GRACE:
            raise InputError(f"grace={grace} must be from 0 to {_LONGEST_GRACE.days} days")
        return persisting(lambda: self._rotate(key_id, grace, maker))

    def _rotate(self, key_id: str, grace: timedelta, maker: Key | None) -> Issued:
        (stored, version), now = self._stored(key_id), self._core.clock()
        old = stored.key
        if not old.is_live(now) or old.replaced_by is not None:
            raise ConflictError(f"key {key_id!r} is revoked, expired or rotated already: make a new one instead")
        by = old.made_by if maker is None or maker.id == old.id else maker.id
        ends = None if maker is None else maker.expires_at
        made = replace(old, id=self._new_id(), created_at=now, made_by=by, expires_at=_earlier(old.expires_at, ends))
        fresh, secret = self._press(made)
        left = replace(old, expires_at=_earlier(old.expires_at, now + grace)) if grace else replace(old, revoked_at=now)
        kept = replace(stored, key=replace(left, replaced_by=fresh.key.id))
        self._write(*_new_records(fresh), _record(kept, expected=version))
        return Issued(key=fresh.key, secret=secret)

    def delete(self, key_id: str) -> None:
        """Remove a key from the list as well. That the store had keys stays known."""
        persisting(lambda: self._delete(key_id))

    def _delete(self, key_id: str) -> None:
        _, version = self._stored(key_id)
        self._write(
            Written(collection=KEYS.name, key=key_id, value=None, expected=version),
            Written(collection=KEY_USES.name, key=key_id, value=None),
            Written(collection=_PAST, key=_PAST, value=b"1"),
        )

    def exist(self) -> bool:
        """Whether any key is live. One that cannot be read counts: damage must not open a store."""
        now = self._core.clock()
        found = map(KEYS.value_of, self._core.store.records(SYSTEM, KEYS.name, limit=_MOST))
        return any(stored is None or stored.key.is_live(now) for stored in found)

    def ever_existed(self) -> bool:
        """Whether the store has or had any key, live or not: such a store is never served without one."""
        store = self._core.store
        return bool(store.records(SYSTEM, KEYS.name, limit=1)) or store.record(SYSTEM, _PAST, _PAST) is not None

    def still_opens(self, key: Key) -> bool:
        """Whether a key that was let in still opens as much as it did then."""
        stored, now = self._find(key.id), self._core.clock()
        present = key if stored is None and key.id.startswith(TOKEN) else stored and stored.key
        return present is not None and present.is_live(now) and present.contains(key.scope, key.namespaces)

    def flush(self) -> None:
        """Write how often and when keys were used since the last time; kept apart, so that it undoes no revocation."""
        with self._lock:
            uses, self._uses = self._uses, {}
        for key_id, (count, moment) in uses.items():
            persisting(partial(self._add_uses, key_id, count, moment))

    def _add_uses(self, key_id: str, count: int, moment: datetime) -> None:
        """Add to what other processes have counted; a key that was deleted meanwhile is passed over."""
        record = self._core.store.record(SYSTEM, KEY_USES.name, key_id)
        if self._find(key_id) is None:
            return
        before = KEY_USES.value_of(record) or _Used()
        last = moment if before.last_used_at is None else max(before.last_used_at, moment)
        value = msgspec.json.encode(_Used(uses=before.uses + count, last_used_at=last))
        expected = 0 if record is None else record.version
        self._write(Written(collection=KEY_USES.name, key=key_id, value=value, expected=expected))

    def _end(self, key_id: str, now: datetime) -> Key:
        return self._change(key_id, lambda key: replace(key, revoked_at=key.revoked_at or now))

    def _new_id(self) -> str:
        return base64.b32encode(self._core.entropy(_ID_BYTES)).decode("ascii").lower()

    def _press(self, key: Key) -> tuple[_Stored, str]:
        secret = f"{_PREFIX}_{key.id}_{_text(self._core.entropy(_SECRET_BYTES))}"
        return _Stored(key=key, digest=_digest(secret)), secret

    def _count(self, key: Key, now: datetime) -> None:
        with self._lock:
            count, _ = self._uses.get(key.id, (0, now))
            self._uses[key.id] = (count + 1, now)

    def _change(self, key_id: str, change: Callable[[Key], Key]) -> Key:
        """Change a key as it is now, whoever else changes it at the same time."""
        return persisting(lambda: self._try_to_change(key_id, change))

    def _try_to_change(self, key_id: str, change: Callable[[Key], Key]) -> Key:
        stored, version = self._stored(key_id)
        changed = replace(stored, key=change(stored.key))
        self._write(_record(changed, expected=version))
        return changed.key

    def _stored(self, key_id: str) -> tuple[_Stored, int]:
        record = self._core.store.record(SYSTEM, KEYS.name, key_id) if key_id else None
        stored = KEYS.value_of(record)
        if record is None or stored is None:
            raise NotFoundError(f"no key {key_id!r}")
        return stored, record.version

    def _find(self, key_id: str) -> _Stored | None:
        return KEYS.value_of(self._core.store.record(SYSTEM, KEYS.name, key_id)) if key_id else None

    def _write(self, *records: Written) -> None:
        self._core.store.apply(SYSTEM, Batch(records=records))


def _record(stored: _Stored, *, expected: int) -> Written:
    return Written(collection=KEYS.name, key=stored.key.id, value=msgspec.json.encode(stored), expected=expected)


def _new_records(stored: _Stored) -> tuple[Written, ...]:
    """A key and its uses, so that who counts one notices that the key was deleted meanwhile."""
    uses = Written(collection=KEY_USES.name, key=stored.key.id, value=msgspec.json.encode(_Used()), expected=0)
    return _record(stored, expected=0), uses


def _with_uses(key: Key, record: Record | None) -> Key:
    used = KEY_USES.value_of(record)
    return key if used is None else replace(key, uses=used.uses, last_used_at=used.last_used_at)


def read_scope(scope: str) -> Scope:
    """A checked scope; the error names the nearest one."""
    try:
        return Scope(scope)
    except ValueError:
        raise InputError(f"unknown scope {scope!r}: {nearest(str(scope), list(Scope))}") from None


def read_patterns(namespaces: Iterable[str] | None) -> tuple[str, ...] | None:
    """Checked patterns without repeats; None stays None."""
    if namespaces is None:
        return None
    if isinstance(namespaces, str):
        raise InputError("namespaces must be a list of names or patterns, not one string")
    return tuple(dict.fromkeys(label(pattern, "namespaces") for pattern in namespaces))


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    """The earlier of two ends; None never comes."""
    return min((end for end in (one, other) if end is not None), default=None)


def _within(wanted: str, own: str) -> bool:
    """Whether all that `wanted` means, `own` means too."""
    if wanted.endswith("*"):
        return own.endswith("*") and wanted[:-1].startswith(own[:-1])
    return matches(own, wanted)


def _id_in(secret: str) -> str:
    prefix, _, rest = secret.partition("_")
    return rest.partition("_")[0] if prefix == _PREFIX else ""


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")
