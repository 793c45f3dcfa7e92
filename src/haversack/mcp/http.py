"""MCP over streamable HTTP: a key for every request, or loopback alone; the namespace is in the address."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from haversack.engine.haversack import Haversack
from haversack.engine.keys import Key
from haversack.errors import InputError
from haversack.guard import refusal
from haversack.guard.address import address_of
from haversack.guard.bearer import token_reader
from haversack.guard.body import BodyLimits
from haversack.guard.callers import Callers, Failures, needs_key
from haversack.guard.denials import DENIED, Answered, Denial, Denials
from haversack.guard.headers import single_headers
from haversack.guard.listening import STREAM, Listener, is_loopback, listener
from haversack.guard.local import check_open_start
from haversack.guard.pace import Pace
from haversack.guard.settings import Limits, TokenSettings
from haversack.guard.streams import while_it_opens
from haversack.guard.waiting import unless_client_leaves
from haversack.mcp.caller import NOBODY, Caller, Refused
from haversack.mcp.server import create_server
from haversack.mcp.sessions import Sessions
from haversack.mcp.tools import ToolOptions
from haversack.mcp.work import Work

__all__ = ["HttpOptions", "create_app", "serve_http"]

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_MOST_NAMED = 200
"""Characters of a refused name that are kept."""
_PATIENCE = 60.0
"""Seconds for which a call may wait for its place: the clients do not come again by themselves."""
_DRAIN_SECONDS = 5.0
"""Clients keep a stream open for as long as they live, so at the end nobody waits longer for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """How the server is reached."""

    host: str = "127.0.0.1"
    port: int = 8765
    """0: any that is free; the address is said on stderr."""
    open: bool = False
    """Whether callers need no key: only where just this machine can call."""
    names: tuple[str, ...] = ()
    """Host names by which it is called, beside those of loopback; any other is refused (DNS rebinding)."""
    limits: Limits = field(default_factory=Limits)
    tokens: TokenSettings | None = None
    """Whether an identity provider's tokens are taken beside keys."""

    def __post_init__(self) -> None:
        if self.open and not is_loopback(self.host):
            raise InputError(f"host={self.host!r} can be reached by others: without keys only loopback is served")


def create_app(
    sack: Haversack, *, namespace: str, http: HttpOptions | None = None, options: ToolOptions | None = None
) -> Starlette:
    """The ASGI application with the one route `/mcp`; `?namespace=` chooses another namespace than the given one."""
    reached = http or HttpOptions()
    denials = Denials(sack)
    server = create_server(_CallerOf(sack, namespace, reached, denials), Work(sack), options or ToolOptions())
    manager = StreamableHTTPSessionManager(
        server, security_settings=_guard(reached), session_idle_timeout=reached.limits.session_seconds
    )
    middleware = [
        Middleware(_Gate, sack=sack, http=reached, denials=denials),
        Middleware(BodyLimits, limits=reached.limits),
    ]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with manager.run():
            yield

    return Starlette(
        routes=[Route("/mcp", endpoint=StreamableHTTPASGIApp(manager))], middleware=middleware, lifespan=lifespan
    )


def serve_http(
    sack: Haversack,
    *,
    namespace: str,
    http: HttpOptions,
    options: ToolOptions | None = None,
    log_level: str = "WARNING",
) -> None:
    """Serve until interrupted. Raises ConfigError where it should be open to all and may not be."""
    if http.open:
        check_open_start(sack, http.host)
    logging.basicConfig(stream=sys.stderr, level=log_level, force=True)
    app = create_app(sack, namespace=namespace, http=http, options=options)
    listening = socket.create_server((http.host, http.port), family=_family(http.host), reuse_port=False)
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    sys.stderr.write(f"haversack: MCP at http://{shown}:{port}/mcp\n")
    sys.stderr.flush()
    limits = replace(http.limits, drain_seconds=min(http.limits.drain_seconds, _DRAIN_SECONDS))
    Listener(listener(app, limits)).run(sockets=[listening])


class _Holder(AuthenticatedUser):
    """Who showed a key. A protocol session is bound to the key's id; the secret goes no further."""

    def __init__(self, key: Key) -> None:
        super().__init__(AccessToken(token=key.id, client_id=key.id, scopes=[str(key.scope)]))
        self.key = key


