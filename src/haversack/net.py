"""Outgoing addresses: only http and https, and no private network unless that is allowed.

A model service, a webhook or a provider's key set is named in settings; this keeps such a setting from being turned on
the machine's own network (cloud metadata, databases, other people's services). A name is resolved here and again when
the connection is made, so a hostile name server could still answer differently the second time.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from haversack.errors import ConfigError

__all__ = ["check_address"]

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


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_this_machine(host: str) -> bool:
    return host == "localhost" or (_is_literal(host) and ipaddress.ip_address(host.partition("%")[0]).is_loopback)


def _is_private(text: str) -> bool:
    """Whether an address is anything but a public one; one that embeds another is judged by that one too."""
    address = ipaddress.ip_address(text.partition("%")[0])
    inner = _embedded(address)
    return not address.is_global or address.is_multicast or (inner is not None and not inner.is_global)


def _embedded(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address inside a mapped, 6to4 or NAT64 one."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour


_NAT64 = ipaddress.ip_network("64:ff9b::/96")
