"""Agents, their sessions, feedback and tidying, as the dakera client asks for them."""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field, JsonValue
from starlette.responses import Response

from haversack.clock import utc_now
from haversack.engine.feedback import Signal
from haversack.engine.keys import Scope
from haversack.engine.visits import Visit
from haversack.errors import NotFoundError
from haversack.guard.refusal import Refused
from haversack.model.memory import Kind, Memory, Source
from haversack.server.caller import Caller, In, ReadCaller, WriteCaller
from haversack.server.dakera.memories import AgentQuery, MemoryId
from haversack.server.dakera.shapes import (
    Answer,
    ConsolidateBody,
    DeduplicateBody,
    FeedbackBody,
    Loose,
    agent,
    memory_record,
    type_of,
    visit_record,
    warnings_of,
)
from haversack.server.routes.declare import PROBLEMS, problems
from haversack.server.shapes import answer

router = APIRouter(tags=["dakera"], prefix="/v1")

AgentId = Annotated[str, Path(min_length=1, max_length=1000)]
SessionId = Annotated[str, Path(min_length=1, max_length=1000)]
Limit = Annotated[int, Query(ge=1, le=1000)]
Offset = Annotated[int, Query(ge=0, le=10**9)]
Preview = Annotated[int | None, Query(ge=1, le=10_000)]
_STARTED = time.time()
_SIGNALS = {"upvote": "up", "positive": "up", "downvote": "down", "negative": "down", "flag": "flag"}
_WORDS = {Signal.UP: "upvote", Signal.DOWN: "downvote", Signal.FLAG: "flag"}


class StartBody(Loose):
    """A session to open."""

    agent_id: Annotated[str, Field(min_length=1, max_length=1000)]
    metadata: dict[str, JsonValue] | None = None


class EndBody(Loose):
    """How a session ends."""

    summary: Annotated[str, Field(max_length=50_000)] | None = None


class AgentBody(Loose):
    """An agent."""

    agent_id: Annotated[str, Field(min_length=1, max_length=1000)]


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
    found = _visits(caller, agent_id, active_only=active_only)
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
    records = [_shown(memory, visit.namespace, content_preview_chars) for memory in page]
    return answer({"memories": records, "total": len(found)})


@router.get("/agents", response_model=list[Answer], responses=PROBLEMS)
def list_agents(caller: ReadCaller) -> Response:
    """The agents that the key reaches."""
    names = [name for name in caller.sack.namespaces() if caller.key.reaches(name)]
    return answer([_census(caller, name) for name in names])


@router.post("/agents", response_model=Answer, responses=PROBLEMS)
def create_agent(caller: WriteCaller, body: AgentBody) -> Response:
    """An agent comes to be with its first memory, so there is nothing to do but to say whether it has one."""
    here = agent(caller, body.agent_id, Scope.WRITE)
    exists = here.ns.name in caller.sack.namespaces()
    return answer({"agent_id": body.agent_id, "namespace": here.ns.name, "created": not exists})


@router.get("/agents/{agent_id:label}/memories", response_model=list[Answer], responses=PROBLEMS)
def agent_memories(
    caller: ReadCaller,
    agent_id: AgentId,
    memory_type: Annotated[str | None, Query(max_length=50)] = None,
    limit: Limit = 50,
    offset: Offset = 0,
    content_preview_chars: Preview = None,
) -> Response:
    """An agent's memories, the newest first."""
    here = agent(caller, agent_id, Scope.READ)
    found = [one for one in here.ns.everything() if memory_type in (None, type_of(one))]
    here.note("list", count=len(found))
    return answer([_shown(memory, agent_id, content_preview_chars) for memory in found[offset : offset + limit]])


@router.get("/agents/{agent_id:label}/stats", response_model=Answer, responses=PROBLEMS)
def agent_stats(caller: ReadCaller, agent_id: AgentId) -> Response:
    """How much an agent remembers."""
    return answer({**_census(caller, agent(caller, agent_id, Scope.READ).ns.name), "agent_id": agent_id})


@router.get("/agents/{agent_id:label}/sessions", response_model=list[Answer], responses=PROBLEMS)
def agent_sessions(caller: ReadCaller, agent_id: AgentId, *, active_only: bool = False, limit: Limit = 50) -> Response:
    """An agent's sessions, the newest first."""
    found = _visits(caller, agent(caller, agent_id, Scope.READ).ns.name, active_only=active_only)
    return answer([visit_record(visit) for visit in found[:limit]])