class _Gate:
    """Middleware: who calls, and whether they may come now. The stream of a GET has a place of its own."""

    def __init__(self, app: ASGIApp, sack: Haversack, http: HttpOptions, denials: Denials) -> None:
        self._app = app
        self._sack = sack
        self._http = http
        self._denials = denials
        read_token = None if http.tokens is None else token_reader(http.tokens)
        self._callers = Callers(sack, Failures(http.limits), read_token)
        self._sessions = Sessions(http.limits.key_sessions)
        limits = replace(http.limits, wait_seconds=max(http.limits.wait_seconds, _PATIENCE))
        self._pace = Pace(limits.within(sack.threads.most), partial(sack.threads.check, sack.allowances.lend))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = Answered(send)
        try:
            single_headers(scope)
            is_stream = scope["method"] == "GET"
            async with AsyncExitStack() as place:
                key = await self._caller(scope)
                who = NOBODY if key is None else key.id
                await self._pace.admit(who, asyncio.get_running_loop().time())
                async with unless_client_leaves(scope):
                    await place.enter_async_context((self._pace.stream if is_stream else self._pace.place)(who))
                within = partial(self._within_session, who)
                if is_stream:
                    scope["state"][STREAM] = True
                    every = self._http.limits.key_check_seconds
                    await while_it_opens(within, (scope, receive, answer), lambda: self._opens(key), every=every)
                else:
                    await within(scope, receive, answer)
        except refusal.Refused as refused:
            await refused.turn_away(scope, receive, answer)
        finally:
            if answer.status in DENIED:
                user: _Holder | None = scope.get("user")
                self._denials.note(
                    Denial(
                        status=answer.status,
                        address=address_of(scope),
                        route=f"{scope['method'][:10]} /mcp",
                        key=user.key if user else None,
                    )
                )

    async def _within_session(self, who: str, scope: Scope, receive: Receive, send: Send) -> None:
        given = Headers(scope=scope).get(MCP_SESSION_ID_HEADER)
        if given is not None:
            with self._sessions.used(who, given):
                await self._app(scope, receive, send)
            return

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start" and (
                session := Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER)
            ):
                self._sessions.opened(who, session)
            await send(message)

        await self._app(scope, receive, told)
        for session in self._sessions.beyond(who):
            await self._end(scope, session)

    async def _end(self, scope: Scope, session: str) -> None:
        """End a session of the caller's as its client would."""
        kept = [(name, value) for name, value in scope["headers"] if name in {b"host", b"origin"}]
        headers = [*kept, (MCP_SESSION_ID_HEADER.encode(), session.encode()), (b"accept", b"application/json")]
        await self._app({**scope, "method": "DELETE", "headers": headers}, _nothing, _nowhere)

    async def _caller(self, scope: Scope) -> Key | None:
        """The key that is shown; None for somebody who needs none."""
        key = await self._callers(scope)
        if key is not None:
            scope["user"] = _Holder(key)
        elif self._http.open:
            await self._callers.admit_nobody(scope)
        else:
            raise needs_key()
        return key

    async def _opens(self, key: Key | None) -> bool:
        keys, threads = self._sack.keys, self._sack.threads
        if key is None:
            return not await threads.check(keys.ever_existed)
        return await threads.check(keys.still_opens, key)


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _nowhere(message: Message) -> None:
    del message


class _CallerOf:
    """The caller of a request: the key that was shown, and the namespace in the address."""

    def __init__(self, sack: Haversack, namespace: str, http: HttpOptions, denials: Denials) -> None:
        self._sack = sack
        self._namespace = namespace
        self._open = http.open
        self._denials = denials

    def __call__(self, ctx: ServerRequestContext[Any, Any]) -> Caller:
        request = ctx.request
        if request is None:
            raise Refused("this call came without a request to authorise it")
        user = request.scope.get("user")
        if not self._open and not isinstance(user, _Holder):
            raise Refused("this needs a key")
        namespace = request.query_params.get("namespace", self._namespace)
        return Caller(
            sack=self._sack,
            namespace=namespace,
            key=user.key if isinstance(user, _Holder) else None,
            denied=partial(self._note, address_of(request.scope), namespace[:_MOST_NAMED]),
        )

    def _note(self, address: str, namespace: str, code: str, key: Key) -> None:
        denial = Denial(status=403, address=address, route="POST /mcp", key=key, code=code, namespace=namespace)
        self._denials.note(denial)


def _guard(http: HttpOptions) -> TransportSecuritySettings:
    """Only these names may stand in Host and Origin, so that no web page reaches the server by a name of its own."""
    names = (*_LOOPBACK, *http.names)
    hosts = [*names, *(f"{name}:*" for name in names)]
    origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
