"""How a chat service is named in the configuration; the key itself never stands there."""

from __future__ import annotations

from dataclasses import dataclass

from haversack.errors import ConfigError, nearest

__all__ = ["PROVIDERS", "ServiceSettings"]

PROVIDERS = ("openai", "anthropic")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """One entry of the `services` section."""

    provider: str
    """`openai` (and whatever speaks its interface) or `anthropic`."""
    model: str
    base_url: str | None = None
    """Of a compatible server; None: the provider's own."""
    api_key_env: str | None = None
    """The environment variable that holds the key; local servers need none."""

    def __post_init__(self) -> None:
        if self.provider not in PROVIDERS:
            raise ConfigError(f"provider={self.provider!r} is not known: {nearest(self.provider, PROVIDERS)}")
