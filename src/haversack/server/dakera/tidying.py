"""Merging and folding, as the dakera client asks for them; all of it can be undone."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import JsonValue
from starlette.responses import Response

from haversack.engine.keys import Scope
from haversack.server.caller import In, ReadCaller, WriteCaller
from haversack.server.dakera.ids import GIVEN, MemoryId, own_ids, shown_id, shown_ids
from haversack.server.dakera.shapes import (
    AgentQuery,
    Answer,
    ConsolidateBody,
    DeduplicateBody,
    agent,
    memory_record,
    warnings_of,
)
from haversack.server.routes.declare import PROBLEMS, StrictRoute, problems
from haversack.server.shapes import answer

router = APIRouter(route_class=StrictRoute, tags=["dakera"], prefix="/v1")


@router.post("/memory/consolidate", response_model=Answer, responses=problems(409))
def consolidate(caller: WriteCaller, body: ConsolidateBody) -> Response:
    """Merge these memories, or the largest group of near duplicates, into one; the parts can be restored."""
    here = agent(caller, body.agent_id, Scope.WRITE)
    ids = own_ids(here.ns, body.memory_ids) if body.memory_ids else _largest_group(here, body.threshold)
    sources: list[JsonValue] = [*shown_ids(here.ns, ids)]
    told: Answer = {"dry_run": body.dry_run, "source_memory_ids": sources, "warnings": list(warnings_of(body))}
    if not ids:
        return answer(told | {"consolidated_memory": None, "memories_removed": 0})
    whole = here.ns.merge(ids, preview=body.dry_run)
    if not body.dry_run:
        if GIVEN in whole.metadata:
            rest = {name: value for name, value in whole.metadata.items() if name != GIVEN}
            whole = here.ns.edit(whole.id, metadata=rest)  # the part whose id it was may come back
        here.note("merge", ids=[whole.id, *ids])
    removed = 0 if body.dry_run else len(ids)
    return answer(told | {"consolidated_memory": memory_record(whole, body.agent_id), "memories_removed": removed})


@router.post("/knowledge/deduplicate", response_model=Answer, responses=problems(409))
def deduplicate(caller: WriteCaller, body: DeduplicateBody) -> Response:
    """Fold near duplicates into the best of them; `dry_run` only shows, and what was folded can be restored."""
    here = agent(caller, body.agent_id, Scope.WRITE)
    ns = here.ns
    groups = ns.fold(threshold=body.threshold, preview=body.dry_run)
    folded = [one for group in groups for one in group.folded]
    if not body.dry_run:
        here.note("fold", ids=folded)
    return answer(
        {
            "agent_id": body.agent_id,
            "dry_run": body.dry_run,
            "duplicates_found": len(folded),
            "duplicates_merged": 0 if body.dry_run else len(folded),
            "groups": [
                {"survivor_id": shown_ids(ns, [group.survivor])[0], "duplicate_ids": [*shown_ids(ns, group.folded)]}
                for group in groups
            ],
            "warnings": list(warnings_of(body)),
        }
    )


@router.get("/memory/deduplicated", response_model=Answer, responses=PROBLEMS)
def list_deduplicated(caller: ReadCaller, agent_id: AgentQuery) -> Response:
    """Memories that others took the place of; they stay restorable."""
    here = agent(caller, agent_id, Scope.READ)
    folded = here.ns.folded()
    survivors = shown_ids(here.ns, [memory.superseded_by or "" for memory in folded])
    records: list[JsonValue] = [
        {
            "id": shown_id(memory),
            "kind": "deduplication",
            "survivor_id": survivor,
            "deleted_at": 0,
            "restorable_until": 0,
            "session_id": memory.source.session,
        }
        for memory, survivor in zip(folded, survivors, strict=True)
    ]
    return answer({"agent_id": agent_id, "memories": records, "count": len(records)})


@router.post("/memory/deduplicated/{memory_id:label}/restore", response_model=Answer, responses=PROBLEMS)
def restore_deduplicated(caller: WriteCaller, memory_id: MemoryId, agent_id: AgentQuery) -> Response:
    """Undo a fold or a merge for one memory."""
    here = agent(caller, agent_id, Scope.WRITE)
    folded = next((one for one in here.ns.folded() if memory_id in {one.id, shown_id(one)}), None)
    memory = here.ns.unfold(memory_id if folded is None else folded.id)
    here.note("restore", ids=[memory.id])
    return answer(memory_record(memory, agent_id))


def _largest_group(here: In, threshold: float) -> list[str]:
    groups = here.ns.fold(threshold=threshold, preview=True)
    largest = max(groups, key=lambda group: len(group.folded), default=None)
    return [] if largest is None else [largest.survivor, *largest.folded]
