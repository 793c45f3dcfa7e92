"""Recall for callers: one checked question, and what answers it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from haversack.engine.core import Core
from haversack.model.query import Filter
from haversack.recall import Hit
from haversack.scoring.blend import Weights

__all__ = ["Hit", "Request", "find"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One checked question to one or more namespaces."""

    namespaces: tuple[str, ...]
    query: str
    chosen: Filter
    now: datetime
    weights: Weights


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
    core.was_read(request.namespaces)
    return found
