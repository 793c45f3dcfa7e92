"""Bearer tokens of an identity provider: a signed JWT stands for a key with a scope and namespaces."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from http.client import HTTPException
from pathlib import Path
from time import monotonic
from typing import Any, cast
from urllib.error import HTTPError

import jwt

from haversack.clock import utc_now
from haversack.engine.keys import TOKEN, Key, Scope
from haversack.guard.settings import TokenSettings
from haversack.net import check_address
from haversack.outgoing import Way, opener_for

__all__ = ["token_reader"]

_PREFIX = "haversack:"
_ACCESS = frozenset({"access", "bearer", "jwt", "at+jwt"})
"""What the claims `typ` and `token_use` of access tokens say, where there are any."""
_ID_CLAIMS = frozenset({"nonce", "at_hash", "c_hash", "s_hash"})
"""Claims that only an ID token has."""
_SECONDS = 5
_PAUSE = 30
"""Seconds between two fetches of a key set."""
_LARGEST = 1_000_000
"""Bytes of a key set that are read."""


def token_reader(settings: TokenSettings) -> Callable[[str], Key | None]:
    """Reads a token into the key that it stands for; None for a token that is not valid here. For any thread."""
    signing_key = _signing_keys(settings)

    def read(token: str) -> Key | None:
        try:
            decoded = jwt.decode_complete(
                token,
                signing_key(token),
                algorithms=list(settings.algorithms),
                issuer=settings.issuer,
                audience=settings.audience,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
            return _key(decoded["header"], decoded["payload"], settings)
        except (jwt.PyJWTError, KeyError, ValueError, TypeError, OverflowError, OSError):
            return None

    return read


def _signing_keys(settings: TokenSettings) -> Callable[[str], Any]:
    if settings.jwks.startswith(("https://", "http://")):
        address = check_address(settings.jwks, what="server.tokens.jwks", allow_private=settings.allow_private)
        client = _KeySet(address, Way(allow_private=settings.allow_private))
        return lambda token: client.get_signing_key_from_jwt(token).key
    found = jwt.PyJWKSet.from_dict(json.loads(Path(settings.jwks).read_text(encoding="utf-8")))
    by_id = {key.key_id: key.key for key in found.keys}
    return lambda token: by_id[jwt.get_unverified_header(token).get("kid")]


class _KeySet(jwt.PyJWKClient):
    """A provider's key set, fetched from where its address was checked to lead."""

    def __init__(self, address: str, way: Way) -> None:
        super().__init__(address, timeout=_SECONDS)
        self._opener = opener_for(address, way)
        self._next = 0.0
        """When it may be fetched again: a token with an unknown key asks for that, and anybody can write one."""

    def fetch_data(self) -> dict[str, Any]:
        if monotonic() < self._next:
            raise jwt.PyJWKClientConnectionError(f"the key set at {self.uri} was fetched a moment ago")
        try:
            with self._opener.open(self.uri, timeout=_SECONDS) as response:
                found = cast("object", json.loads(response.read(_LARGEST)))
        except (OSError, HTTPException, ValueError, RecursionError) as error:
            if isinstance(error, HTTPError):
                error.close()
            raise jwt.PyJWKClientConnectionError(f"the key set at {self.uri} cannot be had: {error}") from None
        if not isinstance(found, dict):
            raise jwt.PyJWKClientError(f"the key set at {self.uri} is no object")
        keys = cast("dict[str, Any]", found)
        if self.jwk_set_cache is not None:
            self.jwk_set_cache.put(keys)
        self._next = monotonic() + _PAUSE
        return keys


def _key(header: Mapping[str, Any], claims: Mapping[str, Any], settings: TokenSettings) -> Key | None:
    words = _words(claims.get(settings.scope_claim))
    scopes = [scope for scope in Scope if f"{_PREFIX}{scope}" in words]
    ends = datetime.fromtimestamp(claims["exp"], UTC)
    lasts_too_long = ends - utc_now() > timedelta(seconds=settings.longest_seconds)
    if not scopes or lasts_too_long or not _is_for_access(header, claims, settings):
        return None
    return Key(
        id=f"{TOKEN}{claims['sub']}",
        name=str(claims["sub"]),
        scope=scopes[-1],
        namespaces=tuple(_names(claims.get(settings.namespace_claim))),
        created_at=datetime.fromtimestamp(claims.get("iat", 0), UTC),
        expires_at=ends,
        makes_keys=settings.make_keys,
    )


def _is_for_access(header: Mapping[str, Any], claims: Mapping[str, Any], settings: TokenSettings) -> bool:
    """Whether it is no ID token, refresh token or the like, by the signs that RFC 9068 and providers put on them."""
    kind = str(header.get("typ", "JWT")).casefold().removeprefix("application/")
    if kind not in {one.casefold() for one in settings.types}:
        return False
    says = {str(claims[name]).casefold() for name in ("typ", "token_use") if name in claims}
    return says <= _ACCESS and _ID_CLAIMS.isdisjoint(claims)


def _words(claim: object) -> list[str]:
    return claim.split() if isinstance(claim, str) else _names(claim)


def _names(claim: object) -> list[str]:
    """A list of texts, or one text, whatever blanks it has."""
    if isinstance(claim, str):
        return [claim]
    return [word for word in cast("list[object]", claim) if isinstance(word, str)] if isinstance(claim, list) else []
