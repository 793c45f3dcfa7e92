"""Memories as the dakera client stores, asks for, changes and forgets them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import JsonValue
from starlette.responses import Response

from haversack.assemble import Context
from haversack.clock import utc_now
from haversack.engine.erasing import scope_to_forget
from haversack.engine.keys import Scope
from haversack.engine.reading import Hit
from haversack.errors import InputError, NotFoundError
from haversack.model.memory import Memory, Source, Stage
from haversack.server.caller import Caller, In, ReadCaller, WriteCaller
from haversack.server.dakera.ids import GIVEN, MemoryId, find, known, own_ids, shown_id, shown_ids
from haversack.server.dakera.shapes import (
    TYPES,
    AgentQuery,
    Answer,
    BatchFilter,
    DakeraForgetBody,
    DakeraRecallBody,
    DakeraUpdateBody,
    ImportanceBody,
    Loose,
    StoreBatchBody,
    StoreBody,
    StoreItem,
    agent,
    memory_record,
    stored_details,
    type_of,
    warnings_of,
)
from haversack.server.routes.declare import PROBLEMS, StrictRoute, problems
from haversack.server.shapes import answer

router = APIRouter(route_class=StrictRoute, tags=["dakera"], prefix="/v1")

_WIDE = 1_000
"""Hits looked through where a filter of theirs is none of ours."""


class BatchRecallBody(Loose):
    """Memories to list by predicates."""

    agent_id: str
    filter: BatchFilter = BatchFilter()
    limit: int = 100


class BatchForgetBody(Loose):
    """Memories to forget by predicates."""

    agent_id: str
    filter: BatchFilter = BatchFilter()


@router.post("/memory/store", response_model=Answer, responses=problems(409))
def store(caller: WriteCaller, body: StoreBody) -> Response:
    """Store a memory for an agent."""
    here = agent(caller, body.agent_id, Scope.WRITE)
    kept = _keep(here, [body])
    told: Answer = {"memory": memory_record(kept[0], body.agent_id), "embedding_time_ms": 0}
    if notes := [*warnings_of(body), *_known_notes([body], kept)]:
        told["warnings"] = list(notes)
    if body.session_id is not None and (state := _session_state(caller, body.session_id)):
        told["session_state"] = state
    return answer(told)


@router.post("/memories/store/batch", response_model=Answer, responses=problems(409))
def store_batch(caller: WriteCaller, body: StoreBatchBody) -> Response:
    """Store many memories in one transaction."""
    here = agent(caller, body.agent_id, Scope.WRITE)
    kept = _keep(here, body.memories)
    sessions = dict.fromkeys(item.session_id for item in body.memories if item.session_id)
    told: Answer = {
        "stored": [memory_record(one, body.agent_id) for one in kept],
        "stored_count": len(kept),
        "total_embedding_time_ms": 0,
        "ended_sessions": [name for name in sessions if _session_state(caller, name) == "ended"],
        "warnings": [*warnings_of(body, *body.memories), *_known_notes(body.memories, kept)],
    }
    return answer(told)


@router.post("/memory/recall", response_model=Answer, responses=problems(422, 502))
def recall(caller: ReadCaller, body: DakeraRecallBody) -> Response:
    """The memories that answer a query; with `budget`, those that fit it, and the packed text beside them."""
    here = agent(caller, body.agent_id, Scope.READ)
    told: Answer = {"search_time_ms": 0, "query_embedding_time_ms": 0, "warnings": list(warnings_of(body))}
    if body.budget is None:
        hits = _hits(here, body)
        told["memories"] = [_hit_record(hit, body.agent_id) for hit in hits]
        here.note("recall", ids=[hit.id for hit in hits])
    else:
        packed = _packed(here, body)
        told["memories"] = list(_kept_records(here, packed, body.agent_id))
        told["context"] = _context_record(here, packed)
        here.note("context", ids=packed.items)
    return answer(told)


@router.post("/memory/search", response_model=Answer, responses=problems(502))
def search(caller: ReadCaller, body: DakeraRecallBody) -> Response:
    """The memories that answer a query."""
    here = agent(caller, body.agent_id, Scope.READ)
    hits = _hits(here, body)
    here.note("recall", ids=[hit.id for hit in hits])
    return answer({"memories": [_hit_record(hit, body.agent_id) for hit in hits], "warnings": list(warnings_of(body))})


@router.get("/memory/get/{memory_id:label}", response_model=Answer, responses=PROBLEMS)
def get_memory(
    caller: ReadCaller,
    memory_id: MemoryId,
    agent_id: Annotated[str | None, Query(min_length=1, max_length=1000)] = None,
) -> Response:
    """One memory; without an agent, the one that the key's agents hold under this id."""
    if agent_id is None:
        agent_id = _holder(caller, memory_id)
    here = agent(caller, agent_id, Scope.READ)
    memory = known(here.ns, memory_id)
    here.note("read", ids=[memory.id])
    return answer(memory_record(memory, agent_id))


