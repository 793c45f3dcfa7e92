"""The pruning cascade as a policy: nine stages in a fixed order, each reported, until the estimate fits.

The stages decide what goes first; the packer still has the last word. So the result is bounded by the cap whatever a
stage would keep, and what a stage took out comes back, behind everything that it left, where there is room after all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from haversack.assemble.candidate import Candidate
from haversack.model.memory import Kind, Stage

__all__ = ["STAGES", "Payload", "StageReport", "run_cascade"]

_WEAK, _MIDDLING = 0.3, 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What competes for the budget."""

    prior: int
    """Messages of other sessions."""
    turns: int
    """Turns of this session, the newest counted: a user's message with all that follows it."""
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageReport:
    """What one stage did."""

    number: int
    name: str
    tokens: int
    """The estimate after it."""
    turns: int
    prior: int
    removed: tuple[str, ...]
    """Ids of the memories that it took out."""


_Rule = Callable[[Payload], Payload]
_KNOWN = frozenset({Kind.FACT, Kind.PROFILE, Kind.DECISION, Kind.CORRECTION})
_RELATED = frozenset({Kind.ENTITY, Kind.RELATION})


def _turns(most: int) -> _Rule:
    return lambda payload: replace(payload, turns=min(payload.turns, most))


def _no_prior(payload: Payload) -> Payload:
    return replace(payload, prior=0)


def _passages_above(score: float, *, long_term_only: bool) -> _Rule:
    def keeps(one: Candidate) -> bool:
        passage = one.memory.kind is Kind.PASSAGE and (not long_term_only or _is_long_term(one))
        return not passage or one.score >= score

    return lambda payload: _filtered(payload, keeps)


def _best_passages(payload: Payload) -> Payload:
    short = _best(payload, lambda one: one.memory.kind is Kind.PASSAGE and not _is_long_term(one), 3)
    return _best(short, lambda one: one.memory.kind is Kind.PASSAGE and _is_long_term(one), 2)


def _best_of(*limits: tuple[frozenset[Kind], int]) -> _Rule:
    def rule(payload: Payload) -> Payload:
        for kinds, most in limits:
            payload = _best(payload, lambda one, kinds=kinds: one.memory.kind in kinds, most)
        return payload

    return rule


def _emergency(payload: Payload) -> Payload:
    def keeps(one: Candidate) -> bool:
        return one.memory.kind is Kind.PASSAGE and not _is_long_term(one)

    return replace(_best(_filtered(payload, keeps), keeps, 2), turns=min(payload.turns, 2))


STAGES: tuple[tuple[str, _Rule], ...] = (
    ("prior_sessions", _no_prior),
    ("ten_turns", _turns(10)),
    ("weak_long_term_passages", _passages_above(_WEAK, long_term_only=True)),
    ("weak_passages", _passages_above(_MIDDLING, long_term_only=False)),
    ("five_turns", _turns(5)),
    ("best_passages", _best_passages),
    ("best_insights_and_summaries", _best_of((frozenset({Kind.INSIGHT}), 3), (frozenset({Kind.SUMMARY}), 3))),
    ("best_entities_and_facts", _best_of((_RELATED, 5), (_KNOWN, 5))),
    ("emergency", _emergency),
)
"""The stages by name, in their order."""


def run_cascade(
    payload: Payload, budget: int, tokens: Callable[[Payload], int]
) -> tuple[Payload, tuple[StageReport, ...]]:
    """Apply stage after stage until `tokens` of the payload is within the budget; pinned memories always stay."""
    reports: list[StageReport] = []
    estimate = tokens(payload)
    for number, (name, rule) in enumerate(STAGES, start=1):
        if estimate <= budget:
            break
        after = rule(payload)
        left = {one.memory.id for one in after.candidates}
        removed = tuple(one.memory.id for one in payload.candidates if one.memory.id not in left)
        estimate = tokens(after)
        reports.append(
            StageReport(
                number=number, name=name, tokens=estimate, turns=after.turns, prior=after.prior, removed=removed
            )
        )
        payload = after
    return payload, tuple(reports)


def _is_long_term(candidate: Candidate) -> bool:
    return candidate.memory.stage is Stage.LONG_TERM


def _filtered(payload: Payload, keeps: Callable[[Candidate], bool]) -> Payload:
    return replace(payload, candidates=tuple(one for one in payload.candidates if one.memory.pinned or keeps(one)))


def _best(payload: Payload, among: Callable[[Candidate], bool], most: int) -> Payload:
    ranked = sorted(filter(among, payload.candidates), key=lambda one: (-one.score, one.memory.id))
    out = {one.memory.id for one in ranked[most:]}
    return _filtered(payload, lambda one: one.memory.id not in out)
