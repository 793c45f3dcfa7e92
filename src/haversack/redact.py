"""Addresses as they may be shown in an error, a log or a report: without what could be a secret."""

from __future__ import annotations

import re

__all__ = ["is_address", "without_secrets"]

_ADDRESS = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<login>[^/?#]*@)?(?P<place>(?:[\w.-]+|\[[\w.:%]+\])(?::\d*)?(?:/[\w./~-]*)?)"
    r"(?P<more>[?#][^@]*)?",
    re.DOTALL,
)
_LOGIN = re.compile(r"[^/\\:]*+:.*@", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_MEANT = re.compile(
    r"[a-z][a-z0-9+.-]+:(?:[/\\]|%2f)|(?:postgres|postgresql|mysql|https?):|.*\b\w*password\s*=|.*://",
    re.IGNORECASE | re.DOTALL,
)


def is_address(text: str) -> bool:
    """Whether this was meant as an address or a list of connection parameters and not as a path, however misspelt."""
    return _MEANT.match(text) is not None


def without_secrets(text: str) -> str:
    """Return an address without its login, query and fragment, `…` in their places; a path as it is.

    Of what is not written as an address should be, only the scheme is left: nobody knows where the secret stands.
    """
    if not is_address(text) and _LOGIN.match(text) is None:
        return text
    if (found := _ADDRESS.fullmatch(text)) is None:
        scheme = _SCHEME.match(text)
        return f"{scheme[0] if scheme else ''}…"
    login, more = ("…@" if found["login"] else ""), (f"{found['more'][0]}…" if found["more"] else "")
    return f"{found['scheme']}://{login}{found['place']}{more}"
