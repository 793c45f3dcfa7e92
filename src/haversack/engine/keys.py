"""API keys: who may do what in which namespaces. Secrets are stored as hashes and shown once, when a key is made.

A key is `hvs_<id>_<secret>`. The secret is 256 random bits, so one SHA-256 is enough of a hash: there is nothing to
guess. Keys are records of the namespace that spans namespaces, so every process that shares the store sees a revoked
key at once.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from threading import Lock

import msgspec

from haversack.engine.core import Core
from haversack.errors import ConflictError, InputError, NotFoundError, nearest
from haversack.model.text import label
from haversack.store.port import SYSTEM, Batch, Written

__all__ = ["Issued", "Key", "Keyring", "Scope", "matches"]

_COLLECTION = "key"
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
    ) -> Issued:
        """Make a key. Its secret is in the answer and nowhere else."""
        now = self._core.clock()
        if expires_at is not None and expires_at <= now:
            raise InputError(f"expires_at={expires_at.isoformat()} is in the past")
        key = Key(
            id=base64.b32encode(self._core.entropy(_ID_BYTES)).decode("ascii").lower(),
            name=label(name, "name"),
            scope=read_scope(scope),
            namespaces=read_patterns(namespaces),
            created_at=now,
            expires_at=expires_at,
        )
        secret = f"{_PREFIX}_{key.id}_{_text(self._core.entropy(_SECRET_BYTES))}"
        self._write(_Stored(key=key, digest=_digest(secret)), expected=0)
        return Issued(key=key, secret=secret)

    def check(self, secret: str) -> Key | None:
        """The live key of this secret, or None. Takes the same time however much of the secret is right."""
        found = self._find(_id_in(secret))
        right = hmac.compare_digest(_digest(secret), found.digest if found else _NOBODY)
        now = self._core.clock()
        if found is None or not right or not found.key.is_live(now):
            return None
        with self._lock:
            count, _ = self._uses.get(found.key.id, (0, now))
            self._uses[found.key.id] = (count + 1, now)
        return found.key

    def all(self) -> list[Key]:
        """Every key, revoked and expired ones included, by age."""
        records = self._core.store.records(SYSTEM, _COLLECTION, limit=_MOST)
        return sorted((_read(record.value).key for record in records), key=lambda key: (key.created_at, key.id))

    def get(self, key_id: str) -> Key:
        """One key; raises NotFoundError."""
        return self._stored(key_id).key

    def rename(self, key_id: str, name: str) -> Key:
        """Give a key another name."""
        stored = self._stored(key_id)
        key = replace(stored.key, name=label(name, "name"))
        self._write(replace(stored, key=key))
        return key

    def grant(self, key_id: str, namespaces: Iterable[str] | None) -> Key:
        """Give a key these namespaces instead of its own (None: every one)."""
        stored = self._stored(key_id)
        key = replace(stored.key, namespaces=read_patterns(namespaces))
        self._write(replace(stored, key=key))
        return key

    def revoke(self, key_id: str) -> Key:
        """From now on the key opens nothing. It stays listed."""
        stored = self._stored(key_id)
        if stored.key.revoked_at is not None:
            return stored.key
        key = replace(stored.key, revoked_at=self._core.clock())
        self._write(replace(stored, key=key))
        return key

    def rotate(self, key_id: str, *, grace: timedelta = timedelta()) -> Issued:
        """A new key with the same name, scope, namespaces and expiry; the old one works for `grace` longer."""
        if not timedelta() <= grace <= _LONGEST_GRACE:
            raise InputError(f"grace={grace} must be from 0 to {_LONGEST_GRACE.days} days")
        stored, now = self._stored(key_id), self._core.clock()
        old = stored.key
        if not old.is_live(now):
            raise ConflictError(f"key {key_id!r} is revoked or expired: make a new one instead")
        issued = self.create(old.name, scope=old.scope, namespaces=old.namespaces, expires_at=old.expires_at)
        end = min(now + grace, old.expires_at or now + grace)
        left = replace(old, expires_at=end) if grace else replace(old, revoked_at=now)
        self._write(replace(stored, key=replace(left, replaced_by=issued.key.id)))
        return issued

    def delete(self, key_id: str) -> None:
        """Remove a key from the list as well."""
        self._stored(key_id)
        self._core.store.apply(SYSTEM, Batch(records=(Written(collection=_COLLECTION, key=key_id, value=None),)))

    def exist(self) -> bool:
        """Whether any key is live."""
        now = self._core.clock()
        return any(key.is_live(now) for key in self.all())

    def flush(self) -> None:
        """Write how often and when keys were used since the last time."""
        with self._lock:
            uses, self._uses = self._uses, {}
        for key_id, (count, moment) in uses.items():
            found = self._find(key_id)
            if found is not None:
                self._write(replace(found, key=replace(found.key, uses=found.key.uses + count, last_used_at=moment)))

    def _stored(self, key_id: str) -> _Stored:
        found = self._find(key_id)
        if found is None:
            raise NotFoundError(f"no key {key_id!r}")
        return found

    def _find(self, key_id: str) -> _Stored | None:
        record = self._core.store.record(SYSTEM, _COLLECTION, key_id) if key_id else None
        return None if record is None else _read(record.value)

    def _write(self, stored: _Stored, expected: int | None = None) -> None:
        record = Written(
            collection=_COLLECTION, key=stored.key.id, value=msgspec.json.encode(stored), expected=expected
        )
        self._core.store.apply(SYSTEM, Batch(records=(record,)))


def matches(pattern: str, namespace: str) -> bool:
    """Whether a pattern of a key means this namespace: an exact name, or a prefix with a star at its end."""
    return namespace.startswith(pattern[:-1]) if pattern.endswith("*") else namespace == pattern


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


def _read(value: bytes) -> _Stored:
    return msgspec.json.decode(value, type=_Stored)
