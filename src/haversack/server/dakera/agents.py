"""Agents and the server, as the dakera client asks for them."""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from haversack.clock import utc_now
from haversack.engine.keys import Scope
from haversack.server.caller import Caller, ReadCaller, WriteCaller
from haversack.server.dakera.sessions import Limit, Offset, Preview, shown_memory, visits_of
from haversack.server.dakera.shapes import (
    AgentId,
    AgentPath,
    Answer,
    Loose,
    agent,
    memory_record,
    type_of,
    visit_record,
)
from haversack.server.routes.declare import PROBLEMS, StrictRoute
from haversack.server.shapes import answer

router = APIRouter(route_class=StrictRoute, tags=["dakera"], prefix="/v1")

_STARTED = time.time()
_VERSION = version("haversack")


class AgentBody(Loose):
    """An agent."""

    agent_id: AgentId


@router.get("/agents", response_model=list[Answer], responses=PROBLEMS)
def list_agents(caller: ReadCaller) -> Response:
    """The agents that the key reaches."""
    names = caller.sack.namespaces(caller.key.namespaces)
    return answer([_census(caller, name) for name in names])


@router.post("/agents", response_model=Answer, responses=PROBLEMS)
def create_agent(caller: WriteCaller, body: AgentBody) -> Response:
    """An agent comes to be with its first memory, so there is nothing to do but to say whether it has one."""
    here = agent(caller, body.agent_id, Scope.WRITE)
    exists = bool(caller.sack.namespaces([here.ns.name]))
    return answer({"agent_id": body.agent_id, "namespace": here.ns.name, "created": not exists})


@router.get("/agents/{agent_id:label}/memories", response_model=list[Answer], responses=PROBLEMS)
def agent_memories(
    caller: ReadCaller,
    agent_id: AgentPath,
    memory_type: Annotated[str | None, Query(max_length=50)] = None,
    limit: Limit = 50,
    offset: Offset = 0,
    content_preview_chars: Preview = None,
) -> Response:
    """An agent's memories, the newest first."""
    here = agent(caller, agent_id, Scope.READ)
    found = [one for one in here.ns.everything() if memory_type in (None, type_of(one))]
    here.note("list", count=len(found))
    return answer([shown_memory(memory, agent_id, content_preview_chars) for memory in found[offset : offset + limit]])


@router.get("/agents/{agent_id:label}/stats", response_model=Answer, responses=PROBLEMS)
def agent_stats(caller: ReadCaller, agent_id: AgentPath) -> Response:
    """How much an agent remembers."""
    return answer({**_census(caller, agent(caller, agent_id, Scope.READ).ns.name), "agent_id": agent_id})


@router.get("/agents/{agent_id:label}/sessions", response_model=list[Answer], responses=PROBLEMS)
def agent_sessions(
    caller: ReadCaller, agent_id: AgentPath, *, active_only: bool = False, limit: Limit = 50
) -> Response:
    """An agent's sessions, the newest first."""
    found = visits_of(caller, agent(caller, agent_id, Scope.READ).ns.name, active_only=active_only)
    return answer([visit_record(visit) for visit in found[:limit]])


@router.get("/agents/{agent_id:label}/wake-up", response_model=Answer, responses=PROBLEMS)
def wake_up(
    caller: ReadCaller,
    agent_id: AgentPath,
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


@router.get("/ops/stats", response_model=Answer, responses=PROBLEMS)
def ops_stats(caller: ReadCaller) -> Response:
    """What the key may see of the server."""
    names = caller.sack.namespaces(caller.key.namespaces)
    total = sum(sum(caller.sack.namespace(name).stats().memories.values()) for name in names)
    return answer(
        {
            "version": _VERSION,
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
            "server_version": _VERSION,
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
        "active_sessions": len(visits_of(caller, name, active_only=True)),
    }
