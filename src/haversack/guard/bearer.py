"""Bearer tokens of an identity provider: a signed JWT stands for a key with a scope and namespaces."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from time import monotonic
from typing import Any, cast

import jwt

from haversack.engine.keys import Key, Scope
from haversack.guard.settings import TokenSettings
from haversack.net import check_address
from haversack.outgoing import Way, opener_for

__all__ = ["token_reader"]

_PREFIX = "haversack:"
_SECONDS = 5
_LARGEST = 1_000_000
"""Bytes of a key set that are read."""


def token_reader(settings: TokenSettings) -> Callable[[str], Key | None]:
    """Reads a token into the key that it stands for; None for a token that is not valid here. For any thread."""
    signing_key = _signing_keys(settings)

    def read(token: str) -> Key | None:
        try:
            claims = jwt.decode(
                token,
                signing_key(token),
                algorithms=list(settings.algorithms),
                issuer=settings.issuer,
                audience=settings.audience,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, KeyError, ValueError):
            return None
        return _key(claims, settings)

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

    def fetch_data(self) -> dict[str, Any]:
        try:
            with self._opener.open(self.uri, timeout=_SECONDS) as response:
                found = cast("object", json.loads(response.read(_LARGEST)))
        except (OSError, HTTPException, ValueError, RecursionError) as error:
            raise jwt.PyJWKClientConnectionError(f"the key set at {self.uri} cannot be had: {error}") from None
        if not isinstance(found, dict):
            raise jwt.PyJWKClientError(f"the key set at {self.uri} is no object")
        keys = cast("dict[str, Any]", found)
        if self.jwk_set_cache is not None:
            self.jwk_set_cache.put(keys)
        self._last_successful_fetch = monotonic()  # from which the library counts its pause between fetches
        return keys


def _key(claims: Mapping[str, Any], settings: TokenSettings) -> Key | None:
    words = _words(claims.get(settings.scope_claim))
    scopes = [scope for scope in Scope if f"{_PREFIX}{scope}" in words]
    if not scopes:
        return None
    return Key(
        id=f"token:{claims['sub']}",
        name=str(claims["sub"]),
        scope=scopes[-1],
        namespaces=tuple(_words(claims.get(settings.namespace_claim))),
        created_at=datetime.fromtimestamp(claims.get("iat", 0), UTC),
        expires_at=datetime.fromtimestamp(claims["exp"], UTC),
    )


def _words(claim: object) -> list[str]:
    if isinstance(claim, str):
        return claim.split()
    return [word for word in cast("list[object]", claim) if isinstance(word, str)] if isinstance(claim, list) else []
