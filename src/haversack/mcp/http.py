"""MCP over streamable HTTP: a key for every request, or loopback alone; the namespace is in the address."""

from __future__ import annotations

import ipaddress
import logging
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from anyio.to_thread import run_sync
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.authentication import AuthCredentials, AuthenticationBackend
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection
from starlette.routing import Route

from haversack.engine.haversack import Haversack
from haversack.engine.keys import Key
from haversack.errors import InputError
from haversack.mcp.caller import Caller, Refused
from haversack.mcp.server import create_server
from haversack.mcp.tools import ToolOptions
from haversack.mcp.work import Work

__all__ = ["HttpOptions", "create_app", "serve_http"]

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_CONNECTIONS = 1_000
_GRACE_SECONDS = 5


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

    def __post_init__(self) -> None:
        if self.open and not _is_loopback(self.host):
            raise InputError(f"host={self.host!r} can be reached by others: without keys only loopback is served")


def create_app(
    sack: Haversack, *, namespace: str, http: HttpOptions | None = None, options: ToolOptions | None = None
) -> Starlette:
    """The ASGI application with the one route `/mcp`; `?namespace=` chooses another namespace than the given one."""
    reached = http or HttpOptions()
    server = create_server(_CallerOf(sack, namespace, reached), Work(sack), options or ToolOptions())
    manager = StreamableHTTPSessionManager(server, security_settings=_guard(reached))
    door: Any = StreamableHTTPASGIApp(manager)
    middleware: list[Middleware] = []
    if not reached.open:
        door = RequireAuthMiddleware(door, required_scopes=[])
        middleware.append(Middleware(AuthenticationMiddleware, backend=_Keys(sack)))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with manager.run():
            yield

    return Starlette(routes=[Route("/mcp", endpoint=door)], middleware=middleware, lifespan=lifespan)


def serve_http(
    sack: Haversack,
    *,
    namespace: str,
    http: HttpOptions,
    options: ToolOptions | None = None,
    log_level: str = "WARNING",
) -> None:
    """Serve until interrupted."""
    logging.basicConfig(stream=sys.stderr, level=log_level, force=True)
    app = create_app(sack, namespace=namespace, http=http, options=options)
    listening = socket.create_server((http.host, http.port), family=_family(http.host), reuse_port=False)
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    sys.stderr.write(f"haversack: MCP at http://{shown}:{port}/mcp\n")
    sys.stderr.flush()
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[listening])


class _Holder(AuthenticatedUser):
    """Who showed a key. A protocol session is bound to the key's id; the secret goes no further."""

    def __init__(self, key: Key) -> None:
        super().__init__(AccessToken(token=key.id, client_id=key.id, scopes=[str(key.scope)]))
        self.key = key


class _Keys(AuthenticationBackend):
    """Checks `Authorization: Bearer hvs_…` with the store's keys, at every request."""

    def __init__(self, sack: Haversack) -> None:
        self._sack = sack

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, _Holder] | None:
        scheme, _, secret = conn.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        key = await run_sync(self._sack.keys.check, secret.strip())
        return None if key is None else (AuthCredentials([str(key.scope)]), _Holder(key))


class _CallerOf:
    """The caller of a request: the key that was shown, and the namespace in the address."""

    def __init__(self, sack: Haversack, namespace: str, http: HttpOptions) -> None:
        self._sack = sack
        self._namespace = namespace
        self._open = http.open

    def __call__(self, ctx: ServerRequestContext[Any, Any]) -> Caller:
        request = ctx.request
        if request is None:
            raise Refused("this call came without a request to authorise it")
        user = request.scope.get("user")
        if not self._open and not isinstance(user, _Holder):
            raise Refused("this needs a key")
        return Caller(
            sack=self._sack,
            namespace=request.query_params.get("namespace", self._namespace),
            key=user.key if isinstance(user, _Holder) else None,
        )


def _guard(http: HttpOptions) -> TransportSecuritySettings:
    """Only these names may stand in Host and Origin, so that no web page reaches the server by a name of its own."""
    names = (*_LOOPBACK, *http.names)
    hosts = [*names, *(f"{name}:*" for name in names)]
    origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
