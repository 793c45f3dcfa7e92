"""The settings of extraction; a value out of range is refused when they are made."""

from __future__ import annotations

from dataclasses import dataclass

from haversack.lifecycle.ranges import check_range, check_whole

__all__ = ["ExtractionConfig"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionConfig:
    """When a session's turns are read for facts, preferences, decisions and the like, and by what."""

    enabled: bool = True
    llm_service: str | None = None
    """Name of the configured chat service; None reads statements in plain forms by rules, without a model."""
    every: int = 6
    """Turns of a session after which they are read together, in the background."""
    max_seconds: float = 60
    """The longest that one call may take."""

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        check_whole("every", self.every, 1)
        check_range("max_seconds", self.max_seconds, 0, open_low=True)
