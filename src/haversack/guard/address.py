"""Where a request comes from."""

from __future__ import annotations

import ipaddress

from starlette.types import Scope

__all__ = ["address_of"]


def address_of(scope: Scope) -> str:
    """Where a request comes from; of IPv6 the network, since one machine has all of its addresses."""
    host: str = (scope.get("client") or ("", 0))[0]
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return host
    return host if ip.version == 4 else str(ipaddress.ip_network((ip, 64), strict=False))  # noqa: PLR2004
