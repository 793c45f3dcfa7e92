"""Calls over the standard library's HTTP client that go where they were checked to go, and nowhere else.

A host is resolved once for each connection; what was resolved is checked and then connected to, so that no name server
can answer differently in between. Redirects are not followed: they would carry keys and words to an address that nobody
configured. Where the environment names a proxy for the host, the proxy resolves and connects.
"""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
    getproxies,
    proxy_bypass,
)

from haversack.errors import ConfigError
from haversack.net import Resolve, checked_addresses, resolved

__all__ = ["Way", "opener_for"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Where a connection may lead."""

    allow_private: bool = False
    allow_this_machine: bool = False
    resolve: Resolve = field(default=resolved)

    def connect(self, host: str, port: int, timeout: float | None) -> socket.socket:
        """Connect to an address of the host that was checked; raises OSError, also for one that may not be called."""
        try:
            addresses = checked_addresses(
                host,
                allow_private=self.allow_private,
                allow_this_machine=self.allow_this_machine,
                resolve=self.resolve,
            )
        except ConfigError as error:
            raise PermissionError(f"it {error}") from None
        failed: OSError = socket.gaierror(f"no address is known for {host}")
        for address in addresses:
            try:
                return socket.create_connection((address, port), timeout)
            except OSError as error:
                failed = error
        raise failed


def opener_for(url: str, way: Way) -> OpenerDirector:
    """Return an opener for calls to this address."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme in getproxies() and not proxy_bypass(host):
        return build_opener(_NoRedirect)
    return build_opener(_NoRedirect, ProxyHandler({}), _Plain(way), _Secure(way))


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_args: object, **_options: object) -> None:
        return None


class _Plain(HTTPHandler):
    def __init__(self, way: Way) -> None:
        super().__init__()
        self._way = way

    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(self._connection, req)

    def _connection(self, host: str, **options: Any) -> HTTPConnection:
        return _PlainConnection(host, way=self._way, **options)


class _Secure(HTTPSHandler):
    def __init__(self, way: Way) -> None:
        super().__init__()
        self._way = way

    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(self._connection, req)

    def _connection(self, host: str, **options: Any) -> HTTPConnection:
        return _SecureConnection(host, way=self._way, **options)


class _PlainConnection(HTTPConnection):
    def __init__(self, host: str, *, way: Way, **options: Any) -> None:
        super().__init__(host, **options)
        self._way = way

    def connect(self) -> None:
        self.sock = self._way.connect(self.host, self.port, self.timeout)


class _SecureConnection(HTTPSConnection):
    def __init__(self, host: str, *, way: Way, **options: Any) -> None:
        self._trust = ssl.create_default_context()
        super().__init__(host, context=self._trust, **options)
        self._way = way

    def connect(self) -> None:
        raw = self._way.connect(self.host, self.port, self.timeout)
        try:
            self.sock = self._trust.wrap_socket(raw, server_hostname=self.host)
        except BaseException:
            raw.close()
            raise