@router.get("/agents/{agent_id:label}/wake-up", response_model=Answer, responses=PROBLEMS)
def wake_up(
    caller: ReadCaller,
    agent_id: AgentId,
    top_n: Annotated[int, Query(ge=1, le=100)] = 20,
    min_importance: Annotated[float, Query(ge=0, le=1)] = 0.0,
) -> Response:
    """The memories to begin with, by importance and age."""
    here = agent(caller, agent_id, Scope.READ)
    memories, total = here.ns.wake_up(top=top_n, least=min_importance)
    here.note("wake up", ids=[memory.id for memory in memories])
    return answer(
        {
            "agent_id": agent_id,
            "memories": [memory_record(memory, agent_id) for memory in memories],
            "total_available": total,
        }
    )


@router.post("/memory/consolidate", response_model=Answer, responses=problems(409))
def consolidate(caller: WriteCaller, body: ConsolidateBody) -> Response:
    """Merge these memories, or the largest group of near duplicates, into one; the parts can be restored."""
    here = agent(caller, body.agent_id, Scope.WRITE)
    ids = body.memory_ids or _largest_group(here, body.threshold)
    told: Answer = {"dry_run": body.dry_run, "source_memory_ids": list(ids), "warnings": list(warnings_of(body))}
    if not ids:
        return answer(told | {"consolidated_memory": None, "memories_removed": 0})
    whole = here.ns.merge(ids, preview=body.dry_run)
    if not body.dry_run:
        here.note("merge", ids=[whole.id, *ids])
    removed = 0 if body.dry_run else len(ids)
    return answer(told | {"consolidated_memory": memory_record(whole, body.agent_id), "memories_removed": removed})


@router.post("/knowledge/deduplicate", response_model=Answer, responses=problems(409))
def deduplicate(caller: WriteCaller, body: DeduplicateBody) -> Response:
    """Fold near duplicates into the best of them; `dry_run` only shows, and what was folded can be restored."""
    here = agent(caller, body.agent_id, Scope.WRITE)
    groups = here.ns.fold(threshold=body.threshold, preview=body.dry_run)
    folded = [one for group in groups for one in group.folded]
    if not body.dry_run:
        here.note("fold", ids=folded)
    return answer(
        {
            "agent_id": body.agent_id,
            "dry_run": body.dry_run,
            "duplicates_found": len(folded),
            "duplicates_merged": 0 if body.dry_run else len(folded),
            "groups": [{"survivor_id": group.survivor, "duplicate_ids": list(group.folded)} for group in groups],
            "warnings": list(warnings_of(body)),
        }
    )


@router.get("/memory/deduplicated", response_model=Answer, responses=PROBLEMS)
def list_deduplicated(caller: ReadCaller, agent_id: AgentQuery) -> Response:
    """Memories that others took the place of; they stay restorable."""
    here = agent(caller, agent_id, Scope.READ)
    records: list[JsonValue] = [
        {
            "id": memory.id,
            "kind": "deduplication",
            "survivor_id": memory.superseded_by,
            "deleted_at": 0,
            "restorable_until": 0,
            "session_id": memory.source.session,
        }
        for memory in here.ns.folded()
    ]
    return answer({"agent_id": agent_id, "memories": records, "count": len(records)})


@router.post("/memory/deduplicated/{memory_id:label}/restore", response_model=Answer, responses=PROBLEMS)
def restore_deduplicated(caller: WriteCaller, memory_id: MemoryId, agent_id: AgentQuery) -> Response:
    """Undo a fold or a merge for one memory."""
    here = agent(caller, agent_id, Scope.WRITE)
    memory = here.ns.unfold(memory_id)
    here.note("restore", ids=[memory_id])
    return answer(memory_record(memory, agent_id))


@router.post("/memory/feedback", response_model=Answer, responses=problems(409))
def memory_feedback(caller: WriteCaller, body: FeedbackBody) -> Response:
    """Vote on a memory."""
    if body.memory_id is None:
        raise Refused(400, "INVALID_REQUEST", "memory_id is missing")
    return answer(_vote(caller, body.memory_id, body))


@router.post("/memories/{memory_id:label}/feedback", response_model=Answer, responses=problems(409))
def feedback_memory(caller: WriteCaller, memory_id: MemoryId, body: FeedbackBody) -> Response:
    """Vote on a memory."""
    return answer(_vote(caller, memory_id, body))


@router.get("/memories/{memory_id:label}/feedback", response_model=Answer, responses=PROBLEMS)
def feedback_history(caller: ReadCaller, memory_id: MemoryId, agent_id: AgentQuery) -> Response:
    """The votes on a memory, oldest first."""
    here = agent(caller, agent_id, Scope.READ)
    here.ns.get(memory_id)
    entries: list[JsonValue] = [
        {
            "signal": _WORDS[vote.signal],
            "timestamp": int(vote.at.timestamp()),
            "old_importance": vote.before,
            "new_importance": vote.after,
        }
        for vote in here.ns.votes(memory_id)
    ]
    return answer({"memory_id": memory_id, "entries": entries})


