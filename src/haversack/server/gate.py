"""The gate before every route: who calls, whether they may come now, and paths whose parts may hold any character.

Nothing behind it is reached without a valid key but the health checks, and pages that let people in themselves. Plain
ASGI, before any of the body is read.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from haversack.engine.haversack import Haversack
from haversack.engine.keys import Key
from haversack.engine.keys import Scope as KeyScope
from haversack.guard.callers import Callers, Failures, address_of, needs_key
from haversack.guard.listening import STREAM, names_loopback
from haversack.guard.pace import Pace
from haversack.guard.refusal import Refused
from haversack.server.caller import Caller
from haversack.server.pages import is_under

__all__ = ["OPEN_PATHS", "Gate", "Guard"]

OPEN_PATHS = frozenset({"/health", "/health/live", "/health/ready"})
"""What answers without a key: whether the server lives, and nothing else."""

_LASTING = re.compile(r"/v1/(?:namespaces/[^/]+/(?:events|export)|jobs/[^/]+/events|audit-log/lines)")
_UNKNOWN = 401
_EPOCH = datetime(1970, 1, 1).astimezone()
_ANYBODY = Key(id="open", name="anybody on this machine", scope=KeyScope.ADMIN, created_at=_EPOCH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """How the gate tells who calls."""

    sack: Haversack
    callers: Callers
    failures: Failures
    is_open: bool
    """Whether a caller without a key is let in, from this machine only."""
    notes_reads: bool = True
    pages: Collection[str] = ()
    """Paths under which applications stand that let people in themselves."""


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
            if is_under(scope["path"], self._guard.pages):
                who, send = f"pages {address_of(scope)}", _counted(scope, receive, send, self._guard.failures)
            else:
                who = await self._caller(scope)
            limit, left = self._pace.take(who, asyncio.get_running_loop().time())
            async with self._turn(scope)(who):
                await self._app(scope, receive, _telling(send, limit, left))
        except Refused as refused:
            await refused.turn_away(scope, receive, send)

    def _turn(self, scope: Scope) -> Callable[[str], AbstractAsyncContextManager[None]]:
        """Answers that last for as long as their receivers please have places of their own."""
        lasting = _LASTING.fullmatch(scope["path"]) if scope["method"] == "GET" else None
        if lasting is None:
            return self._pace.place
        if not lasting[0].endswith("/events"):
            return self._pace.export
        scope["state"][STREAM] = True
        return self._pace.stream

    async def _caller(self, scope: Scope) -> str:
        """The id of the caller's key; the routes find the caller in the request's state."""
        key = await self._guard.callers(scope)
        if key is None and not self._guard.is_open:
            raise needs_key()
        if key is None:
            _check_local(Headers(scope=scope))
            key = _ANYBODY
        scope["state"]["caller"] = Caller(
            self._guard.sack, key, scope["state"]["request_id"], notes_reads=self._guard.notes_reads
        )
        return key.id


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
    if not names_loopback(f"//{headers.get('host', '')}"):
        raise Refused(421, "HOST_NOT_ALLOWED", "without keys this server answers only to localhost; make a key")
    origin = headers.get("origin")
    if origin is not None and not names_loopback(origin):
        raise Refused(403, "CROSS_ORIGIN_REQUEST_REFUSED", "without keys no other site's pages may call; make a key")


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


def _counted(scope: Scope, receive: Receive, send: Send, failures: Failures) -> Send:
    """A `send` that takes a 401 for a failure to come in, and refuses in its place once there were too many."""
    refused: list[Refused] = []

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == _UNKNOWN:
            refusal = failures.count(address_of(scope))
            if refusal.status != _UNKNOWN:
                refused.append(refusal)
                await refusal.answer()(scope, receive, send)
        if not refused:
            await send(message)

    return sent
