"""The Memories page: search, filter, the timeline, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from haversack.clock import utc_now
from haversack.engine.namespace import Namespace
from haversack.errors import InputError
from haversack.inspector.pictures import draw_timeline
from haversack.inspector.render import drawing, here, number_in, page, saved, visitor_of
from haversack.model.memory import Kind, Memory

__all__ = ["picture", "show"]

_PAGE = 50
_DEEPEST = 20
"""Pages of a search; who has not found it by then asks better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One page of memories."""

    rows: Sequence[tuple[Memory, float | None]]
    """With their relevance, in a search."""
    more: bool
    total: int | None
    drawing: str | None


def show(request: Request) -> Response:
    """The list."""
    visitor = visitor_of(request)
    ns = visitor.namespace(here(request))
    query, number = request.query_params.get("q", "").strip(), max(1, number_in(request, "page", 1))
    problem, found = "", Found(rows=(), more=False, total=None, drawing=None)
    try:
        found = _search(ns, query, number, _chosen(request)) if query else _timeline(ns, number, _chosen(request))
    except InputError as error:
        problem = str(error)
    fields = {**dict(request.query_params), "namespace": ns.name}
    fields.pop("page", None)
    return page(
        request,
        "memories.html",
        status=400 if problem else 200,
        visitor=visitor,
        here=ns.name,
        fields=fields,
        query=query,
        number=number,
        found=found,
        drawn=None if found.drawing is None else drawing(found.drawing),
        problem=problem,
        kinds=list(Kind),
        names=visitor.namespaces(),
        start=_PAGE * (number - 1),
    )


def picture(request: Request) -> Response:
    """The timeline as a file."""
    ns = visitor_of(request).namespace(here(request))
    by_day = ns.timeline(limit=1, **_chosen(request)).by_day
    return saved(draw_timeline(by_day, f"Memories of {ns.name} by day"), "memories")


def _search(ns: Namespace, query: str, number: int, chosen: dict[str, Any]) -> Found:
    end = _PAGE * min(number, _DEEPEST)
    hits = ns.recall(query, top_k=end + 1, now=utc_now(), **chosen)
    rows = [(hit.memory, hit.relevance) for hit in hits[end - _PAGE : end]]
    return Found(rows=rows, more=len(hits) > end and number < _DEEPEST, total=None, drawing=None)


def _timeline(ns: Namespace, number: int, chosen: dict[str, Any]) -> Found:
    line = ns.timeline(skip=_PAGE * (number - 1), limit=_PAGE, **chosen)
    return Found(
        rows=[(memory, None) for memory in line.memories],
        more=_PAGE * number < line.total,
        total=line.total,
        drawing=draw_timeline(line.by_day, f"Memories of {ns.name} by day"),
    )


def _chosen(request: Request) -> dict[str, Any]:
    """The filters that were given, as the engine takes them."""
    given = request.query_params
    chosen = {
        "kinds": given.get("kind", ""),
        "tags": given.get("tag", "").strip(),
        "session": given.get("session", ""),
        "since": given.get("since", ""),
        "until": given.get("until", ""),
    }
    return {name: value for name, value in chosen.items() if value}