@router.get("/agents/{agent_id:label}/feedback/summary", response_model=Answer, responses=PROBLEMS)
def feedback_summary(caller: ReadCaller, agent_id: AgentId) -> Response:
    """How an agent's memories were voted on."""
    here = agent(caller, agent_id, Scope.READ)
    counts = here.ns.votes_by_signal()
    return answer(
        {
            "agent_id": agent_id,
            "upvotes": counts[Signal.UP],
            "downvotes": counts[Signal.DOWN],
            "flags": counts[Signal.FLAG],
            "total_feedback": sum(counts.values()),
            "health_score": _mean_importance(here)[0],
        }
    )


@router.get("/feedback/health", response_model=Answer, responses=PROBLEMS)
def feedback_health(caller: ReadCaller, agent_id: AgentQuery) -> Response:
    """The mean importance of an agent's memories."""
    mean, count = _mean_importance(agent(caller, agent_id, Scope.READ))
    return answer({"agent_id": agent_id, "health_score": mean, "memory_count": count, "avg_importance": mean})


@router.get("/ops/stats", response_model=Answer, responses=PROBLEMS)
def ops_stats(caller: ReadCaller) -> Response:
    """What the key may see of the server."""
    names = [name for name in caller.sack.namespaces() if caller.key.reaches(name)]
    total = sum(sum(caller.sack.namespace(name).stats().memories.values()) for name in names)
    return answer(
        {
            "version": version("haversack"),
            "total_vectors": total,
            "namespace_count": len(names),
            "uptime_seconds": int(time.time() - _STARTED),
            "timestamp": int(utc_now().timestamp()),
            "state": "healthy",
        }
    )


@router.get("/capabilities", response_model=Answer, responses=PROBLEMS)
def capabilities(caller: ReadCaller) -> Response:
    """What of the dakera server's abilities are here."""
    del caller
    return answer(
        {
            "capabilities_version": 2,
            "server_version": version("haversack"),
            "api_versions": ["v1"],
            "models": [],
            "search_mode": "hybrid",
            "search_modes_accepted": "hybrid",
            "auth": {"prefix_patterns": True, "key_update": True, "rotation_grace": True},
            "sessions": {"touch": True},
            "documents": {"enabled": False},
            "records": {"enabled": False},
        }
    )


def _visit(caller: Caller, session_id: str, scope: Scope) -> tuple[In, Visit]:
    """A session with its namespace; one that the key does not reach does not exist for it."""
    caller.need(scope)
    visit = caller.sack.visits.get(session_id)
    if not caller.key.reaches(visit.namespace):
        raise NotFoundError(f"no session {session_id!r}")
    return agent(caller, visit.namespace, scope), visit


def _visits(caller: Caller, namespace: str | None, *, active_only: bool) -> list[Visit]:
    """Sessions of one namespace, or of all that the key reaches, the newest first."""
    names = [namespace] if namespace is not None else caller.sack.namespaces()
    found = [visit for name in names if caller.key.reaches(name) for visit in caller.sack.visits.of(name)]
    found.sort(key=lambda visit: visit.id, reverse=True)
    return [visit for visit in found if not (active_only and visit.ended_at)]


def _summary(here: In, visit: Visit) -> str | None:
    """What was said of the session at its end, unless it was forgotten since."""
    if visit.summary is None:
        return None
    try:
        return here.ns.get(visit.summary).content
    except NotFoundError:
        return None


def _shown(memory: Memory, agent_id: str, most: int | None) -> Answer:
    record = memory_record(memory, agent_id)
    if most is None:
        return record
    cut = len(memory.content) > most
    return record | {"content": memory.content[:most], "content_len": len(memory.content), "content_truncated": cut}


def _census(caller: Caller, name: str) -> Answer:
    census = caller.sack.namespace(name).stats()
    total = sum(census.memories.values())
    return {
        "agent_id": name,
        "memory_count": total,
        "total_memories": total,
        "memories_by_kind": dict(census.memories),
        "session_count": census.sessions,
        "total_sessions": census.sessions,
        "active_sessions": len(_visits(caller, name, active_only=True)),
    }


def _largest_group(here: In, threshold: float) -> list[str]:
    groups = here.ns.fold(threshold=threshold, preview=True)
    largest = max(groups, key=lambda group: len(group.folded), default=None)
    return [] if largest is None else [largest.survivor, *largest.folded]


def _vote(caller: Caller, memory_id: str, body: FeedbackBody) -> Answer:
    here = agent(caller, body.agent_id, Scope.WRITE)
    vote = here.ns.vote(memory_id, _SIGNALS[body.signal])
    here.note("vote", ids=[memory_id])
    return {"memory_id": memory_id, "new_importance": vote.after, "signal": _WORDS[vote.signal]}


def _mean_importance(here: In) -> tuple[float, int]:
    found = here.ns.everything()
    return (sum(memory.importance for memory in found) / len(found) if found else 0.0), len(found)
