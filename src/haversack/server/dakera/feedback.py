"""Votes on memories, as the dakera client gives and reads them."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import JsonValue
from starlette.responses import Response

from haversack.engine.feedback import Signal
from haversack.engine.keys import Scope
from haversack.guard.refusal import Refused
from haversack.server.caller import Caller, In, ReadCaller, WriteCaller
from haversack.server.dakera.ids import MemoryId, known
from haversack.server.dakera.shapes import AgentPath, AgentQuery, Answer, DakeraFeedbackBody, agent
from haversack.server.routes.declare import PROBLEMS, StrictRoute, problems
from haversack.server.shapes import answer

router = APIRouter(route_class=StrictRoute, tags=["dakera"], prefix="/v1")

_SIGNALS = {"upvote": "up", "positive": "up", "downvote": "down", "negative": "down", "flag": "flag"}
_WORDS = {Signal.UP: "upvote", Signal.DOWN: "downvote", Signal.FLAG: "flag"}


@router.post("/memory/feedback", response_model=Answer, responses=problems(409))
def memory_feedback(caller: WriteCaller, body: DakeraFeedbackBody) -> Response:
    """Vote on a memory."""
    if body.memory_id is None:
        raise Refused(400, "INVALID_REQUEST", "memory_id is missing")
    return answer(_vote(caller, body.memory_id, body))


@router.post("/memories/{memory_id:label}/feedback", response_model=Answer, responses=problems(409))
def feedback_memory(caller: WriteCaller, memory_id: MemoryId, body: DakeraFeedbackBody) -> Response:
    """Vote on a memory."""
    return answer(_vote(caller, memory_id, body))


@router.get("/memories/{memory_id:label}/feedback", response_model=Answer, responses=PROBLEMS)
def feedback_history(caller: ReadCaller, memory_id: MemoryId, agent_id: AgentQuery) -> Response:
    """The votes on a memory, oldest first."""
    here = agent(caller, agent_id, Scope.READ)
    memory = known(here.ns, memory_id)
    entries: list[JsonValue] = [
        {
            "signal": _WORDS[vote.signal],
            "timestamp": int(vote.at.timestamp()),
            "old_importance": vote.before,
            "new_importance": vote.after,
        }
        for vote in here.ns.votes(memory.id)
    ]
    return answer({"memory_id": memory_id, "entries": entries})


@router.get("/agents/{agent_id:label}/feedback/summary", response_model=Answer, responses=PROBLEMS)
def feedback_summary(caller: ReadCaller, agent_id: AgentPath) -> Response:
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


def _vote(caller: Caller, memory_id: str, body: DakeraFeedbackBody) -> Answer:
    here = agent(caller, body.agent_id, Scope.WRITE)
    memory = known(here.ns, memory_id)
    vote = here.ns.vote(memory.id, _SIGNALS[body.signal])
    here.note("vote", ids=[memory.id])
    return {"memory_id": memory_id, "new_importance": vote.after, "signal": _WORDS[vote.signal]}


def _mean_importance(here: In) -> tuple[float, int]:
    found = here.ns.everything()
    return (sum(memory.importance for memory in found) / len(found) if found else 0.0), len(found)
