"""Why a memory is, or is not, in a context: the stage where it left, with the numbers that decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from haversack.assemble import Outcome, Rendition
from haversack.engine.aging import policy_of
from haversack.engine.core import Core
from haversack.engine.packing import Packing, pack
from haversack.engine.reading import Request, look
from haversack.errors import NotFoundError
from haversack.lifecycle.decay import last_used, strength
from haversack.model.memory import Stage
from haversack.scoring.signals import Formula, told

__all__ = ["Explanation", "Life", "explain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """How alive a memory is, by its namespace's policy."""

    stage: Stage
    importance: float
    """The base score, which ageing never changes."""
    used_at: datetime
    """Its last use, or its creation."""
    strength: float
    """Now: importance and uses, faded since the last use."""
    threshold: float
    """Strength below which it is due to decay."""

    def __str__(self) -> str:
        used = f"importance {self.importance:.2f}, last used {self.used_at:%Y-%m-%d %H:%M}"
        return f"{self.stage}: {used}, strength {self.strength:.3f} (decays below {self.threshold:g})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One memory's way through one context."""

    memory_id: str
    stage: str
    """Where its fate was decided: `filter`, `recall` (nothing connects it with the query, or better ones filled the
    candidate list), or the packing stage of its verdict."""
    reason: str
    verdict: Outcome
    rank: int | None
    """Its place among everything that was ranked, from 1."""
    ranked: int
    """How many memories were ranked."""
    score: float
    relevance: float
    """How likely it answers, 0..1, comparable between questions."""
    parts: Mapping[str, float]
    """The signals that the score is made of, each 0..1, higher is better."""
    formula: Formula
    """How they make it."""
    tokens: int | None = None
    """What it takes, or would take in full; None when it was never priced."""
    section: str | None = None
    rendition: Rendition | None = None
    last_score: float | None = None
    """The lowest score among the kept: what it would have had to beat."""
    life: Life

    def __str__(self) -> str:
        place = f"rank {self.rank} of {self.ranked}" if self.rank else f"not among the {self.ranked} ranked"
        lines = [
            f"{self.memory_id}: {self.verdict} at {self.stage}: {self.reason}",
            f"  {place}, score {self.score:.3f}, relevance {self.relevance:.3f}",
        ]
        lines += [f"    {line}" for line in told(self.parts, self.formula)]
        if self.last_score is not None:
            lines.append(f"  the last one kept scored {self.last_score:.3f}")
        if self.tokens is not None:
            lines.append(f"  {self.tokens} tokens" + (f" in section {self.section}" if self.section else ""))
        lines.append(f"  {self.life}")
        return "\n".join(lines)


def explain(core: Core, request: Request, packing: Packing, memory_id: str) -> Explanation:
    """Pack the context and follow one memory through it. Raises NotFoundError when no namespace asked has it."""
    seen = look(core, request, whole=True)
    standing = seen.view.explain(seen.asked, request.chosen, memory_id)
    if standing is None:
        raise NotFoundError(f"no memory {memory_id!r} in {', '.join(map(repr, request.namespaces))}")
    context = pack(core, request, packing, seen)
    verdict = context.verdicts.of(memory_id)
    life = _life(core, request, memory_id)
    if verdict is None:
        return Explanation(
            memory_id=memory_id,
            stage="filter" if standing.rank is None and standing.reason != "unrelated" else "recall",
            reason=standing.reason or "outranked",
            verdict=Outcome.FILTERED,
            rank=standing.rank,
            ranked=standing.candidates,
            score=standing.score,
            relevance=standing.relevance,
            parts=standing.parts,
            formula=standing.formula,
            life=life,
        )
    kept = [row.score for row in context.verdicts if row.verdict in {Outcome.KEPT, Outcome.SHORTENED}]
    return Explanation(
        memory_id=memory_id,
        stage=verdict.stage,
        reason=verdict.reason,
        verdict=verdict.verdict,
        rank=standing.rank,
        ranked=standing.candidates,
        score=verdict.score,
        relevance=verdict.relevance,
        parts=verdict.parts,
        formula=verdict.formula,
        tokens=verdict.tokens,
        section=verdict.section,
        rendition=verdict.rendition,
        last_score=min(kept, default=None),
        life=life,
    )


def _life(core: Core, request: Request, memory_id: str) -> Life:
    namespace, memory = next(
        (name, memory) for name in request.namespaces for memory in core.store.memories(name, [memory_id])
    )
    config = policy_of(core, namespace).decay
    return Life(
        stage=memory.stage,
        importance=memory.importance,
        used_at=last_used(memory),
        strength=strength(memory, request.now, config),
        threshold=config.decay_threshold,
    )
