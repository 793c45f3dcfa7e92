"""Limits and tokens, as the operator of a door chooses them; frozen, with ranges checked at construction."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Self

from haversack.errors import ConfigError

__all__ = ["Limits", "TokenSettings"]


_LEAST = {"waiting": 0, "key_waiting": 0, "key_per_minute": 0, "failures_per_minute": 0, "key_check_seconds": 0.01}
"""Of those that may be less than 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one caller may take."""

    body_bytes: int = 4 << 20
    """A request's body, unpacked."""
    import_bytes: int = 256 << 20
    """A file to import, unpacked."""
    depth: int = 32
    """Objects and lists inside each other."""
    containers: int = 100_000
    """Objects and lists altogether."""
    head_seconds: float = 10.0
    """For a request's headers to arrive."""
    body_seconds: float = 30.0
    """For its body."""
    send_seconds: float = 30.0
    """For a receiver to take anything of its answer; who takes nothing for so long is cut off."""
    connections: int = 1_000
    address_connections: int = 500
    """Connections of one address (of IPv6, of one /64); beyond them the answer is 503. Behind a proxy all callers have
    one address: give it all of `connections` there."""
    active: int = 32
    """Requests at work at once; never more than `engine.threads`."""
    waiting: int = 64
    """Requests that may wait for a place; beyond them the answer is 429."""
    wait_seconds: float = 5.0
    """For either."""
    key_active: int = 16
    """Requests of one key at work at once."""
    key_waiting: int = 64
    """Requests of one key that may wait until fewer of its own are at work; beyond them the answer is 429."""
    key_per_minute: int = 6_000
    """Requests of one key, evenly refilled; as many may come at once. 0: no limit."""
    key_streams: int = 8
    """Event streams of one key."""
    key_check_seconds: float = 2.0
    """How often an open stream asks whether its key still opens it."""
    exports: int = 16
    """Exports at once; they have places of their own, beside those of the requests at work."""
    key_exports: int = 2
    """Exports of one key at once; beyond them the answer is 429."""
    key_sessions: int = 64
    """MCP sessions of one key; with one more, the one that was unused for longest is ended."""
    session_seconds: float = 600.0
    """For which an MCP session is kept that is not used and has no stream open."""
    failures_per_minute: int = 1_000
    """Wrong keys of one address, beyond which the answer is 429; a valid one is let in all the same. 0: no limit."""
    drain_seconds: float = 20.0
    """How long a stopping server waits for requests at work."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            least = _LEAST.get(item.name, 1)
            if isinstance(value, bool) or not isinstance(value, int | float) or value < least:
                raise ConfigError(f"server.limits.{item.name}={value!r} must be a number of at least {least}")

    def within(self, threads: int) -> Self:
        """Return the limits with no more requests at work than threads to do it: whoever has a place has a thread."""
        return replace(self, active=min(self.active, threads))


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSettings:
    """Bearer tokens of an identity provider (JWT), beside keys of our own."""

    issuer: str
    audience: str
    jwks: str
    """Address or path of the provider's public keys."""
    allow_private: bool = False
    """Whether that address may lead into a private network."""
    algorithms: tuple[str, ...] = ("RS256", "ES256")
    scope_claim: str = "scope"
    """Holds `haversack:read`, `haversack:write` or `haversack:admin`, in a list or separated by spaces."""
    namespace_claim: str = "haversack_namespaces"
    """Holds a list of names or `prefix*` patterns, or one as a text; a token without it reaches no namespace."""
    types: tuple[str, ...] = ("at+jwt", "JWT")
    """Values of a token's `typ` header that are accepted; `at+jwt` alone where the provider marks access tokens so."""
    longest_seconds: int = 86_400
    """How long a token may go on being valid; one that ends later is refused."""
    make_keys: bool = False
    """Whether a token with the scope `admin` may make and rotate keys; they end with the token at the latest."""

    def __post_init__(self) -> None:
        for name in self.algorithms:
            if name.startswith("HS") or name.casefold() == "none":
                raise ConfigError(f"server.tokens.algorithms has {name!r}: only public-key algorithms are accepted")
