"""What can be said of single kinds: corrections, outcomes of decisions, tries of procedures, relations."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field
from starlette.responses import Response
from typing_extensions import TypedDict

from haversack.model.memory import Memory
from haversack.server.caller import In, ReadNs, WriteNs
from haversack.server.requests import Body, Label, Unit, When
from haversack.server.routes.declare import PROBLEMS, StrictRoute, problems
from haversack.server.settings import MOST_TEXT
from haversack.server.shapes import MemoryShape, answer, memory_shape

router = APIRouter(route_class=StrictRoute, tags=["knowledge"], prefix="/v1/namespaces/{namespace:label}")

MemoryId = Annotated[str, Path(min_length=1, max_length=64)]
Text = Annotated[str, Field(min_length=1, max_length=MOST_TEXT)]


class CorrectionBody(Body):
    """How it really is."""

    content: Text


class OutcomeBody(Body):
    """What came of a decision."""

    outcome: Text
    worked: bool | None = None


class TryBody(Body):
    """How a procedure went this time."""

    worked: bool


class RelationBody(Body):
    """A relation between two entities."""

    subject: Label
    predicate: Label
    object: Label
    content: Text | None = None
    """How it was said; the three together without it."""
    single: bool = False
    """The subject has one such relation at a time: a newer one ends the older one."""
    importance: Unit = 0.5
    event_time: When | None = None


class HopShape(TypedDict):
    """A relation that leads away from an entity."""

    memory: MemoryShape
    distance: int
    path: list[str]


class Hops(TypedDict):
    """Nearest first."""

    relations: list[HopShape]


class SubjectHistory(TypedDict):
    """In the order in which it was, is or will be true."""

    memories: list[MemoryShape]


@router.post(
    "/memories/{memory_id:label}/correct", response_model=MemoryShape, status_code=201, responses=problems(409)
)
def correct_memory(here: WriteNs, memory_id: MemoryId, body: CorrectionBody) -> Response:
    """Say how it really is: the correction outranks everything else; what it corrects is kept and dated."""
    return _told(here, "correct", here.ns.knowledge.correct(memory_id, body.content), status=201)


@router.post("/memories/{memory_id:label}/outcome", response_model=MemoryShape, responses=problems(409))
def note_outcome(here: WriteNs, memory_id: MemoryId, body: OutcomeBody) -> Response:
    """What came of a decision; a later outcome takes the place of an earlier one."""
    return _told(here, "note outcome", here.ns.knowledge.outcome(memory_id, body.outcome, worked=body.worked))


@router.post("/memories/{memory_id:label}/tries", response_model=MemoryShape, responses=problems(409))
def note_try(here: WriteNs, memory_id: MemoryId, body: TryBody) -> Response:
    """Count one more try of a procedure; its confidence follows from how often it worked."""
    return _told(here, "note try", here.ns.knowledge.practised(memory_id, worked=body.worked))


@router.post("/relations", response_model=MemoryShape, status_code=201, responses=problems(409))
def relate(here: WriteNs, body: RelationBody) -> Response:
    """Remember how two entities are related."""
    made = here.ns.knowledge.relate(
        body.subject,
        body.predicate,
        body.object,
        content=body.content,
        single=body.single,
        importance=body.importance,
        event_time=body.event_time,
    )
    return _told(here, "remember", made, status=201)


@router.get("/relations", response_model=Hops, responses=PROBLEMS)
def list_relations(
    here: ReadNs,
    entity: Annotated[str, Query(min_length=1, max_length=1000)],
    depth: Annotated[int, Query(ge=1, le=5)] = 2,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    as_of: Annotated[str | None, Query(max_length=100)] = None,
) -> Response:
    """Relations within so many steps of an entity, nearest first; those that hold now, or held at `as_of`."""
    found = here.ns.knowledge.reach(entity, depth=depth, limit=limit, as_of=as_of)
    here.note("list", ids=[hop.memory.id for hop in found])
    rows = [HopShape(memory=memory_shape(hop.memory), distance=hop.distance, path=list(hop.path)) for hop in found]
    return answer(Hops(relations=rows))


@router.get("/history", response_model=SubjectHistory, responses=PROBLEMS)
def get_subject_history(here: ReadNs, subject: Annotated[str, Query(min_length=1, max_length=1000)]) -> Response:
    """What was told on a subject, and from when until when each of it is true."""
    found = here.ns.knowledge.history(subject)
    here.note("list", ids=[memory.id for memory in found])
    return answer(SubjectHistory(memories=[memory_shape(memory) for memory in found]))


def _told(here: In, did: str, memory: Memory, *, status: int = 200) -> Response:
    here.note(did, ids=[memory.id])
    return answer(memory_shape(memory), status=status, headers={"etag": f'"{memory.changed}"'})
