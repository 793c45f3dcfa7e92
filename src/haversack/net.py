"""Outgoing addresses: only http and https, and no private network unless that is allowed.

A model service, a webhook or a provider's key set is named in settings; this keeps such a setting from being turned on
the machine's own network (cloud metadata, databases, other people's services). A name server may answer otherwise the
next time, so `opener` checks every address again as it connects, and connects to that address and no other.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    Request,
    build_opener,
)

from haversack.errors import ConfigError

__all__ = ["check_address", "opener"]

Resolve = Callable[[str], Iterable[str]]


def _addresses(host: str) -> list[str]:
    """None for a host that cannot be found now: the call itself will say so."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [str(place[4][0]) for place in found]


def check_address(
    url: str,
    *,
    what: str = "the address",
    allow_private: bool = False,
    allow_this_machine: bool = False,
    resolve: Resolve = _addresses,
) -> str:
    """The address itself when it may be called; raises ConfigError that says why not, and `what` it is for.

    With `allow_private` any host may be called; with `allow_this_machine` also `localhost` and loopback addresses that
    are written out, as is right for a model of one's own.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ConfigError(f"{what} {url!r} is no address") from None
    if "%" in parts.netloc.partition("[")[0]:
        raise ConfigError(f"{what} {url!r} must write its host plainly, without percent signs")
    if parts.scheme not in {"http", "https"} or not host:
        raise ConfigError(f"{what} {url!r} must begin with https:// or http:// and name a host")
    if parts.username is not None or parts.password is not None:
        raise ConfigError(f"{what} must not hold a name and password; they would end up in logs")
    if not allow_private and not (allow_this_machine and _is_this_machine(host)):
        for address in [host] if _is_literal(host) else resolve(host):
            if _is_private(address):
                raise ConfigError(
                    f"{what} {url!r} leads to the private address {address}: say `allow_private: true` if that is meant"
                )
    return url


def opener(*, allow_private: bool = False, allow_this_machine: bool = False) -> OpenerDirector:
    """Return a urllib opener that follows no redirect and connects to no address that `check_address` would refuse.

    Opening raises ConfigError for such an address. A proxy that the environment names is connected to as it is.
    """

    def connect(
        place: tuple[str, int], timeout: float | None = None, source: tuple[str, int] | None = None
    ) -> socket.socket:
        host, port = place
        trusted = allow_private or (allow_this_machine and _is_this_machine(host))
        refused: OSError = OSError(f"no address was found for {host}")
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            if not trusted and _is_private(str(address[0])):
                raise ConfigError(f"{host} leads to the private address {address[0]}")
            connection = socket.socket(family, kind, protocol)
            try:
                connection.settimeout(timeout)
                if source:
                    connection.bind(source)
                connection.connect(address)
            except OSError as error:
                connection.close()
                refused = error
            else:
                return connection
        raise refused

    return build_opener(_NoRedirect, _Http(connect), _Https(connect))


class _NoRedirect(HTTPRedirectHandler):
    """A redirect would carry the key to an address that nobody configured."""

    def redirect_request(self, *_args: object, **_options: object) -> None:
        return None


_Connect = Callable[..., socket.socket]


class _Http(HTTPHandler):
    def __init__(self, connect: _Connect) -> None:
        super().__init__()
        self._connect = connect

    def http_open(self, req: Request) -> http.client.HTTPResponse:
        return self.do_open(_through(http.client.HTTPConnection, req, self._connect), req)


class _Https(HTTPSHandler):
    def __init__(self, connect: _Connect) -> None:
        super().__init__()
        self._connect = connect

    def https_open(self, req: Request) -> http.client.HTTPResponse:
        return self.do_open(_through(http.client.HTTPSConnection, req, self._connect), req)


def _through(
    kind: Callable[..., http.client.HTTPConnection], request: Request, connect: _Connect
) -> Callable[..., http.client.HTTPConnection]:
    """Connections of this kind, made by `connect` unless the request goes to a proxy."""

    def make(host: str, **options: object) -> http.client.HTTPConnection:
        connection = kind(host, **options)
        if not request.has_proxy():
            connection._create_connection = connect  # pyright: ignore[reportAttributeAccessIssue] # noqa: SLF001
        return connection

    return make


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_this_machine(host: str) -> bool:
    if not _is_literal(host):
        return host == "localhost"
    address = ipaddress.ip_address(host.partition("%")[0])
    return address.is_loopback and _embedded(address) is None  # what Python says of an embedded one has changed


def _is_private(text: str) -> bool:
    """Whether an address is anything but a public one; one that embeds another is judged by that one too."""
    address = ipaddress.ip_address(text.partition("%")[0])
    inner = _embedded(address)
    if inner is not None and not inner.is_global:
        return True
    return not address.is_global or address.is_multicast or any(address in network for network in _LOCAL)


def _embedded(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address inside a mapped, compatible, translated, 6to4 or NAT64 one."""
    if isinstance(address, ipaddress.IPv4Address) or int(address) <= 1:  # unspecified and loopback hold none
        return None
    if any(address in network for network in _TAILS):
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return ipaddress.IPv4Address(int(address) >> 80 & 0xFFFF_FFFF) if address in _SIX_TO_FOUR else None


_TAILS = tuple(map(ipaddress.ip_network, ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
"""Networks whose last 32 bits are an IPv4 address: compatible, mapped, translated, NAT64 (RFC 4291, 2765, 6052)."""
_LOCAL = tuple(map(ipaddress.ip_network, ("64:ff9b:1::/48",)))
"""Private whatever a version of Python says: NAT64 for local use (RFC 8215)."""
_SIX_TO_FOUR = ipaddress.ip_network("2002::/16")
