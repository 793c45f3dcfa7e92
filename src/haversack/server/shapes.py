"""What goes over the wire: request bodies, checked strictly, and answers. The OpenAPI document is made of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import msgspec
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from starlette.responses import Response
from typing_extensions import TypedDict

from haversack.engine.auditing import Deed
from haversack.engine.jobs import Job
from haversack.engine.keys import Key
from haversack.engine.reading import Hit
from haversack.model.memory import Kind, Memory, SessionInfo, Trust, Turn
from haversack.server.settings import MOST_ITEMS, MOST_TEXT
from haversack.store.port import Census
from haversack.wire import openai

__all__ = [
    "Body",
    "CensusShape",
    "Conditions",
    "ContextBody",
    "DeedShape",
    "FeedbackBody",
    "ForgetBody",
    "HitShape",
    "JobShape",
    "KeyShape",
    "Label",
    "MemoryBody",
    "MemoryChanges",
    "MemoryShape",
    "RecallBody",
    "SessionShape",
    "TurnShape",
    "TurnsBody",
    "When",
    "WhyBody",
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

Label = Annotated[str, Field(min_length=1, max_length=1000)]
Labels = Annotated[list[Label], Field(max_length=200)]
Unit = Annotated[float, Field(ge=0, le=1)]
When = Annotated[str | float, Field(description="ISO 8601, or seconds or milliseconds since 1970")]
Metadata = dict[Label, JsonValue]


class Body(BaseModel):
    """A request's body: an unknown field is an error, and a text is not a number."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def given(self) -> dict[str, Any]:
        """The fields that the caller sent, as keywords for the engine."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class MemoryBody(Body):
    """A memory to keep."""

    content: Annotated[str, Field(min_length=1, max_length=MOST_TEXT)]
    kind: Annotated[Kind, Field(strict=False)] = Kind.FACT
    importance: Unit = 0.5
    confidence: Unit = 1.0
    trust: Annotated[Trust, Field(strict=False)] = Trust.MANUAL
    speaker: Annotated[str, Field(max_length=1000)] = ""
    entities: Labels = []
    tags: Labels = []
    metadata: Metadata = {}
    pinned: bool = False
    event_time: When | None = None
    valid_from: When | None = None
    valid_to: When | None = None
    expires_at: When | None = None
    supersedes: Annotated[str, Field(min_length=1, max_length=64)] | None = None


class MemoriesBody(Body):
    """Memories to keep in one transaction."""

    memories: Annotated[list[MemoryBody], Field(min_length=1, max_length=MOST_ITEMS)]


class MemoryChanges(Body):
    """Fields of a memory to change; the others stay."""

    content: Annotated[str, Field(min_length=1, max_length=MOST_TEXT)] = ""
    kind: Annotated[Kind, Field(strict=False)] = Kind.FACT
    importance: Unit = 0.5
    confidence: Unit = 1.0
    trust: Annotated[Trust, Field(strict=False)] = Trust.MANUAL
    entities: Labels = []
    tags: Labels = []
    metadata: Metadata = {}
    pinned: bool = False
    event_time: When = ""
    valid_from: When | None = None
    valid_to: When | None = None
    expires_at: When | None = None


class FeedbackBody(Body):
    """A vote."""

    signal: Annotated[str, Field(pattern="^(up|down|flag)$")]


class Conditions(Body):
    """Filters; every one that is given must hold."""

    kinds: list[Annotated[Kind, Field(strict=False)]] | None = None
    tags: Labels | None = None
    session: Label | None = None
    since: When | None = None
    until: When | None = None
    where: Metadata | None = None
    as_of: When | None = None

    def given(self) -> dict[str, Any]:
        """The fields that say something."""
        return {name: value for name, value in super().given().items() if value is not None}


class WeightsBody(Body):
    """How much relevance, importance and recency count."""

    relevance: Annotated[float, Field(ge=0, le=100)]
    importance: Annotated[float, Field(ge=0, le=100)]
    recency: Annotated[float, Field(ge=0, le=100)]
    recency_days: Annotated[float, Field(gt=0, le=100_000)] = 30.0
    linear: bool = False


class RecallBody(Conditions):
    """A question."""

    query: Annotated[str, Field(min_length=1, max_length=MOST_TEXT)]
    top_k: Annotated[int, Field(ge=1, le=1000)] = 50
    now: When | None = None
    namespaces: Annotated[list[Label], Field(max_length=50)] | None = None
    weights: Annotated[str, Field(pattern="^(default|balanced)$")] | WeightsBody | None = None


class ContextBody(RecallBody):
    """A question whose answer is packed into a budget."""

    top_k: Annotated[int, Field(ge=1, le=1000, deprecated=True, description="Not used: the budget decides")] = 50
    budget: Annotated[int, Field(ge=0, le=10_000_000)] | None = None
    model: Label | None = None
    layout: Label | None = None
    format: Annotated[str, Field(pattern="^(markdown|xml|json|plain)$")] | None = None
    hold_back: list[Annotated[str, Field(pattern="^(instructions|secrets)$")]] | None = None
    verdicts: bool = True
    """Whether the answer lists what became of every candidate."""


class WhyBody(ContextBody):
    """A question, and the memory whose way through its context is asked for."""

    memory_id: Annotated[str, Field(min_length=1, max_length=64)]


class ForgetBody(Conditions):
    """What to forget: ids, or filters, or everything. A preview unless `preview` is false."""

    ids: Annotated[list[Annotated[str, Field(min_length=1, max_length=64)]], Field(max_length=MOST_ITEMS)] | None = None
    everything: bool = False
    hard: bool = False
    preview: bool = True


class TurnBody(BaseModel):
    """A message as chat APIs have it, with when it was said and what else is known of it."""

    model_config = ConfigDict(extra="allow", strict=True)

    role: Annotated[str, Field(min_length=1, max_length=50)]
    content: JsonValue = None
    name: Label | None = None
    at: When | None = None
    metadata: Metadata | None = None


class TurnsBody(Body):
    """Turns to append in one transaction."""

    turns: Annotated[list[TurnBody], Field(min_length=1, max_length=MOST_ITEMS)]


class MemoryShape(TypedDict):
    """A memory."""

    id: str
    kind: str
    content: str
    created_at: str
    event_time: str
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
    valid_from: str | None
    valid_to: str | None
    expires_at: str | None
    superseded_by: str | None
    stage: str
    access_count: int
    changed: int
    """Grows with every change; it is the memory's ETag."""


