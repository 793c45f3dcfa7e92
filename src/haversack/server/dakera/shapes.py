"""The dakera client's bodies and answers. Its bodies may hold fields that are not offered: the answer names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from haversack.engine.keys import Key, Scope
from haversack.engine.visits import Visit
from haversack.model.memory import Kind, Memory
from haversack.server.caller import Caller, In
from haversack.server.dakera.ids import GIVEN, shown_id
from haversack.server.settings import MOST_ITEMS, MOST_TEXT

__all__ = [
    "AGENT_PREFIX",
    "TYPES",
    "AgentId",
    "AgentPath",
    "AgentQuery",
    "Answer",
    "BatchFilter",
    "ConsolidateBody",
    "DakeraFeedbackBody",
    "DakeraForgetBody",
    "DakeraRecallBody",
    "DakeraUpdateBody",
    "DeduplicateBody",
    "ImportanceBody",
    "Loose",
    "StoreBatchBody",
    "StoreBody",
    "StoreItem",
    "agent",
    "key_record",
    "memory_record",
    "stored_details",
    "type_of",
    "visit_record",
    "warnings_of",
]

Answer = dict[str, JsonValue]

TYPES: Mapping[str, Kind] = {
    "episodic": Kind.FACT,
    "semantic": Kind.FACT,
    "procedural": Kind.PROCEDURE,
    "working": Kind.STATE,
}
"""Their memory types in our kinds; the word itself is kept in the metadata."""

_TYPE = "memory_type"
AGENT_PREFIX = "_dakera_agent_"
AgentId = Annotated[str, Field(min_length=1, max_length=1000)]
AgentPath = Annotated[str, Path(min_length=1, max_length=1000)]
AgentQuery = Annotated[str, Query(min_length=1, max_length=1000)]
GivenId = Annotated[str, Field(min_length=1, max_length=255)]
MemoryType = Annotated[str, Field(pattern=f"^({'|'.join(TYPES)})$")]
Tags = Annotated[list[Annotated[str, Field(min_length=1, max_length=1000)]], Field(max_length=200)]
MemoryIds = Annotated[list[GivenId], Field(min_length=1, max_length=MOST_ITEMS)]
Unit = Annotated[float, Field(ge=0, le=1)]


class Loose(BaseModel):
    """A body that may say more than we read."""

    model_config = ConfigDict(extra="allow", strict=True)


class StoreItem(Loose):
    """A memory to store."""

    content: Annotated[str, Field(min_length=1, max_length=MOST_TEXT)]
    memory_type: MemoryType = "episodic"
    importance: Unit = 0.5
    metadata: dict[str, JsonValue] | None = None
    session_id: Annotated[str, Field(min_length=1, max_length=1000)] | None = None
    tags: Tags | None = None
    ttl_seconds: Annotated[int, Field(ge=1, le=10**9)] | None = None
    expires_at: int | float | None = None
    event_time: int | float | str | None = None
    id: GivenId | None = None
    """The agent's own id: the memory is found by it, and storing under it again rewords the memory."""


class StoreBody(StoreItem):
    """A memory to store for an agent."""

    agent_id: AgentId


class StoreBatchBody(Loose):
    """Memories to store for an agent."""

    agent_id: AgentId
    memories: Annotated[list[StoreItem], Field(min_length=1, max_length=MOST_ITEMS)]


class DakeraRecallBody(Loose):
    """A question about an agent's memories. `budget` is ours: tokens that the answer may take in a prompt."""

    agent_id: AgentId
    query: Annotated[str, Field(min_length=1, max_length=MOST_TEXT)]
    top_k: Annotated[int, Field(ge=1, le=1000)] = 5
    memory_type: MemoryType | None = None
    min_importance: Unit | None = None
    since: str | None = None
    until: str | None = None
    tags: Tags | None = None
    session_id: Annotated[str, Field(min_length=1, max_length=1000)] | None = None
    budget: Annotated[int, Field(ge=0, le=10_000_000)] | None = None
    model: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class DakeraUpdateBody(Loose):
    """Fields of a memory to change."""

    content: Annotated[str, Field(min_length=1, max_length=MOST_TEXT)] | None = None
    metadata: dict[str, JsonValue] | None = None
    memory_type: MemoryType | None = None
    importance: Unit | None = None
    tags: Tags | None = None


class DakeraForgetBody(Loose):
    """Memories to forget. `hard` is ours: gone from every file of the store."""

    agent_id: AgentId
    memory_ids: MemoryIds
    hard: bool = False


class ImportanceBody(Loose):
    """A new importance."""

    agent_id: AgentId
    memory_id: GivenId | None = None
    importance: Unit


class DakeraFeedbackBody(Loose):
    """A vote."""

    agent_id: AgentId
    memory_id: GivenId | None = None
    signal: Literal["upvote", "downvote", "flag", "positive", "negative"]


