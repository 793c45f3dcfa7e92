"""Headers that may stand once: whoever reads the first of two and whoever reads the last must not differ."""

from __future__ import annotations

from starlette.types import Scope

from haversack.guard.refusal import Refused

__all__ = ["single_headers"]

_SINGLE = frozenset(
    {
        b"authorization",
        b"content-encoding",
        b"content-length",
        b"content-type",
        b"expect",
        b"host",
        b"idempotency-key",
        b"if-match",
        b"if-none-match",
        b"last-event-id",
        b"mcp-protocol-version",
        b"mcp-session-id",
        b"origin",
        b"sec-fetch-site",
        b"transfer-encoding",
    }
)
"""What our doors, the framework and the listener read."""


def single_headers(scope: Scope) -> dict[bytes, bytes]:
    """The headers of a request by name; Refused (400) when one of a single value stands twice."""
    found: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in found and name in _SINGLE:
            raise Refused(400, "INVALID_REQUEST", f"the header {name.decode('ascii')} stands twice")
        found[name] = value
    return found
