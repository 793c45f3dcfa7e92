"""How a chat service is named in the configuration (its key never stands there), and what its calls may cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from haversack.errors import ConfigError, nearest
from haversack.llm.cost import Caps, ModelPrice

__all__ = ["PROVIDERS", "CostSettings", "ServiceSettings"]

PROVIDERS = ("openai", "anthropic")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """One entry of the `services` section."""

    provider: str
    """`openai` (and whatever speaks its interface) or `anthropic`."""
    model: str
    base_url: str | None = None
    """Of a compatible server; None: the provider's own."""
    allow_private: bool = False
    """Whether `base_url` may lead into a private network; this machine may be named by `localhost` in any case."""
    api_key_env: str | None = None
    """The environment variable that holds the key; local servers need none."""

    def __post_init__(self) -> None:
        if self.provider not in PROVIDERS:
            raise ConfigError(f"provider={self.provider!r} is not known: {nearest(self.provider, PROVIDERS)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CostSettings:
    """What calls of models for memory work cost, and how much a namespace may spend on them."""

    prices: Mapping[str, ModelPrice] = field(default_factory=dict[str, ModelPrice])
    """US dollars for a million tokens, by the model's name; without a price, only tokens are told."""
    caps: Caps = field(default_factory=Caps)
    """Limits that stop memory work for a while, never the chat."""