@router.put("/memory/update/{memory_id:label}", response_model=Answer, responses=problems(409))
def update_memory(caller: WriteCaller, memory_id: MemoryId, agent_id: AgentQuery, body: DakeraUpdateBody) -> Response:
    """Change fields of a memory; the earlier wording is kept."""
    here = agent(caller, agent_id, Scope.WRITE)
    old = known(here.ns, memory_id)
    changes: dict[str, Any] = {
        name: value for name in ("content", "importance", "tags") if (value := getattr(body, name)) is not None
    }
    if body.metadata is not None or body.memory_type is not None:
        kind = body.memory_type or type_of(old)
        told = dict(old.metadata) if body.metadata is None else body.metadata
        given = {GIVEN: old.metadata[GIVEN]} if GIVEN in old.metadata else {}
        changes |= {
            "metadata": {**told, **given, "memory_type": kind},
            "kind": TYPES[kind] if body.memory_type else old.kind,
        }
    memory = here.ns.edit(old.id, **changes) if changes else old
    here.note("edit", ids=[old.id])
    told_back = memory_record(memory, agent_id)
    if notes := warnings_of(body):
        told_back["warnings"] = list(notes)
    return answer(told_back)


@router.post("/memory/forget", response_model=Answer, responses=PROBLEMS)
def forget(caller: WriteCaller, body: DakeraForgetBody) -> Response:
    """Forget memories: hidden from every read, or with `hard` gone from every file."""
    here = agent(caller, body.agent_id, Scope.WRITE)
    names = dict(zip(own_ids(here.ns, body.memory_ids), body.memory_ids, strict=True))
    caller.need(scope_to_forget(here.ns, hard=body.hard, ids=tuple(names)))
    done = here.ns.forget(names, hard=body.hard)
    here.note("forget for good" if body.hard else "forget", ids=(*done.memories, *done.derived), now=True)
    gone: list[JsonValue] = [names.get(one, one) for one in (*done.memories, *done.derived)]
    return answer({"deleted_count": len(gone), "memory_ids": gone, "hard": body.hard, "scrubbed": done.scrubbed})


@router.post("/memories/recall/batch", response_model=Answer, responses=PROBLEMS)
def batch_recall(caller: ReadCaller, body: BatchRecallBody) -> Response:
    """Memories that meet every predicate, the newest first."""
    here = agent(caller, body.agent_id, Scope.READ)
    known = here.ns.everything()
    found = [memory for memory in known if body.filter.passes(memory)]
    page = found[: max(0, min(body.limit, _WIDE))]
    here.note("list", count=len(page))
    return answer(
        {
            "memories": [memory_record(one, body.agent_id) for one in page],
            "total": len(known),
            "filtered": len(found),
            "truncated": len(found) > len(page),
            "warnings": list(warnings_of(body, body.filter)),
        }
    )


@router.delete(
    "/memories/forget/batch", response_model=Answer, responses=PROBLEMS, openapi_extra={"x-body-on-delete": True}
)
def batch_forget(caller: WriteCaller, body: BatchForgetBody) -> Response:
    """Forget the memories that meet every predicate; at least one predicate must be given."""
    here = agent(caller, body.agent_id, Scope.WRITE)
    if not body.filter.says_something:
        raise InputError("filter must have at least one predicate: this would forget everything")
    if unknown := warnings_of(body.filter):
        raise InputError(f"a predicate that is not read would forget too much: {unknown[0]}")
    ids = [memory.id for memory in here.ns.everything() if body.filter.passes(memory)]
    if ids:
        here.ns.forget(ids)
    here.note("forget", ids=ids, now=True)
    return answer({"deleted_count": len(ids)})


@router.post("/memory/importance", response_model=Answer, responses=problems(409))
def set_importance(caller: WriteCaller, body: ImportanceBody) -> Response:
    """Give a memory another importance."""
    if body.memory_id is None:
        raise InputError("memory_id is missing")
    memory = _set_importance(caller, body.memory_id, body)
    return answer({"memory_id": shown_id(memory), "importance": memory.importance, "updated": True})


@router.patch("/memories/{memory_id:label}/importance", response_model=Answer, responses=problems(409))
def patch_importance(caller: WriteCaller, memory_id: MemoryId, body: ImportanceBody) -> Response:
    """Give a memory another importance; answers the memory."""
    return answer(memory_record(_set_importance(caller, memory_id, body), body.agent_id))


def _set_importance(caller: Caller, memory_id: str, body: ImportanceBody) -> Memory:
    here = agent(caller, body.agent_id, Scope.WRITE)
    memory = here.ns.edit(known(here.ns, memory_id).id, importance=body.importance)
    here.note("edit", ids=[memory.id])
    return memory


