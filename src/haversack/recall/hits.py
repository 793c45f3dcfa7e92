"""What recall answers with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Hit", "Standing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that may answer, with what speaks for it."""

    namespace: str
    memory_id: str
    score: float
    """0..1, higher is better: how likely it is to be of use."""
    parts: Mapping[str, float]
    """What each signal added."""
    session: str | None
    born: int
    """Its place in the namespace's order of arrival."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where one memory stands for one query."""

    rank: int | None
    """From 1; None when it is not among the candidates."""
    score: float
    parts: Mapping[str, float]
    reason: str | None
    """The filter's code when a filter removed it, `unrelated` when nothing connects it with the query, else None."""
    candidates: int
    """How many memories were ranked."""