class HitShape(TypedDict):
    """A memory that answers."""

    namespace: str
    score: float
    parts: dict[str, float]
    memory: MemoryShape


class TurnShape(TypedDict):
    """A turn of a session."""

    id: str
    position: int
    at: str
    message: dict[str, JsonValue]
    metadata: dict[str, JsonValue]


class SessionShape(TypedDict):
    """A session in brief."""

    id: str
    turns: int
    first_at: str
    last_at: str


class CensusShape(TypedDict):
    """How much a namespace holds."""

    name: str
    memories: int
    kinds: dict[str, int]
    deleted: int
    sessions: int
    turns: int
    tombstones: int


class KeyShape(TypedDict):
    """A key, without its secret."""

    id: str
    name: str
    scope: str
    namespaces: list[str] | None
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    replaced_by: str | None
    last_used_at: str | None
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
    created_at: str
    changed_at: str
    done: int
    total: int | None
    message: str
    result: dict[str, JsonValue]


class DeedShape(TypedDict):
    """An entry of the audit."""

    id: str
    at: str
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
    return HitShape(namespace=hit.namespace, score=hit.score, parts=dict(hit.parts), memory=memory_shape(hit.memory))


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


def census_shape(name: str, census: Census) -> CensusShape:
    """The counts as they are answered."""
    return CensusShape(
        name=name,
        memories=sum(census.memories.values()),
        kinds=dict(census.memories),
        deleted=census.deleted,
        sessions=census.sessions,
        turns=census.turns,
        tombstones=census.tombstones,
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
