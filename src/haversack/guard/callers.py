"""Who calls: by a key of the store, or by an identity provider's token. Wrong ones are counted by where they come from.

A caller with a valid key is let in whatever comes from the same address: behind a proxy all have one address, and a
secret of 256 random bits is not found by trying. The count keeps a loop of failures cheap, and tells it to slow down.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import Scope

from haversack.engine.haversack import Haversack
from haversack.engine.keys import Key
from haversack.errors import StoreError
from haversack.guard.address import address_of
from haversack.guard.local import check_local
from haversack.guard.pace import Buckets
from haversack.guard.refusal import Refused, too_many
from haversack.guard.settings import Limits

__all__ = ["Callers", "Failures", "ReadToken", "needs_key", "unknown_key"]

ReadToken = Callable[[str], Key | None]
"""The key that a token stands for, or None."""

_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] ([\x21-\x7e]+)")


class Failures:
    """How often each address failed to say who it is."""

    def __init__(self, limits: Limits) -> None:
        self._failures = Buckets(limits.failures_per_minute)

    def count(self, address: str) -> Refused:
        """Count one more; the answer that it deserves."""
        if self._failures.per_minute:
            left = self._failures.take(address, asyncio.get_running_loop().time())
            if left < 0:
                return too_many("too many wrong keys came from this address", -left)
        return unknown_key()


class Callers:
    """Checks `Authorization: Bearer` at every request."""

    def __init__(self, sack: Haversack, failures: Failures, read_token: ReadToken | None = None) -> None:
        self._sack = sack
        self._failures = failures
        self._read_token = read_token

    async def __call__(self, scope: Scope) -> Key | None:
        """The caller's key, None where none is shown; Refused where it is no good."""
        given = Headers(scope=scope).getlist("authorization")
        if not given:
            return None
        found = _BEARER.fullmatch(given[0]) if len(given) == 1 else None
        try:
            key = await self._key_of(found[1]) if found else None
        except StoreError:
            raise _cannot_read() from None
        if key is None:
            raise self._failures.count(address_of(scope))
        return key

    async def admit_nobody(self, scope: Scope) -> None:
        """Refuse a caller who shows no key, but to a store that never had one and on this machine alone."""
        try:
            has_keys = self._read_token is not None or await self._sack.threads.check(self._sack.keys.ever_existed)
        except StoreError:
            raise _cannot_read() from None
        if has_keys:
            raise needs_key()
        check_local(Headers(scope=scope))

    async def _key_of(self, secret: str) -> Key | None:
        if secret.startswith("hvs_") or self._read_token is None:
            return await self._sack.threads.check(self._sack.keys.check, secret)
        return await self._sack.threads.run(self._read_token, secret)  # it may fetch the provider's keys: not short


def needs_key() -> Refused:
    """The answer to who shows none."""
    return _unknown("AUTHENTICATION_REQUIRED", "send a key: Authorization: Bearer hvs_…")


def unknown_key() -> Refused:
    """The answer to who shows one that opens nothing."""
    return _unknown("INVALID_API_KEY", "this key is not known, or it is revoked or expired")


def _cannot_read() -> Refused:
    return Refused(503, "SERVICE_UNAVAILABLE", "keys cannot be read now", headers={"retry-after": "1"})


def _unknown(code: str, detail: str) -> Refused:
    return Refused(401, code, detail, headers={"www-authenticate": "Bearer"})
