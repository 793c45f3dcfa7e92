"""What comes out: the text with its count, sections, verdicts and ledger; it prints as a table and exports as JSON."""

from __future__ import annotations

from dataclasses import dataclass

from haversack.assemble.frame import Format
from haversack.assemble.verdict import Outcome, Reason, Verdict, Verdicts
from haversack.budget import Ledger, Measure

__all__ = ["Context", "SectionReport", "Sections"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionReport:
    """How one section fared."""

    name: str
    planned: int
    """Its share of the budget; the whole budget where sections do not share by weight."""
    tokens: int
    """What stands in the context, headers included."""
    candidates: int
    kept: int
    """Items in it, shortened ones included."""
    shortened: int
    dropped: int


class Sections(tuple[SectionReport, ...]):
    """The reports in the order of the layout; prints as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        wide = max([len("section"), *(len(row.name) for row in self)])
        counted = ("planned", "tokens", "candidates", "kept", "shortened", "dropped")
        head = " ".join(["section".ljust(wide), *(f"{name:>10}" for name in counted)])
        rows = (" ".join([row.name.ljust(wide), *(f"{getattr(row, name):>10,}" for name in counted)]) for row in self)
        return "\n".join([head, *rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A packed context: `tokens` is a fresh count of `text` and never exceeds `budget`."""

    text: str
    tokens: int
    budget: int
    measure: Measure
    """How far `tokens` can be trusted."""
    layout: str
    format: Format
    sections: Sections
    verdicts: Verdicts
    ledger: Ledger
    value: float
    """What packing maximised: tokens weighted by worth. It never falls when the budget grows."""
    items: tuple[str, ...]
    """Ids of the memories in it, in the order in which they stand."""
    behind: int = 0
    """Changes of what is remembered that recall did not know yet: more than 0 only shortly after a load."""

    beyond: int = 0
    """How many memories have no verdict, since `engine.widest` others were looked at before them."""

    @property
    def unanswered(self) -> bool:
        """Whether the text is empty because nothing was found, or nothing that is relevant enough."""
        return not self.items and all(row.reason == Reason.BELOW_FLOOR for row in self.verdicts)

    @property
    def kept(self) -> list[Verdict]:
        """The rows of what stands in the text."""
        return [row for row in self.verdicts if row.verdict in {Outcome.KEPT, Outcome.SHORTENED}]

    def to_dict(self) -> dict[str, object]:
        """Ready for JSON."""
        return {
            "text": self.text,
            "tokens": self.tokens,
            "budget": self.budget,
            "count": str(self.measure),
            "layout": self.layout,
            "format": str(self.format),
            "value": round(self.value, 6),
            "beyond": self.beyond,
            "unanswered": self.unanswered,
            "behind": self.behind,
            "sections": [
                {
                    "name": section.name,
                    "planned": section.planned,
                    "tokens": section.tokens,
                    "candidates": section.candidates,
                    "kept": section.kept,
                    "shortened": section.shortened,
                    "dropped": section.dropped,
                }
                for section in self.sections
            ],
            "verdicts": [_verdict_record(row) for row in self.verdicts],
            "ledger": self.ledger.to_dict(),
        }

    def __str__(self) -> str:
        head = f"{self.tokens:,} of {self.budget:,} tokens ({self.measure}), {len(self.items)} memories"
        if self.beyond:
            head += f", {self.beyond:,} more were not looked at (engine.widest)"
        if self.unanswered:
            head += "; nothing is relevant enough (memory.min_relevance)"
        return f"{head}\n{self.ledger}"


def _verdict_record(row: Verdict) -> dict[str, object]:
    return {
        "memory_id": row.memory_id,
        "kind": str(row.kind),
        "section": row.section,
        "verdict": str(row.verdict),
        "reason": str(row.reason),
        "stage": row.stage,
        "tokens": row.tokens,
        "score": row.score,
        "relevance": row.relevance,
        "parts": dict(row.parts),
        "rendition": None if row.rendition is None else str(row.rendition),
        "metadata": dict(row.metadata),
    }
