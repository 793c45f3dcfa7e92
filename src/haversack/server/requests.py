"""What callers send: bodies of requests, checked strictly. The OpenAPI document is made of these and the answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from haversack.model.memory import Kind, Source, Trust
from haversack.server.settings import MOST_ITEMS, MOST_TEXT
from haversack.wire import openai

__all__ = [
    "Body",
    "Conditions",
    "ContextBody",
    "FeedbackBody",
    "ForgetBody",
    "Format",
    "Id",
    "Ids",
    "Label",
    "MemoriesBody",
    "MemoryBody",
    "MemoryChanges",
    "RecallBody",
    "TurnBody",
    "TurnsBody",
    "Unit",
    "Weighting",
    "WeightsBody",
    "When",
    "WhyBody",
]

Label = Annotated[str, Field(min_length=1, max_length=1000)]
Labels = Annotated[list[Label], Field(max_length=200)]
Id = Annotated[str, Field(min_length=1, max_length=64)]
Ids = Annotated[list[Id], Field(max_length=MOST_ITEMS)]
Weighting = Annotated[dict[Label, Annotated[float, Field(ge=0, le=1_000_000)]], Field(max_length=100)]
Unit = Annotated[float, Field(ge=0, le=1)]
When = Annotated[str | float, Field(description="ISO 8601, or seconds or milliseconds since 1970")]
_UNTIL = (
    "The first moment that is left out, as ISO 8601 or seconds or milliseconds since 1970; or a date, taken in whole"
)
End = Annotated[str | float, Field(description=_UNTIL)]
UntilQuery = Annotated[str | None, Query(max_length=100, description=_UNTIL)]
Format = Literal["markdown", "xml", "json", "plain"]
Metadata = dict[Label, JsonValue]


class Body(BaseModel):
    """A request's body: an unknown field is an error, and a text is not a number."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def given(self) -> dict[str, Any]:
        """The fields that the caller sent, as keywords for the engine."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class SourceBody(Body):
    """Where a memory comes from."""

    session: Label | None = None
    turns: Ids = []
    memories: Ids = []


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
    supersedes: Id | None = None
    subject: Label | None = None
    """What it says something about, like `alice/city`: a newer statement on it ends the older one."""
    source: SourceBody | None = None

    def given(self) -> dict[str, Any]:
        """The fields that the caller sent, as keywords of `remember`."""
        said = super().given()
        if self.source is not None:
            told = self.source
            said["source"] = Source(session=told.session, turns=tuple(told.turns), memories=tuple(told.memories))
        return said


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

    signal: Literal["up", "down", "flag"]


class Conditions(Body):
    """Filters; every one that is given must hold."""

    kinds: list[Annotated[Kind, Field(strict=False)]] | None = None
    tags: Labels | None = None
    session: Label | None = None
    since: When | None = None
    until: End | None = None
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
    weights: Literal["default", "balanced", "similarity"] | WeightsBody | None = None
    min_relevance: Unit | None = None
    """The least relevance of what is wanted; by default all, and of a context what the setting says."""


class ContextBody(RecallBody):
    """A question whose answer is packed into a budget."""

    top_k: Annotated[int, Field(ge=1, le=1000, deprecated=True, description="Not used: the budget decides")] = 50
    budget: Annotated[int, Field(ge=0, le=10_000_000)] | None = None
    model: Label | None = None
    layout: Label | None = None
    format: Format | None = None
    sections: Weighting | None = None
    """Other weights for sections of the layout, `sections` by default; 0 switches one off."""
    hold_back: list[Literal["instructions", "secrets"]] | None = None
    verdicts: bool = True
    """Whether the answer lists what became of every candidate."""


class WhyBody(ContextBody):
    """A question, and the memory whose way through its context is asked for."""

    memory_id: Id


class ForgetBody(Conditions):
    """What to forget: ids, or filters, or everything. A preview unless `preview` is false."""

    ids: Ids | None = None
    everything: bool = False
    hard: bool = False
    snapshots: bool = False
    """Whether a hard forget also rewrites the store's snapshots; that takes an admin's key."""
    preview: bool = True


class TurnBody(BaseModel):
    """A message as chat APIs have it, with when it was said and what else is known of it."""

    model_config = ConfigDict(extra="allow", strict=True)

    role: Annotated[str, Field(min_length=1, max_length=50, json_schema_extra={"enum": list(openai.ROLES)})]
    content: JsonValue = None
    name: Label | None = None
    at: When | None = None
    metadata: Metadata | None = None


class TurnsBody(Body):
    """Turns to append in one transaction."""

    turns: Annotated[list[TurnBody], Field(min_length=1, max_length=MOST_ITEMS)]
