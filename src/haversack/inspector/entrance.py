"""Who may look: a one-time token, a key, or anybody on this machine; afterwards a cookie that means a stay.

Stays are in the store, so that every process that shows these pages knows them; only what a printed address opened
belongs to the process that printed it. Each request asks whether the key behind a stay is still good, so a revoked key
closes its pages at once.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from threading import Lock

from haversack.engine.auditing import Deed
from haversack.engine.haversack import Haversack
from haversack.engine.keys import Key, Scope
from haversack.engine.namespace import Namespace
from haversack.errors import HaversackError, NotFoundError

__all__ = ["Denied", "Entrance", "Visitor", "Way"]

_BEGINNING = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


class Denied(HaversackError):  # noqa: N818 - named for what happened
    """The visitor's key does not reach so far."""


class Way(StrEnum):
    """How people come in."""

    TOKEN = "token"  # noqa: S105 - a word, no secret
    """By the address that was printed, once; then everything is theirs. Loopback only."""
    KEY = "key"
    """By a key of the store, with the rights of that key."""
    OPEN = "open"
    """Anybody on this machine may do everything, until the store has its first key. Loopback only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Somebody who came in: what they may do."""

    sack: Haversack
    key: Key
    proof: str
    """Stands in every form of theirs: a page of another site cannot know it."""

    def namespace(self, name: str, scope: Scope = Scope.READ) -> Namespace:
        """The namespace, for a key that may do this much there."""
        if not self.key.scope.covers(scope):
            raise Denied(f"this needs a key with the scope {scope}; yours has {self.key.scope}")
        if not self.key.reaches(name):
            raise Denied(f"your key does not reach the namespace {name!r}")
        return self.sack.namespace(name)

    def namespaces(self) -> list[str]:
        """Names of those it reaches."""
        return self.sack.namespaces(self.key.namespaces)

    @property
    def may_write(self) -> bool:
        """Whether buttons that change something are any use to it."""
        return self.key.scope.covers(Scope.WRITE)

    @property
    def sees_all(self) -> bool:
        """Whether it may hear of the store as a whole."""
        return self.key.namespaces is None and self.key.scope.covers(Scope.ADMIN)

    def note(self, did: str, namespace: str, ids: Iterable[str] = (), *, now: bool = False) -> None:
        """Put it into the audit."""
        self.sack.audit.note(Deed(who=self.key.id, did=did, namespace=namespace, memories=tuple(ids)), now=now)


@dataclass(slots=True, kw_only=True)
class Entrance:
    """The door of one running inspector."""

    sack: Haversack
    way: Way
    clock: Callable[[], datetime]
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    """What the printed address holds, where the way is TOKEN."""
    cookie: str = ""
    """Its name: browsers share cookies between the ports of one machine, so each store has its own, and each inspector
    that printed an address."""
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        """Choose the name of the cookie."""
        mark = secrets.token_hex(4) if self.way is Way.TOKEN else self.sack.stays.mark
        self.cookie = self.cookie or f"haversack-{mark}"

    @property
    def asks(self) -> Way:
        """How people come in by now: a store that has keys stands open no longer."""
        return Way.KEY if self.way is Way.OPEN and self.sack.keys.ever_existed() else self.way

    def visitor(self, cookie: str | None) -> Visitor | None:
        """Who this cookie means now, if anybody."""
        now, asks = self.clock(), self.asks
        stay = self.sack.stays.find(cookie, now) if cookie else None
        if cookie is None or stay is None:
            return None
        key = self._live(stay.key, now) if asks is Way.KEY else _owner()
        if key is None or stay.way != asks:
            self.leave(cookie)
            return None
        return Visitor(sack=self.sack, key=key, proof=_proof(cookie))

    def enter_by_token(self, given: str) -> str | None:
        """The cookie for whoever brings the token; it opens once."""
        with self._lock:
            right = bool(self.token) and hmac.compare_digest(given.encode(), self.token.encode())
            if right:
                self.token = ""
        return self._begin(_owner()) if right and self.way is Way.TOKEN else None

    def enter_by_key(self, secret: str) -> str | None:
        """The cookie for whoever brings a live key."""
        key = self.sack.keys.check(secret.strip()) if self.asks is Way.KEY else None
        return None if key is None else self._begin(key)

    def enter_freely(self) -> str | None:
        """The cookie for anybody, where anybody may come in."""
        return self._begin(_owner()) if self.asks is Way.OPEN else None

    def leave(self, cookie: str | None) -> None:
        """End a stay."""
        if cookie:
            self.sack.stays.end(cookie)

    def _begin(self, key: Key) -> str:
        cookie = secrets.token_urlsafe(32)
        self.sack.stays.begin(cookie, key.id, self.asks, self.clock(), here=self.way is Way.TOKEN)
        return cookie

    def _live(self, key_id: str, now: datetime) -> Key | None:
        try:
            key = self.sack.keys.get(key_id)
        except NotFoundError:
            return None
        return key if key.is_live(now) else None


def _proof(cookie: str) -> str:
    """Return what only who has the cookie can know, and who sees it cannot make a cookie of."""
    return hashlib.sha256(f"proof:{cookie}".encode()).hexdigest()


def _owner() -> Key:
    return Key(id="inspector", name="the owner of this store", scope=Scope.ADMIN, created_at=_BEGINNING)
