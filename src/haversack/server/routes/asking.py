"""Questions: recall, a packed context, and why a memory is or is not in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from fastapi import APIRouter
from pydantic import JsonValue
from starlette.responses import Response
from typing_extensions import TypedDict

from haversack.assemble import Context, Layout, Verdict
from haversack.engine.keys import Scope
from haversack.engine.namespace import Namespace
from haversack.scoring.blend import Weights
from haversack.server.caller import In, ReadNs
from haversack.server.requests import ContextBody, RecallBody, WeightsBody, WhyBody
from haversack.server.routes.declare import StrictRoute, problems
from haversack.server.shapes import HitShape, answer, hit_shape

__all__ = ["ContextShape", "LedgerShape", "context_shape", "router", "weighted"]

router = APIRouter(route_class=StrictRoute, tags=["asking"], prefix="/v1/namespaces/{namespace:label}")


class Hits(TypedDict):
    """The memories that answer, best first, of all but `behind` changes: more than 0 only shortly after a load."""

    hits: list[HitShape]
    behind: int


class SectionShape(TypedDict):
    """How one section fared."""

    name: str
    planned: int
    tokens: int
    candidates: int
    kept: int
    shortened: int
    dropped: int


class LineShape(TypedDict):
    """One entry of the ledger."""

    name: str
    tokens: int
    measure: str
    items: int


class LedgerShape(TypedDict):
    """Where every token went; the lines add up to `total`."""

    budget: int
    total: int
    output_reserve: int
    spare: int
    lines: list[LineShape]


class VerdictShape(TypedDict):
    """What became of one candidate, and why."""

    memory_id: str
    kind: str
    section: str
    verdict: str
    reason: str
    stage: str
    tokens: int
    score: float
    relevance: float
    parts: dict[str, float]
    rendition: str | None
    metadata: dict[str, JsonValue]


class ContextShape(TypedDict):
    """A packed context: `tokens` is a count of `text` by the model's own tokenizer and never exceeds `budget`."""

    text: str
    tokens: int
    budget: int
    count: str
    layout: str
    format: str
    value: float
    behind: int
    unanswered: bool
    """Whether the text is empty because nothing was found, or nothing that is relevant enough."""
    items: list[str]
    sections: list[SectionShape]
    verdicts: list[VerdictShape]
    ledger: LedgerShape


class FormulaShape(TypedDict):
    """A score is `share · curve(start + Σ weight · part)`; the curve is 1 / (1 + e^-x) when `logistic`, else x."""

    weights: dict[str, float]
    start: float
    logistic: bool
    share: float


class WhyShape(TypedDict):
    """One memory's way through one context."""

    memory_id: str
    stage: str
    reason: str
    verdict: str
    rank: int | None
    ranked: int
    score: float
    relevance: float
    parts: dict[str, float]
    formula: FormulaShape
    tokens: int | None
    section: str | None
    rendition: str | None
    last_score: float | None


@router.post("/recall", response_model=Hits, responses=problems(502))
def recall(here: ReadNs, body: RecallBody) -> Response:
    """The memories that answer the query, best first, each with the signals (0 to 1) that its score is made of."""
    hits = here.ns.recall(body.query, top_k=body.top_k, **_question(here, body))
    here.note("recall", ids=[hit.id for hit in hits])
    return answer(Hits(hits=[hit_shape(hit) for hit in hits], behind=hits.behind))


@router.post("/context", response_model=ContextShape, responses=problems(422, 502))
def context(here: ReadNs, body: ContextBody) -> Response:
    """The best context that fits the budget, fenced as data, with its ledger and a verdict for every candidate."""
    packed = here.ns.context(body.query, **_shape(here, body))
    here.note("context", ids=packed.items)
    return answer(context_shape(packed, verdicts=body.verdicts))


@router.post("/why", response_model=WhyShape, responses=problems(422, 502))
def why(here: ReadNs, body: WhyBody) -> Response:
    """Where and why a memory left, or how it came in, when this context is packed."""
    told = here.ns.why(body.query, body.memory_id, **_shape(here, body))
    here.note("why", ids=[body.memory_id])
    return answer(
        WhyShape(
            memory_id=told.memory_id,
            stage=told.stage,
            reason=told.reason,
            verdict=told.verdict,
            rank=told.rank,
            ranked=told.ranked,
            score=told.score,
            relevance=told.relevance,
            parts=dict(told.parts),
            formula=FormulaShape(
                weights=dict(told.formula.weights),
                start=told.formula.start,
                logistic=told.formula.logistic,
                share=told.formula.share,
            ),
            tokens=told.tokens,
            section=told.section,
            rendition=told.rendition,
            last_score=told.last_score,
        )
    )


def weighted(ns: Namespace, layout: str | None, sections: Mapping[str, float]) -> Layout:
    """The layout (`sections` when none is named) with these weights."""
    return ns.layout(layout or "sections").with_weights(sections)


def _shape(here: In, body: ContextBody) -> dict[str, Any]:
    """The keywords of a context."""
    given = _question(here, body)
    if (sections := given.pop("sections", None)) is not None:
        given["layout"] = weighted(here.ns, body.layout, sections)
    return given


def _question(here: In, body: RecallBody) -> dict[str, Any]:
    """The keywords of a question, once the caller may read every namespace that it names."""
    given = body.given()
    here.caller.need(Scope.READ)
    here.caller.reach(given.get("namespaces", ()))
    if isinstance(body.weights, WeightsBody):
        given["weights"] = Weights(**body.weights.model_dump())
    return {name: value for name, value in given.items() if name not in {"query", "top_k", "verdicts", "memory_id"}}


def context_shape(packed: Context, *, verdicts: bool = True) -> ContextShape:
    """The context as it is answered; rows that nobody asked for are not even made."""
    return ContextShape(
        text=packed.text,
        tokens=packed.tokens,
        budget=packed.budget,
        count=packed.measure,
        layout=packed.layout,
        format=packed.format,
        value=round(packed.value, 6),
        behind=packed.behind,
        unanswered=packed.unanswered,
        items=list(packed.items),
        sections=[
            SectionShape(
                name=section.name,
                planned=section.planned,
                tokens=section.tokens,
                candidates=section.candidates,
                kept=section.kept,
                shortened=section.shortened,
                dropped=section.dropped,
            )
            for section in packed.sections
        ],
        verdicts=[_verdict_shape(row) for row in packed.verdicts] if verdicts else [],
        ledger=cast("LedgerShape", packed.ledger.to_dict()),
    )


def _verdict_shape(row: Verdict) -> VerdictShape:
    return VerdictShape(
        memory_id=row.memory_id,
        kind=row.kind,
        section=row.section,
        verdict=row.verdict,
        reason=row.reason,
        stage=row.stage,
        tokens=row.tokens,
        score=row.score,
        relevance=row.relevance,
        parts=dict(row.parts),
        rendition=row.rendition,
        metadata=dict(row.metadata),
    )
