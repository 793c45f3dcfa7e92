"""What goes into a model's window: a session's prompt, its compaction, and what stands behind a summary."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import Field, JsonValue
from starlette.responses import Response
from typing_extensions import TypedDict

from haversack.compaction import CompactionResult
from haversack.model.memory import Kind
from haversack.server.caller import In, ReadNs, WriteNs
from haversack.server.requests import Body, Format, Label, Unit, Weighting, When
from haversack.server.routes.asking import ContextShape, LedgerShape, context_shape, weighted
from haversack.server.routes.declare import StrictRoute, problems
from haversack.server.routes.sessions import SessionId, Turns
from haversack.server.settings import MOST_TEXT
from haversack.server.shapes import answer, turn_shape
from haversack.wire import openai

router = APIRouter(
    route_class=StrictRoute, tags=["sessions"], prefix="/v1/namespaces/{namespace:label}/sessions/{session:label}"
)

Tokens = Annotated[int, Field(ge=0, le=10_000_000)]


class PromptBody(Body):
    """A model call to prepare."""

    query: Annotated[str, Field(min_length=1, max_length=MOST_TEXT)] | None = None
    """Without it the session's last user turn is the query."""
    system: Annotated[str, Field(max_length=MOST_TEXT * 4)] = ""
    tools: Annotated[list[dict[str, JsonValue]], Field(max_length=500)] | None = None
    model: Label | None = None
    window: Tokens | None = None
    output: Tokens | None = None
    layout: Label | None = None
    format: Format | None = None
    budget: Tokens | None = None
    kinds: list[Annotated[Kind, Field(strict=False)]] | None = None
    min_relevance: Unit | None = None
    """The least relevance of memories; the setting by default."""
    now: When | None = None
    sections: Weighting | None = None
    """Other weights for sections of the layout, `sections` by default; 0 switches one off."""
    shape: Literal["openai", "anthropic", "responses"] = "openai"
    """Whose interface the request is written for."""
    preview: bool = False
    """Only to look at: no compaction is awaited or begun by it, and no use is counted."""


class PrimeBody(Body):
    """How to write what a session begins with."""

    model: Label | None = None
    window: Tokens | None = None
    format: Format | None = None
    now: When | None = None


class CompactBody(Body):
    """How much to free; without it, down to the configured target."""

    to_free: Tokens | None = None


class ExpandBody(Body):
    """What to open: a summary's id, or a turn's."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    reopen: bool = False
    """Whether prompts show the turns again in place of the summary."""


class TurnVerdictShape(TypedDict):
    """What became of one message of the past."""

    id: str
    role: str
    verdict: str
    reason: str
    tokens: int


class PriorShape(TypedDict):
    """How much of an earlier session is in the prompt, and why no more."""

    id: str
    messages: int
    kept: int
    reason: str


class PromptShape(TypedDict):
    """Keyword arguments for the provider's client, and the account of what is in them."""

    request: dict[str, JsonValue]
    tokens: int
    ledger: LedgerShape
    context: ContextShape | None
    turns: list[TurnVerdictShape]
    events: list[str]
    sessions: list[PriorShape]


class PrimedShape(TypedDict):
    """What to begin a session with: memories, and the last turns of earlier sessions."""

    tokens: int
    context: ContextShape
    turns: list[dict[str, JsonValue]]


class CompactionShape(TypedDict):
    """What a compaction did."""

    outcome: str
    turns_summarized: int
    results_cleared: int
    tokens_before: int
    tokens_after: int
    tokens_target: int
    target_met: bool
    duration_ms: float
    summary: str | None
    reasons: list[str]
    errors: list[str]


@router.post("/prompt", response_model=PromptShape, responses=problems(409, 422, 502))
def prompt(here: ReadNs, session: SessionId, body: PromptBody) -> Response:
    """The whole message list for one model call, within its window, with a ledger that covers every token."""
    conversation = here.ns.session(session)
    make = conversation.preview if body.preview else conversation.prompt
    made = make(body.query, **_keywords(here, body))
    told: dict[str, Any] = made.to_dict()
    told.pop("messages")
    if made.context is not None:
        told["context"]["items"] = list(made.context.items)
    here.note("prompt", session=session, ids=made.context.items if made.context else ())
    return answer({"request": made.request(body.shape), "tokens": made.tokens, **told})


@router.post("/prime", response_model=PrimedShape, responses=problems(409, 422, 502))
def prime(here: ReadNs, session: SessionId, body: PrimeBody) -> Response:
    """What to begin the session with: known facts, entities, insights, summaries, earlier sessions' last turns."""
    primed = here.ns.session(session).prime(
        **{name: value for name, value in body.given().items() if value is not None}
    )
    here.note("prime", session=session, ids=primed.context.items)
    turns = openai.dump(list(primed.prior.messages))
    return answer(PrimedShape(tokens=primed.tokens, context=context_shape(primed.context), turns=turns))


@router.post("/compact", response_model=CompactionShape, responses=problems(409, 502))
def compact(here: WriteNs, session: SessionId, body: CompactBody) -> Response:
    """Summarise the oldest turns for prompts; the turns stay stored, recallable and expandable."""
    done = here.ns.session(session).compact(to_free=body.to_free)
    here.note("compact", session=session, count=done.turns_summarized)
    return answer(_compaction(done))


@router.post("/expand", response_model=Turns, responses=problems(409))
def expand(here: WriteNs, session: SessionId, body: ExpandBody) -> Response:
    """The turns behind a summary, exactly as they were said."""
    turns = here.ns.session(session).expand(body.name, reopen=body.reopen)
    here.note("expand", session=session, count=len(turns))
    return answer(Turns(turns=[turn_shape(turn) for turn in turns], next=None))


def _keywords(here: In, body: PromptBody) -> dict[str, Any]:
    """The body as keywords of `prompt`."""
    apart = {"query", "shape", "preview", "sections"}
    given = {name: value for name, value in body.given().items() if name not in apart and value is not None}
    if body.sections is not None:
        given["layout"] = weighted(here.ns, body.layout, body.sections)
    return given


def _compaction(done: CompactionResult) -> CompactionShape:
    return CompactionShape(
        outcome=done.outcome,
        turns_summarized=done.turns_summarized,
        results_cleared=done.results_cleared,
        tokens_before=done.tokens_before,
        tokens_after=done.tokens_after,
        tokens_target=done.tokens_target,
        target_met=done.target_met,
        duration_ms=done.duration_ms,
        summary=done.summary,
        reasons=list(done.reasons),
        errors=list(done.errors),
    )
