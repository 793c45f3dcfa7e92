"""What the engine lets its user choose; frozen, with ranges checked at construction."""

from __future__ import annotations

from dataclasses import dataclass

from haversack.errors import ConfigError

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Engine settings; each is also a key of the configuration file's `engine` section."""

    model: str = "gpt-4o"
    """Whose tokens are counted when a call names no model; new memories are priced for it as they are written."""
    budget: int = 2000
    """Tokens of a context when a call gives no budget."""
    layout: str = "flat"
    format: str = "markdown"
    top_k: int = 50
    """Hits of a recall when a call does not say how many."""
    chunk_tokens: int = 200
    """Longer turns and documents are remembered in chunks of about this many tokens."""
    widest: int = 1000
    """The most candidates that a context considers; the budget decides how many below that."""

    def __post_init__(self) -> None:
        for name, least in (("budget", 0), ("top_k", 1), ("chunk_tokens", 20), ("widest", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ConfigError(f"engine.{name}={value!r} must be a whole number of at least {least}")