class ConsolidateBody(Loose):
    """Memories to merge into one. `dry_run` is honoured."""

    agent_id: AgentId
    memory_ids: MemoryIds | None = None
    threshold: Unit = 0.9
    dry_run: bool = False


class DeduplicateBody(Loose):
    """Near duplicates to fold."""

    agent_id: AgentId
    threshold: Unit = 0.9
    dry_run: bool = False


class BatchFilter(Loose):
    """Predicates; all must hold."""

    tags: Tags | None = None
    min_importance: Unit | None = None
    max_importance: Unit | None = None
    created_after: int | None = None
    created_before: int | None = None
    memory_type: MemoryType | None = None
    session_id: Annotated[str, Field(min_length=1, max_length=1000)] | None = None

    def passes(self, memory: Memory) -> bool:
        """Whether the memory meets every predicate."""
        created = memory.created_at.timestamp()
        return (
            set(self.tags or ()) <= set(memory.tags)
            and (self.min_importance is None or memory.importance >= self.min_importance)
            and (self.max_importance is None or memory.importance <= self.max_importance)
            and (self.created_after is None or created >= self.created_after)
            and (self.created_before is None or created <= self.created_before)
            and (self.memory_type is None or type_of(memory) == self.memory_type)
            and (self.session_id is None or memory.source.session == self.session_id)
        )

    @property
    def says_something(self) -> bool:
        """Whether any predicate is given."""
        return any(getattr(self, name) is not None for name in type(self).model_fields)


def agent(caller: Caller, agent_id: str, scope: Scope) -> In:
    """The agent's namespace, if the caller may do this much there."""
    return In(caller, caller.namespace(agent_id.removeprefix(AGENT_PREFIX), scope))


def warnings_of(*bodies: Loose) -> list[str]:
    """The fields that were sent and are not read, named."""
    names = dict.fromkeys(name for body in bodies for name in body.model_extra or {})
    return [f"field '{name}' is not offered and was ignored" for name in names]


def type_of(memory: Memory) -> str:
    """The memory's type in their words."""
    told = memory.metadata.get(_TYPE)
    if isinstance(told, str) and told in TYPES:
        return told
    return next((word for word, kind in TYPES.items() if word != "episodic" and kind is memory.kind), "episodic")


def memory_record(memory: Memory, agent_id: str) -> Answer:
    """The memory in their shape."""
    return {
        "id": shown_id(memory),
        "agent_id": agent_id,
        "content": memory.content,
        "memory_type": type_of(memory),
        "importance": memory.importance,
        "metadata": {name: value for name, value in memory.metadata.items() if name not in {_TYPE, GIVEN}},
        "tags": list(memory.tags),
        "session_id": memory.source.session,
        "created_at": memory.created_at.isoformat(),
        "updated_at": memory.created_at.isoformat(),
        "event_time": memory.event_time.isoformat(),
        "expires_at": _seconds(memory.expires_at),
        "access_count": memory.access_count,
        "trust": memory.trust.value,
    }


def visit_record(visit: Visit, memories: int | None = None, *, summary: str | None = None) -> Answer:
    """The session in their shape."""
    return {
        "id": visit.id,
        "session_id": visit.id,
        "agent_id": visit.namespace,
        "started_at": _seconds(visit.started_at),
        "ended_at": _seconds(visit.ended_at),
        "last_activity_at": _seconds(visit.last_at),
        "summary": summary,
        "metadata": dict(visit.metadata),
        **({} if memories is None else {"memory_count": memories}),
    }


def key_record(key: Key, *, active: bool) -> Answer:
    """The key in their shape."""
    return {
        "key_id": key.id,
        "name": key.name,
        "scope": key.scope.value,
        "namespaces": None if key.namespaces is None else _listed(key.namespaces),
        "created_at": _seconds(key.created_at),
        "expires_at": _seconds(key.expires_at),
        "last_used_at": _seconds(key.last_used_at),
        "active": active,
        "grants_version": 1,
    }


def _listed(names: Iterable[str]) -> list[JsonValue]:
    return list(names)


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())


def stored_details(item: StoreItem, now: datetime) -> dict[str, Any]:
    """The item as keywords of `remember`."""
    expires: Any = item.expires_at
    if expires is None and item.ttl_seconds is not None:
        expires = now + timedelta(seconds=item.ttl_seconds)
    metadata = dict(item.metadata or {})
    return {
        "content": item.content,
        "kind": TYPES[item.memory_type],
        "importance": item.importance,
        "metadata": {**metadata, _TYPE: item.memory_type, **({GIVEN: item.id} if item.id else {})},
        "tags": item.tags or (),
        "event_time": item.event_time,
        "valid_from": metadata.get("valid_from"),
        "expires_at": expires,
    }
