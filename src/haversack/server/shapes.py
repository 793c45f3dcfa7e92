"""What is answered: the engine's values as JSON. The OpenAPI document is made of these and the bodies of requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec
from pydantic import JsonValue, WithJsonSchema
from starlette.responses import Response
from typing_extensions import TypedDict

from haversack.engine.auditing import Deed
from haversack.engine.jobs import Job
from haversack.engine.keys import Key
from haversack.engine.reading import Hit
from haversack.model.memory import Memory, SessionInfo, Turn
from haversack.store.port import Census
from haversack.wire import openai

__all__ = [
    "CensusShape",
    "DeedShape",
    "HitShape",
    "JobShape",
    "KeyShape",
    "MemoryShape",
    "Moment",
    "SessionShape",
    "TurnShape",
    "answer",
    "census_shape",
    "deed_shape",
    "hit_shape",
    "job_shape",
    "key_shape",
    "memory_shape",
    "session_shape",
    "turn_shape",
]


Moment = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""A time as it is answered: ISO 8601 with its offset."""


class MemoryShape(TypedDict):
    """A memory."""

    id: str
    kind: str
    content: str
    created_at: Moment
    event_time: Moment
    speaker: str
    importance: float
    confidence: float
    trust: str
    entities: list[str]
    tags: list[str]
    metadata: dict[str, JsonValue]
    pinned: bool
    session: str | None
    turns: list[str]
    derived_from: list[str]
    valid_from: Moment | None
    valid_to: Moment | None
    expires_at: Moment | None
    superseded_by: str | None
    stage: str
    access_count: int
    changed: int
    """Grows with every change; it is the memory's ETag."""


class HitShape(TypedDict):
    """A memory that answers."""

    namespace: str
    score: float
    """What it is ranked by; comparable between the hits of one question alone."""
    relevance: float
    """0..1: how likely it answers, comparable between questions and stores."""
    parts: dict[str, float]
    memory: MemoryShape


class TurnShape(TypedDict):
    """A turn of a session."""

    id: str
    position: int
    at: Moment
    message: dict[str, JsonValue]
    metadata: dict[str, JsonValue]


class SessionShape(TypedDict):
    """A session in brief."""

    id: str
    turns: int
    first_at: Moment
    last_at: Moment


class CensusShape(TypedDict):
    """How much a namespace holds."""

    name: str
    memories: int
    kinds: dict[str, int]
    deleted: int
    sessions: int
    turns: int
    tombstones: int
    unembedded: int


class KeyShape(TypedDict):
    """A key, without its secret."""

    id: str
    name: str
    scope: str
    namespaces: list[str] | None
    created_at: Moment
    expires_at: Moment | None
    revoked_at: Moment | None
    replaced_by: str | None
    made_by: str | None
    """The key that made it."""
    last_used_at: Moment | None
    uses: int


class IssuedShape(TypedDict):
    """A new key; its secret is shown this once."""

    key: KeyShape
    secret: str


class JobShape(TypedDict):
    """Long work and where it stands."""

    id: str
    kind: str
    namespace: str
    state: str
    asked_by: str
    created_at: Moment
    changed_at: Moment
    done: int
    total: int | None
    message: str
    result: dict[str, JsonValue]


class DeedShape(TypedDict):
    """An entry of the audit."""

    id: str
    at: Moment
    who: str
    did: str
    namespace: str | None
    memories: list[str]
    session: str | None
    count: int
    request: str | None


def answer(
    shape: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A shape as a JSON response. It is built from checked values, so it is not checked again."""
    return Response(
        msgspec.json.encode(shape), status_code=status, media_type="application/json", headers=dict(headers or {})
    )


def memory_shape(memory: Memory) -> MemoryShape:
    """The memory as it is answered."""
    return MemoryShape(
        id=memory.id,
        kind=memory.kind,
        content=memory.content,
        created_at=_time(memory.created_at),
        event_time=_time(memory.event_time),
        speaker=memory.speaker,
        importance=memory.importance,
        confidence=memory.confidence,
        trust=memory.trust,
        entities=list(memory.entities),
        tags=list(memory.tags),
        metadata=dict(memory.metadata),
        pinned=memory.pinned,
        session=memory.source.session,
        turns=list(memory.source.turns),
        derived_from=list(memory.source.memories),
        valid_from=_time_or_none(memory.valid_from),
        valid_to=_time_or_none(memory.valid_to),
        expires_at=_time_or_none(memory.expires_at),
        superseded_by=memory.superseded_by,
        stage=memory.stage,
        access_count=memory.access_count,
        changed=memory.changed,
    )


def hit_shape(hit: Hit) -> HitShape:
    """The hit as it is answered."""
    return HitShape(
        namespace=hit.namespace,
        score=hit.score,
        relevance=hit.relevance,
        parts=dict(hit.parts),
        memory=memory_shape(hit.memory),
    )


def turn_shape(turn: Turn) -> TurnShape:
    """The turn as it is answered."""
    return TurnShape(
        id=turn.id,
        position=turn.position,
        at=_time(turn.at),
        message=openai.dump([turn.message])[0],
        metadata=dict(turn.metadata),
    )


def session_shape(info: SessionInfo) -> SessionShape:
    """The session as it is answered."""
    return SessionShape(id=info.id, turns=info.turns, first_at=_time(info.first_at), last_at=_time(info.last_at))


def census_shape(name: str, census: Census, unembedded: int) -> CensusShape:
    """The counts as they are answered."""
    return CensusShape(
        name=name,
        memories=sum(census.memories.values()),
        kinds=dict(census.memories),
        deleted=census.deleted,
        sessions=census.sessions,
        turns=census.turns,
        tombstones=census.tombstones,
        unembedded=unembedded,
    )


def key_shape(key: Key) -> KeyShape:
    """The key as it is answered."""
    return KeyShape(
        id=key.id,
        name=key.name,
        scope=key.scope,
        namespaces=None if key.namespaces is None else list(key.namespaces),
        created_at=_time(key.created_at),
        expires_at=_time_or_none(key.expires_at),
        revoked_at=_time_or_none(key.revoked_at),
        replaced_by=key.replaced_by,
        made_by=key.made_by,
        last_used_at=_time_or_none(key.last_used_at),
        uses=key.uses,
    )


def job_shape(job: Job) -> JobShape:
    """The job as it is answered."""
    return JobShape(
        id=job.id,
        kind=job.kind,
        namespace=job.namespace,
        state=job.state,
        asked_by=job.asked_by,
        created_at=_time(job.created_at),
        changed_at=_time(job.changed_at),
        done=job.done,
        total=job.total,
        message=job.message,
        result=dict(job.result),
    )


def deed_shape(deed: Deed) -> DeedShape:
    """The entry as it is answered."""
    return DeedShape(
        id=deed.id,
        at=_time_or_none(deed.at) or "",
        who=deed.who,
        did=deed.did,
        namespace=deed.namespace,
        memories=list(deed.memories),
        session=deed.session,
        count=deed.count,
        request=deed.request,
    )


def _time(moment: datetime) -> str:
    return moment.isoformat()


def _time_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
