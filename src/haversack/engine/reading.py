"""Recall for callers: one checked question, and what answers it at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from haversack.engine.core import Core
from haversack.model.query import Filter
from haversack.recall import Asked, Hit, Hits, View
from haversack.recall.question import checked_top_k
from haversack.scoring.blend import Weights

__all__ = ["Hit", "Hits", "Look", "Request", "find", "look"]

_PATIENCE = 0.03
"""Seconds that a question waits for the index shortly after a load, before it is answered from what is ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One checked question to one or more namespaces."""

    namespaces: tuple[str, ...]
    query: str
    chosen: Filter
    now: datetime
    weights: Weights
    min_relevance: float | None = None
    """The least that is wanted; None: all of a recall, and what the setting says of a context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A question to namespaces as they are at one moment: one call takes one look."""

    asked: Asked
    view: View


def look(core: Core, request: Request, *, whole: bool = False) -> Look:
    """Take in what is new, once, and the question's meaning before it.

    Shortly after a load the view may be behind what was written, unless it has to be `whole`.
    """
    asked = core.recall.asked(request.query, now=request.now, weights=request.weights)
    return Look(asked=asked, view=core.recall.view(request.namespaces, wait=None if whole else _PATIENCE))


def find(core: Core, request: Request, top_k: int) -> Hits:
    """The `top_k` best, best first."""
    limit = checked_top_k(top_k)
    seen = look(core, request)
    hits = seen.view.search(seen.asked, request.chosen, top_k=limit)
    found = Hits((hit for hit in hits if hit.relevance >= (request.min_relevance or 0)), behind=seen.view.behind)
    core.was_read(request.namespaces)
    return found
