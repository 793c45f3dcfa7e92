"""Recall for callers: one checked question, and what answers it at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from haversack.engine.core import Core
from haversack.model.query import Filter
from haversack.recall import Asked, Hit, View
from haversack.scoring.blend import Weights

__all__ = ["Hit", "Look", "Request", "find", "look"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One checked question to one or more namespaces."""

    namespaces: tuple[str, ...]
    query: str
    chosen: Filter
    now: datetime
    weights: Weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A question to namespaces as they are at one moment: one call takes one look."""

    asked: Asked
    view: View


def look(core: Core, request: Request) -> Look:
    """Take in what is new, once, and the question's meaning before it."""
    asked = core.recall.asked(request.query, now=request.now, weights=request.weights)
    return Look(asked=asked, view=core.recall.view(request.namespaces))


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
