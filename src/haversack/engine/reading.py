"""Recall for callers: hits with their memories, and where one memory stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from haversack import recall
from haversack.engine.core import Core
from haversack.model.memory import Kind, Memory, Metadata
from haversack.model.query import Filter
from haversack.scoring.blend import Weights

__all__ = ["Hit", "Request", "fetch", "find"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One checked question to one or more namespaces."""

    namespaces: tuple[str, ...]
    query: str
    chosen: Filter
    now: datetime
    weights: Weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that answers, with what speaks for it."""

    memory: Memory
    namespace: str
    score: float
    """0 to 1, higher is better."""
    parts: Mapping[str, float]
    """What each signal added to the score."""

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


def find(core: Core, request: Request, top_k: int) -> list[Hit]:
    """The `top_k` best, best first."""
    found = core.recall.search(
        request.namespaces,
        request.query,
        filter=request.chosen,
        now=request.now,
        top_k=top_k,
        weights=request.weights,
    )
    return fetch(core, found)


def fetch(core: Core, found: Sequence[recall.Hit]) -> list[Hit]:
    """Hits with their rows, in the same order; what was erased in the meantime is left out."""
    wanted: defaultdict[str, list[str]] = defaultdict(list)
    for hit in found:
        wanted[hit.namespace].append(hit.memory_id)
    rows = {
        (namespace, memory.id): memory
        for namespace, ids in wanted.items()
        for memory in core.store.memories(namespace, ids)
    }
    return [
        Hit(memory=memory, namespace=hit.namespace, score=hit.score, parts=hit.parts)
        for hit in found
        if (memory := rows.get((hit.namespace, hit.memory_id))) is not None
    ]
