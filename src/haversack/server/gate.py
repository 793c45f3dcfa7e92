"""The gate before every route: who calls, whether they may come now, and paths whose parts may hold any character.

Nothing behind it is reached without a valid key but the health checks. Plain ASGI, before any of the body is read.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import unquote_to_bytes, urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from haversack.engine.haversack import Haversack
from haversack.engine.keys import Key
from haversack.engine.keys import Scope as KeyScope
from haversack.server.caller import Caller
from haversack.server.pace import Pace
from haversack.server.problem import Refused, problem_of

__all__ = ["OPEN_PATHS", "Gate"]

OPEN_PATHS = frozenset({"/health", "/health/live", "/health/ready"})
"""What answers without a key: whether the server lives, and nothing else."""

_BEARER = re.compile(r"[Bb]earer ([\x21-\x7e]+)")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_EPOCH = datetime(1970, 1, 1).astimezone()
_ANYBODY = Key(id="open", name="anybody on this machine", scope=KeyScope.ADMIN, created_at=_EPOCH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """How the gate tells who calls."""

    sack: Haversack
    is_open: bool
    """Whether a caller without a key is let in, from this machine only."""
    notes_reads: bool = True
    token: Callable[[str], Key | None] | None = None
    """Reads an identity provider's bearer token."""


class Gate:
    """Middleware."""

    def __init__(self, app: ASGIApp, guard: Guard, pace: Pace) -> None:
        self._app = app
        self._guard = guard
        self._pace = pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through with its caller, or answer why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            scope["path"] = _encoded_path(scope)
            if scope["path"] in OPEN_PATHS:
                await self._app(scope, receive, send)
                return
            key = await self._caller(Headers(scope=scope))
            limit, left = self._pace.take(key.id, asyncio.get_running_loop().time())
            scope["state"]["caller"] = Caller(
                self._guard.sack, key, scope["state"]["request_id"], notes_reads=self._guard.notes_reads
            )
            turn = self._pace.stream if scope["path"].endswith("/events") else self._pace.place
            async with turn(key.id):
                await self._app(scope, receive, _telling(send, limit, left))
        except Refused as refused:
            refused.headers.setdefault("connection", "close")
            await problem_of(refused)(scope, receive, send)

    async def _caller(self, headers: Headers) -> Key:
        given = headers.getlist("authorization")
        if not given:
            if self._guard.is_open:
                _check_local(headers)
                return _ANYBODY
            raise _unknown("AUTHENTICATION_REQUIRED", "send a key: Authorization: Bearer hvs_…")
        found = _BEARER.fullmatch(given[0]) if len(given) == 1 else None
        key = None
        if found:
            key = self._guard.sack.keys.recent(found[1]) or await asyncio.to_thread(self._key_of, found[1])
        if key is None:
            raise _unknown("INVALID_API_KEY", "this key is not known, or it is revoked or expired")
        return key

    def _key_of(self, secret: str) -> Key | None:
        if secret.startswith("hvs_") or self._guard.token is None:
            return self._guard.sack.keys.check(secret)
        return self._guard.token(secret)


def _encoded_path(scope: Scope) -> str:
    """The path as it was sent, still percent-encoded: routes decode part by part, so a slash stays in its part."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    try:
        unquote_to_bytes(raw).decode("utf-8")
        return raw.decode("ascii")
    except UnicodeDecodeError:
        raise Refused(400, "INVALID_REQUEST", "the path must be percent-encoded UTF-8") from None


def _check_local(headers: Headers) -> None:
    """Without keys, only programs of this machine: a web page must not reach in through the browser."""
    if not _is_loopback(f"//{headers.get('host', '')}"):
        raise Refused(421, "HOST_NOT_ALLOWED", "without keys this server answers only to localhost; make a key")
    origin = headers.get("origin")
    if origin is not None and not _is_loopback(origin):
        raise Refused(403, "CROSS_ORIGIN_REQUEST_REFUSED", "without keys no other site's pages may call; make a key")


def _is_loopback(address: str) -> bool:
    try:
        return urlsplit(address).hostname in _LOOPBACK
    except ValueError:
        return False


def _telling(send: Send, limit: int, left: int) -> Send:
    """A `send` that adds how much of the rate is left."""
    if not limit:
        return send

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            told = [(b"x-ratelimit-limit", b"%d" % limit), (b"x-ratelimit-remaining", b"%d" % left)]
            message = {**message, "headers": [*message["headers"], *told]}
        await send(message)

    return sent


def _unknown(code: str, detail: str) -> Refused:
    return Refused(401, code, detail, headers={"www-authenticate": "Bearer"})
