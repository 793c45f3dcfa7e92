"""Serving without keys: only where it was asked for, only a store that never had one, only for this machine."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers

from haversack.engine.haversack import Haversack
from haversack.errors import ConfigError
from haversack.guard.listening import is_loopback, names_loopback
from haversack.guard.refusal import Refused

__all__ = ["check_local", "check_open_start"]

_PASSED_ON = ("forwarded", "x-forwarded-", "x-real-ip", "via")
"""What proxies add: behind one, everybody seems to call from this machine."""
_OWN = frozenset({"same-origin", "none"})
"""What browsers say in `Sec-Fetch-Site` of a page of the same address, and of an address that somebody typed."""


def check_open_start(sack: Haversack, host: str) -> None:
    """Raise ConfigError unless the store may be served without keys at this address."""
    if not is_loopback(host):
        raise ConfigError(
            f"host={host!r} can be reached by others: without keys only loopback is served. Leave --open out, and make "
            "a key with `haversack keys create NAME --scope admin`"
        )
    if sack.keys.ever_existed():
        raise ConfigError(
            "this store has or had keys, so it is never served without one, also when all of them are revoked or "
            "expired: leave --open out, and make a key with `haversack keys create NAME --scope admin`"
        )


def check_local(headers: Headers) -> None:
    """Refuse whatever is not a program of this machine that calls by itself: proxies, and pages of other addresses."""
    host, origin = headers.get("host", ""), headers.get("origin")
    if not names_loopback(f"//{host}"):
        raise Refused(421, "HOST_NOT_ALLOWED", "without keys this server answers only to localhost; make a key")
    if any(name.startswith(_PASSED_ON) for name in headers):
        raise Refused(403, "PROXIED_REQUEST_REFUSED", "without keys nothing is answered through a proxy; make a key")
    if (origin is not None and _place(origin) != host.casefold()) or headers.get("sec-fetch-site", "none") not in _OWN:
        raise Refused(403, "CROSS_ORIGIN_REQUEST_REFUSED", "without keys no other site's pages may call; make a key")


def _place(origin: str) -> str | None:
    """The host and port that an Origin names."""
    try:
        return urlsplit(origin).netloc.casefold()
    except ValueError:
        return None
