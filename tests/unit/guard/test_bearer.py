"""Tokens of an identity provider: signed, current, for us, with a scope and namespaces."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from haversack.engine.keys import Scope
from haversack.errors import ConfigError
from haversack.guard.bearer import token_reader
from haversack.guard.settings import TokenSettings

KEY = ec.generate_private_key(ec.SECP256R1())
OTHER = ec.generate_private_key(ec.SECP256R1())
NOW = datetime.now(UTC)


@pytest.fixture
def settings(tmp_path: Path) -> TokenSettings:
    public = json.loads(ECAlgorithm.to_jwk(KEY.public_key()))
    place = tmp_path / "jwks.json"
    place.write_text(json.dumps({"keys": [{**public, "kid": "k1", "alg": "ES256", "use": "sig"}]}))
    return TokenSettings(issuer="https://id.example", audience="haversack", jwks=str(place))


def token(key: ec.EllipticCurvePrivateKey = KEY, kid: str = "k1", header: str = "JWT", **changes: Any) -> str:
    claims = {
        "iss": "https://id.example",
        "aud": "haversack",
        "sub": "svc-1",
        "iat": NOW,
        "exp": NOW + timedelta(minutes=5),
        "scope": "openid haversack:read haversack:write",
        "haversack_namespaces": ["alice", "team-*"],
        **changes,
    }
    return jwt.encode(
        {name: value for name, value in claims.items() if value is not None}, key, "ES256", {"kid": kid, "typ": header}
    )


def test_a_good_token_stands_for_a_key(settings: TokenSettings):
    key = token_reader(settings)(token())
    assert key is not None
    assert (key.id, key.scope, key.namespaces) == ("token:svc-1", Scope.WRITE, ("alice", "team-*"))


@pytest.mark.parametrize("changes", [{"header": "at+jwt"}, {"header": "application/at+JWT"}, {"typ": "Bearer"}])
def test_access_tokens_may_say_so(settings: TokenSettings, changes: dict[str, Any]):
    assert token_reader(settings)(token(**changes)) is not None


def test_an_operator_may_take_marked_access_tokens_alone_and_longer_ones(settings: TokenSettings):
    strict = replace(settings, types=("at+jwt",), longest_seconds=90_000, make_keys=True)
    assert token_reader(strict)(token()) is None
    key = token_reader(strict)(token(header="at+jwt", exp=NOW + timedelta(hours=24, minutes=30)))
    assert key is not None
    assert key.makes_keys
    usual = token_reader(settings)(token())
    assert usual is not None
    assert not usual.makes_keys


def test_a_text_is_one_namespace_whatever_its_blanks(settings: TokenSettings):
    key = token_reader(settings)(token(haversack_namespaces="my team*"))
    assert key is not None
    assert key.namespaces == ("my team*",)
    assert [key.reaches(name) for name in ("my team", "team", "my", "my teams")] == [True, False, False, True]


def test_without_namespaces_it_reaches_none(settings: TokenSettings):
    key = token_reader(settings)(token(haversack_namespaces=None))
    assert key is not None
    assert not key.reaches("alice")


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://evil.example"},
        {"aud": "other"},
        {"exp": NOW - timedelta(minutes=1)},
        {"exp": None},
        {"sub": None},
        {"scope": "openid"},
        {"scope": None},
        {"scope": {"haversack:admin": True}},
        {"key": OTHER},
        {"kid": "unknown"},
        {"exp": 10**17},
        {"exp": 1e308},
        {"iat": -(10**17)},
        {"iat": [1]},
        {"exp": NOW + timedelta(hours=25)},
        {"nonce": "n"},
        {"at_hash": "h"},
        {"typ": "ID"},
        {"typ": "Refresh"},
        {"token_use": "id"},
        {"header": "dpop+jwt"},
        {"header": "id+jwt"},
    ],
)
def test_other_tokens_stand_for_nobody(settings: TokenSettings, changes: dict[str, Any]):
    assert token_reader(settings)(token(**changes)) is None


@pytest.mark.parametrize("text", ["", "a.b.c", "hvs_x", jwt.encode({"sub": "x"}, "s" * 64, "HS256", {"kid": "k1"})])
def test_what_is_no_token_stands_for_nobody(settings: TokenSettings, text: str):
    assert token_reader(settings)(text) is None


@pytest.mark.parametrize("address", ["http://%31%32%37.0.0.1/k", "https://127.0.0.1/k", "http://10.0.0.1/k"])
def test_keys_are_not_fetched_from_private_addresses(settings: TokenSettings, address: str):
    with pytest.raises(ConfigError, match=r"server\.tokens\.jwks"):
        token_reader(replace(settings, jwks=address))


def test_shared_secrets_are_no_option():
    with pytest.raises(ConfigError, match="public-key"):
        TokenSettings(issuer="i", audience="a", jwks="j", algorithms=("HS256",))
