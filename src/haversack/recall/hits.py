"""What recall answers with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from haversack.model.memory import Kind, Memory, Metadata
from haversack.scoring.signals import NOTHING, Formula

__all__ = ["Hit", "Hits", "Standing"]


class Hit(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A memory that answers, with what speaks for it.

    A struct, since every context makes hundreds: a frozen dataclass takes five times as long.
    """

    memory: Memory
    namespace: str
    score: float
    """0..1, higher is better: what it is ranked by; comparable between the hits of one question alone."""
    relevance: float = 0.0
    """0..1: how likely it answers, comparable between questions and stores; 0 for what was not asked for by words."""
    parts: Mapping[str, float] = {}
    """Its signals, by name, each 0..1, higher is better."""
    formula: Formula = NOTHING
    """How they make the score."""

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.memory.id

    @property
    def kind(self) -> Kind:
        """The memory's kind."""
        return self.memory.kind

    @property
    def content(self) -> str:
        """The memory's words."""
        return self.memory.content

    @property
    def metadata(self) -> Metadata:
        """The memory's metadata."""
        return self.memory.metadata


class Hits(list[Hit]):
    """Hits, best first, and how much was not looked at yet."""

    def __init__(self, hits: Iterable[Hit] = (), *, behind: int = 0) -> None:
        super().__init__(hits)
        self.behind = behind
        """Changes that the index did not have yet: more than 0 only shortly after a load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where one memory stands for one query."""

    rank: int | None
    """From 1; None when it is not among the candidates."""
    score: float
    relevance: float
    """0..1: how likely it answers."""
    parts: Mapping[str, float]
    formula: Formula
    reason: str | None
    """The filter's code when a filter removed it, `unrelated` when nothing connects it with the query, else None."""
    candidates: int
    """How many memories were ranked."""
