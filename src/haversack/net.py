"""Outgoing addresses: only http and https, and no private network unless that is allowed.

A model service, a webhook or a provider's key set is named in settings; this keeps such a setting from being turned on
the machine's own network (cloud metadata, databases, other people's services). What counts as private stands here and
not in `ipaddress`, whose answers differ between versions of Python.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from haversack.errors import ConfigError
from haversack.redact import without_secrets

__all__ = ["Resolve", "check_address", "checked_addresses", "resolved"]

Resolve = Callable[[str], Iterable[str]]
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def resolved(host: str) -> list[str]:
    """Return the addresses of a host; none for one that cannot be found now: the call itself will say so."""
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
    resolve: Resolve = resolved,
) -> str:
    """The address itself when it may be called; raises ConfigError that says why not, and `what` it is for.

    With `allow_private` any host may be called; with `allow_this_machine` also `localhost` and loopback addresses that
    are written out, as is right for a model of one's own.
    """
    shown = without_secrets(url) if "://" in url or "@" not in url else "…"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ConfigError(f"{what} {shown!r} is no address") from None
    if parts.scheme not in {"http", "https"} or not host:
        raise ConfigError(f"{what} {shown!r} must begin with https:// or http:// and name a host")
    if parts.username is not None or parts.password is not None:
        raise ConfigError(f"{what} must not hold a name and password; they would end up in logs")
    if "%" in host and not _is_literal(host):
        raise ConfigError(f"{what} {shown!r} has a host with %: clients read that differently, write the host itself")
    try:
        checked_addresses(host, allow_private=allow_private, allow_this_machine=allow_this_machine, resolve=resolve)
    except ConfigError as error:
        raise ConfigError(f"{what} {shown!r} {error}") from None
    return url


def checked_addresses(
    host: str, *, allow_private: bool = False, allow_this_machine: bool = False, resolve: Resolve = resolved
) -> list[str]:
    """Resolve a host once and return its addresses, ready to connect to; none when it cannot be found now.

    Raises ConfigError when one of them may not be called.
    """
    found = [host] if _is_literal(host) else list(resolve(host))
    if not allow_private and not (allow_this_machine and _is_this_machine(host)):
        for address in found:
            if _is_private(_parse(address)):
                raise ConfigError(f"leads to the private address {address}: say `allow_private: true` if that is meant")
    return found


def _parse(text: str) -> _Address:
    return ipaddress.ip_address(text.partition("%")[0])


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_this_machine(host: str) -> bool:
    """Whether a host says this machine in so many words; an address that embeds a loopback one does not."""
    return host == "localhost" or (_is_literal(host) and any(_parse(host) in network for network in _LOOPBACK))


def _is_private(address: _Address) -> bool:
    """Whether an address is anything but a public one; one that embeds an IPv4 address is judged by that."""
    if isinstance(address, ipaddress.IPv4Address):
        return any(address in network for network in _NOT_PUBLIC)
    for network, shift in _EMBEDDING:
        if address in network:
            return _is_private(ipaddress.IPv4Address(int(address) >> shift & 0xFFFF_FFFF))
    return address not in _GLOBAL_UNICAST or any(address in network for network in _NOT_PUBLIC)


_LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1"))
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_EMBEDDING = tuple(
    (ipaddress.IPv6Network(network), shift)
    for network, shift in (
        ("::ffff:0:0/96", 0),  # mapped
        ("::ffff:0:0:0/96", 0),  # translated (RFC 2765)
        ("64:ff9b::/96", 0),  # NAT64 (RFC 6052); its local-use prefix 64:ff9b:1::/48 is no public one
        ("2002::/16", 80),  # 6to4
    )
)
"""Where an IPv6 address holds an IPv4 one, and how many bits stand behind it. IPv4-compatible ones (::/96) are obsolete
and refused like everything outside of 2000::/3."""
_NOT_PUBLIC = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
        "2001::/23",
        "2001:db8::/32",
        "3fff::/20",
    )
)
"""IANA's registries of special-purpose addresses (of 2026): IPv4, with multicast and what is reserved, and what lies in
2000::/3. A few addresses of the protocol blocks (192.0.0.0/24, 2001::/23) are reachable, and count as private here."""
