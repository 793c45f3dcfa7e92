"""The gate before every route: who calls, whether they may come now, and paths whose parts may hold any character.

Nothing behind it is reached without a valid key of the route's scope but what says of itself that it is open, and pages
that let people in themselves. Plain ASGI, before any of the body is read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from haversack.engine.haversack import Haversack
from haversack.engine.keys import Key
from haversack.engine.keys import Scope as KeyScope
from haversack.guard.address import address_of
from haversack.guard.body import FILE
from haversack.guard.callers import Callers, Failures, needs_key
from haversack.guard.denials import DENIED, Answered, Denial, Denials
from haversack.guard.headers import single_headers
from haversack.guard.listening import STREAM
from haversack.guard.pace import Pace
from haversack.guard.refusal import Refused
from haversack.guard.streams import while_it_opens
from haversack.guard.waiting import unless_client_leaves
from haversack.server.caller import Caller
from haversack.server.declared import Declared, Table
from haversack.server.pages import is_under

__all__ = ["OPEN_PATHS", "Gate", "Guard"]

OPEN_PATHS = frozenset({"/health", "/health/live", "/health/ready", "/openapi.json"})
"""What answers without a key: whether the server lives, and what any server of this version can be asked."""

ROUTE = "haversack.route"
"""Where in the `state` of a request the route stands that it means."""
_UNKNOWN = 401
_EPOCH = datetime(1970, 1, 1).astimezone()
_ANYBODY = Key(id="open", name="anybody on this machine", scope=KeyScope.ADMIN, created_at=_EPOCH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """How the gate tells who calls."""

    sack: Haversack
    callers: Callers
    failures: Failures
    denials: Denials
    table: Table
    is_open: bool
    """Whether a caller without a key is let in, from this machine only, while the store never had one."""
    key_check_seconds: float
    """How often a stream asks whether its key still opens it."""
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
        seen = Answered(send)
        refused = None
        try:
            await self._let_in(scope, receive, seen)
        except Refused as error:
            refused = error
            await refused.turn_away(scope, receive, seen)
        finally:
            if seen.status in DENIED:
                self._note(scope, seen.status, refused or scope["state"].get("refused"))

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["path"] = _encoded_path(scope)
        single_headers(scope)
        if scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        async with AsyncExitStack() as place:
            declared, send = await self._admitted(place, scope, receive, send)
            await self._answer(declared, (scope, receive, send))

    async def _admitted(
        self, place: AsyncExitStack, scope: Scope, receive: Receive, send: Send
    ) -> tuple[Declared | None, Send]:
        """Check who calls and wait for a place; return what is asked for, and the `send` to answer with."""
        declared = scope["state"][ROUTE] = self._guard.table.find(scope["method"], scope["path"])
        is_page = is_under(scope["path"], self._guard.pages)
        if is_page:
            who, send = f"pages {address_of(scope)}", _counted(scope, receive, send, self._guard.failures)
        else:
            who = await self._caller(scope)
        limit, left = await self._pace.admit(who, asyncio.get_running_loop().time())
        if declared is not None and not is_page:
            declared.admit(scope["state"]["caller"], scope["path"])
        async with unless_client_leaves(scope):
            await place.enter_async_context(self._place(who, declared))
        return declared, _telling(send, limit, left)

    def _place(self, who: str, declared: Declared | None) -> AbstractAsyncContextManager[None]:
        if declared is None or not (declared.is_stream or declared.is_export):
            return self._pace.place(who)
        return self._pace.stream(who) if declared.is_stream else self._pace.export(who)

    async def _answer(self, declared: Declared | None, call: tuple[Scope, Receive, Send]) -> None:
        state = call[0]["state"]
        if declared is not None and declared.is_stream:
            state[STREAM] = True
            await while_it_opens(
                self._app, call, lambda: self._still_opens(state["caller"]), every=self._guard.key_check_seconds
            )
            return
        if declared is not None and declared.takes_file:
            state[FILE] = True
        await self._app(*call)

    async def _caller(self, scope: Scope) -> str:
        """The id of the caller's key; the routes find the caller in the request's state."""
        key = await self._guard.callers(scope)
        if key is None and not self._guard.is_open:
            raise needs_key()
        if key is None:
            await self._guard.callers.admit_nobody(scope)
            key = _ANYBODY
        scope["state"]["caller"] = Caller(
            self._guard.sack, key, scope["state"]["request_id"], notes_reads=self._guard.notes_reads
        )
        return key.id

    async def _still_opens(self, caller: Caller) -> bool:
        sack = self._guard.sack
        if caller.key is _ANYBODY:
            return not await sack.threads.check(sack.keys.ever_existed)
        return await sack.threads.check(sack.keys.still_opens, caller.key)

    def _note(self, scope: Scope, status: int, refused: Refused | None) -> None:
        state = scope["state"]
        who = state.get("caller") or state.get("visitor")
        declared: Declared | None = state.get(ROUTE)
        self._guard.denials.note(
            Denial(
                status=status,
                address=address_of(scope),
                route=f"{scope['method'][:10]} {declared.path if declared else state.get('page', 'none')}",
                key=who.key if who else None,
                code=refused.code if refused else None,
                namespace=refused.namespace if refused else None,
                request=state["request_id"],
            )
        )


def _encoded_path(scope: Scope) -> str:
    """The path as it was sent, still percent-encoded: routes decode part by part, so a slash stays in its part."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    try:
        unquote_to_bytes(raw).decode("utf-8")
        return raw.decode("ascii")
    except UnicodeDecodeError:
        raise Refused(400, "INVALID_REQUEST", "the path must be percent-encoded UTF-8") from None


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
