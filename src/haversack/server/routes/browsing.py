"""Memories without a question: by time, those to begin with, and those that others took the place of."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response
from typing_extensions import TypedDict

from haversack.model.memory import Kind
from haversack.server.caller import ReadNs, WriteNs
from haversack.server.requests import Body, Ids, UntilQuery
from haversack.server.routes.declare import PROBLEMS, StrictRoute, problems
from haversack.server.shapes import MemoryShape, answer, memory_shape

router = APIRouter(route_class=StrictRoute, tags=["memories"], prefix="/v1/namespaces/{namespace:label}")


class Timeline(TypedDict):
    """Memories, newest first, and how many there are on each day."""

    memories: list[MemoryShape]
    total: int
    by_day: dict[str, int]


class WakeUp(TypedDict):
    """Memories to begin with, and how many there are to choose from."""

    memories: list[MemoryShape]
    total: int


class Folded(TypedDict):
    """Memories that others took the place of, the newest first."""

    memories: list[MemoryShape]


class MergeBody(Body):
    """Memories to make one of: a preview unless `preview` is false."""

    ids: Ids
    preview: bool = True


class MergedShape(TypedDict):
    """The one memory with the words of all; with `preview` it is not stored."""

    preview: bool
    memory: MemoryShape


@router.get("/timeline", response_model=Timeline, responses=PROBLEMS)
def get_timeline(
    here: ReadNs,
    skip: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    kind: Annotated[list[Kind] | None, Query(max_length=20)] = None,
    tag: Annotated[list[str] | None, Query(max_length=50)] = None,
    session: Annotated[str | None, Query(min_length=1, max_length=1000)] = None,
    since: Annotated[str | None, Query(max_length=100)] = None,
    until: UntilQuery = None,
) -> Response:
    """Memories by when they were said or happened, newest first, and how many there are on each day."""
    found = here.ns.timeline(skip=skip, limit=limit, kinds=kind, tags=tag, session=session, since=since, until=until)
    here.note("list", count=len(found.memories))
    return answer(
        Timeline(
            memories=[memory_shape(one) for one in found.memories],
            total=found.total,
            by_day={day.isoformat(): count for day, count in found.by_day.items()},
        )
    )


@router.get("/wake-up", response_model=WakeUp, responses=PROBLEMS)
def wake_up(
    here: ReadNs,
    top: Annotated[int, Query(ge=1, le=1000)] = 20,
    least: Annotated[float, Query(ge=0, le=1)] = 0.0,
) -> Response:
    """The memories to begin a conversation with, by importance and age."""
    memories, total = here.ns.wake_up(top=top, least=least)
    here.note("wake up", ids=[one.id for one in memories])
    return answer(WakeUp(memories=[memory_shape(one) for one in memories], total=total))


@router.get("/folded", response_model=Folded, responses=PROBLEMS)
def list_folded(here: ReadNs, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> Response:
    """Memories that a fold, a merge or a successor took the place of, the newest first; `restore` brings one back."""
    found = here.ns.folded()[:limit]
    here.note("list", count=len(found))
    return answer(Folded(memories=[memory_shape(one) for one in found]))


@router.post("/merge", response_model=MergedShape, responses=problems(409))
def merge(here: WriteNs, body: MergeBody) -> Response:
    """One memory with the words of all of these, which takes their place; `restore` brings one back."""
    whole = here.ns.merge(body.ids, preview=body.preview)
    if not body.preview:
        here.note("merge", ids=[whole.id, *body.ids])
    return answer(MergedShape(preview=body.preview, memory=memory_shape(whole)))