def _keep(here: In, items: Sequence[StoreItem]) -> list[Memory]:
    """The new ones in one transaction; then what was stored under an id of its own is reworded."""
    now, names = utc_now(), [item.id for item in items if item.id]
    if len(set(names)) < len(names):
        raise InputError("an id stands twice among these memories")
    before = {name: memory for name in names if (memory := find(here.ns, name)) and memory.stage is not Stage.DELETED}
    drafts = [
        {**stored_details(item, now), "source": Source(session=item.session_id)}
        for item in items
        if item.id not in before
    ]
    fresh = iter(here.ns.remember_many(drafts) if drafts else ())
    kept = [
        _reworded(here, before[item.id], item) if item.id in before else _named(here, next(fresh), item.id)
        for item in items
    ]
    here.note("remember", ids=[memory.id for memory in kept])
    return kept


def _named(here: In, memory: Memory, name: str | None) -> Memory:
    """A memory under this id too, where it was remembered already without one of its agent's."""
    if name is None or GIVEN in memory.metadata:
        return memory
    return here.ns.edit(memory.id, metadata={**memory.metadata, GIVEN: name})


def _reworded(here: In, old: Memory, item: StoreItem) -> Memory:
    """A memory that its agent stores again under the id that it has; its earlier wording is kept."""
    told = stored_details(item, utc_now())
    return here.ns.edit(old.id, **{name: value for name, value in told.items() if name != "event_time" or value})


def _known_notes(items: Iterable[StoreItem], kept: Iterable[Memory]) -> list[str]:
    """What was remembered already keeps its own fields: say so where they differ from those sent."""
    return [
        f"{shown_id(memory)} says the same already: its id was not changed, nor what it has (use update_memory)"
        for item, memory in zip(items, kept, strict=True)
        if (memory.importance, memory.source.session, set(memory.tags), item.id or shown_id(memory))
        != (item.importance, item.session_id, set(item.tags or ()), shown_id(memory))
    ]


def _session_state(caller: Caller, session_id: str) -> str | None:
    """Whether a session that was opened here is still open."""
    try:
        visit = caller.sack.visits.get(session_id)
    except NotFoundError:
        return None
    return ("ended" if visit.ended_at else "active") if caller.key.reaches(visit.namespace) else None


def _hits(here: In, body: DakeraRecallBody) -> list[Hit]:
    """The best hits; where a filter of theirs is none of ours, the best of many that pass it."""
    is_plain = body.memory_type is None and body.min_importance is None and body.tags is None
    found = here.ns.recall(
        body.query,
        top_k=body.top_k if is_plain else _WIDE,
        since=body.since,
        until=body.until,
        session=body.session_id,
    )
    return [hit for hit in found if _passes(body, hit.memory)][: body.top_k]


def _passes(body: DakeraRecallBody, memory: Memory) -> bool:
    return (
        (body.memory_type is None or type_of(memory) == body.memory_type)
        and (body.min_importance is None or memory.importance >= body.min_importance)
        and (body.tags is None or bool(set(body.tags) & set(memory.tags)))
    )


def _packed(here: In, body: DakeraRecallBody) -> Context:
    if body.memory_type is not None or body.min_importance is not None:
        raise InputError("budget goes with tags, session_id, since and until; not with memory_type or min_importance")
    return here.ns.context(
        body.query,
        budget=body.budget,
        model=body.model,
        tags=body.tags or (),
        since=body.since,
        until=body.until,
        session=body.session_id,
        weights="balanced",
    )


def _hit_record(hit: Hit, agent_id: str) -> Answer:
    return {"memory": memory_record(hit.memory, agent_id), "score": hit.relevance, "rank_score": hit.score}


def _kept_records(here: In, packed: Context, agent_id: str) -> list[Answer]:
    """What stands in the packed text, best first, each with what it takes there."""
    rows = sorted(packed.kept, key=lambda row: -row.score)
    return [
        {
            "memory": memory_record(here.ns.get(row.memory_id), agent_id),
            "score": row.relevance,
            "rank_score": row.score,
            "tokens": row.tokens,
            "rendition": None if row.rendition is None else row.rendition.value,
        }
        for row in rows
    ]


def _context_record(here: In, packed: Context) -> Answer:
    left = [row for row in packed.verdicts if row.verdict in {"dropped", "filtered"}][:100]
    names = shown_ids(here.ns, [row.memory_id for row in left])
    return {
        "text": packed.text,
        "tokens": packed.tokens,
        "budget": packed.budget,
        "kept": len(packed.items),
        "left_out": [
            {"memory_id": name, "reason": row.reason, "tokens": row.tokens}
            for name, row in zip(names, left, strict=True)
        ],
    }


def _holder(caller: Caller, memory_id: str) -> str:
    """The one namespace of the key's own that has this id."""
    holders = [name for name in caller.sack.namespaces(caller.key.namespaces) if _has(caller, name, memory_id)]
    if not holders:
        raise NotFoundError(f"no memory {memory_id!r}")
    if len(holders) > 1:
        raise InputError(f"several agents hold this id, so name one: {', '.join(holders[:10])}")
    return holders[0]


def _has(caller: Caller, namespace: str, memory_id: str) -> bool:
    memory = find(caller.sack.namespace(namespace), memory_id)
    return memory is not None and memory.stage is not Stage.DELETED
