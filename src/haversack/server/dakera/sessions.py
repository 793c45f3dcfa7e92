"""Sessions, as the dakera client opens, watches and closes them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field, JsonValue
from starlette.responses import Response

from haversack.engine.keys import Scope
from haversack.engine.visits import Visit
from haversack.errors import NotFoundError
from haversack.model.memory import Kind, Memory, Source, Stage
from haversack.server.caller import Caller, In, ReadCaller, WriteCaller
from haversack.server.dakera.shapes import AgentId, Answer, Loose, agent, memory_record, visit_record, warnings_of
from haversack.server.routes.declare import PROBLEMS, StrictRoute, problems
from haversack.server.shapes import answer

__all__ = ["Limit", "Offset", "Preview", "router", "shown_memory", "visits_of"]

router = APIRouter(route_class=StrictRoute, tags=["dakera"], prefix="/v1")

SessionId = Annotated[str, Path(min_length=1, max_length=1000)]
Limit = Annotated[int, Query(ge=1, le=1000)]
Offset = Annotated[int, Query(ge=0, le=10**9)]
Preview = Annotated[int | None, Query(ge=1, le=10_000)]


class StartBody(Loose):
    """A session to open."""

    agent_id: AgentId
    metadata: dict[str, JsonValue] | None = None


class EndBody(Loose):
    """How a session ends."""

    summary: Annotated[str, Field(max_length=50_000)] | None = None


@router.post("/sessions/start", response_model=Answer, responses=problems(409))
def start_session(caller: WriteCaller, body: StartBody) -> Response:
    """Open a session for an agent."""
    here = agent(caller, body.agent_id, Scope.WRITE)
    visit = caller.sack.visits.start(here.ns.name, body.metadata)
    here.note("start session", session=visit.id)
    return answer({"session": visit_record(visit, 0), "warnings": list(warnings_of(body))})


@router.post("/sessions/{session_id:label}/end", response_model=Answer, responses=problems(409))
def end_session(caller: WriteCaller, session_id: SessionId, body: EndBody) -> Response:
    """Close a session; its summary is remembered."""
    here, visit = _visit(caller, session_id, Scope.WRITE)
    if visit.ended_at is None:
        summary = body.summary if body.summary and body.summary.strip() else None
        kept = here.ns.remember(summary, kind=Kind.SUMMARY, source=Source(session=session_id)) if summary else None
        visit = caller.sack.visits.end(session_id, kept.id if kept else None)
    here.note("end session", session=session_id)
    record = visit_record(visit, summary=_summary(here, visit))
    return answer({"session": record, **record, "warnings": list(warnings_of(body))})


@router.post("/sessions/{session_id:label}/touch", response_model=Answer, responses=problems(409))
def touch_session(caller: WriteCaller, session_id: SessionId) -> Response:
    """Note that a session goes on; sessions here never end by themselves."""
    _visit(caller, session_id, Scope.WRITE)
    visit = caller.sack.visits.touch(session_id)
    return answer(
        {
            "session": visit_record(visit),
            "session_state": "ended" if visit.ended_at else "active",
            "idle_deadline_at": None,
        }
    )


@router.get("/sessions/{session_id:label}", response_model=Answer, responses=PROBLEMS)
def get_session(caller: ReadCaller, session_id: SessionId) -> Response:
    """One session."""
    here, visit = _visit(caller, session_id, Scope.READ)
    found = here.ns.everything(session=session_id)
    return answer(visit_record(visit, len(found), summary=_summary(here, visit)))


@router.get("/sessions", response_model=list[Answer], responses=PROBLEMS)
def list_sessions(
    caller: ReadCaller,
    agent_id: Annotated[str | None, Query(min_length=1, max_length=1000)] = None,
    *,
    active_only: bool = False,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Response:
    """Sessions, the newest first."""
    if agent_id is not None:
        agent_id = agent(caller, agent_id, Scope.READ).ns.name
    found = visits_of(caller, agent_id, active_only=active_only)
    return answer([visit_record(visit) for visit in found[offset : offset + limit]])


@router.get("/sessions/{session_id:label}/memories", response_model=Answer, responses=PROBLEMS)
def session_memories(
    caller: ReadCaller,
    session_id: SessionId,
    limit: Limit = 50,
    offset: Offset = 0,
    content_preview_chars: Preview = None,
) -> Response:
    """The memories of a session, the newest first."""
    here, visit = _visit(caller, session_id, Scope.READ)
    found = here.ns.everything(session=session_id)
    here.note("list", session=session_id, count=len(found))
    page = found[offset : offset + limit]
    records = [shown_memory(memory, visit.namespace, content_preview_chars) for memory in page]
    return answer({"memories": records, "total": len(found)})


def visits_of(caller: Caller, namespace: str | None, *, active_only: bool) -> list[Visit]:
    """Sessions of one namespace, or of all that the key reaches, the newest first."""
    names = [namespace] if namespace is not None else caller.sack.namespaces(caller.key.namespaces)
    found = [visit for name in names if caller.key.reaches(name) for visit in caller.sack.visits.of(name)]
    found.sort(key=lambda visit: visit.id, reverse=True)
    return [visit for visit in found if not (active_only and visit.ended_at)]


def shown_memory(memory: Memory, agent_id: str, most: int | None) -> Answer:
    """The memory in their shape, of its words so many characters."""
    record = memory_record(memory, agent_id)
    if most is None:
        return record
    cut = len(memory.content) > most
    return record | {"content": memory.content[:most], "content_len": len(memory.content), "content_truncated": cut}


def _visit(caller: Caller, session_id: str, scope: Scope) -> tuple[In, Visit]:
    """A session with its namespace; one that the key does not reach does not exist for it."""
    caller.need(scope)
    visit = caller.sack.visits.get(session_id)
    if not caller.key.reaches(visit.namespace):
        raise NotFoundError(f"no session {session_id!r}")
    return agent(caller, visit.namespace, scope), visit


def _summary(here: In, visit: Visit) -> str | None:
    """What was said of the session at its end, unless it was forgotten since."""
    found = [] if visit.summary is None else here.ns.get_many([visit.summary])
    return next((memory.content for memory in found if memory.stage is not Stage.DELETED), None)
