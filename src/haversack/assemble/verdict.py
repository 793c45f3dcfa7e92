"""What became of every candidate, and why; built on demand, since few callers read ten thousand of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import overload

from haversack.assemble.candidate import Candidate
from haversack.model.memory import Kind, Metadata
from haversack.scoring.signals import Formula

__all__ = ["Fate", "Outcome", "Reason", "Rendition", "Verdict", "Verdicts"]


class Outcome(StrEnum):
    """The verdict in a word."""

    KEPT = "kept"
    SHORTENED = "shortened"
    DROPPED = "dropped"
    FILTERED = "filtered"


class Rendition(StrEnum):
    """The form in which an item stands in the context."""

    FULL = "full"
    SHORTENED = "shortened"
    """Its best sentences or lines."""
    LINE = "line"
    """One line."""
    POINTER = "pointer"
    """Its id and first words: enough to ask for it."""


class Reason(StrEnum):
    """Why. A filtered candidate carries the code of the filter that met it instead."""

    FITS = "fits"
    PINNED = "pinned"
    SHORTENED_TO_FIT = "shortened_to_fit"
    NO_ROOM = "no_room"
    """What was left of the budget was smaller than it."""
    SECTION_FULL = "section_full"
    """Its section has its maximum number of items."""
    SECTION_MAXIMUM = "section_maximum"
    """Its section has its maximum share."""
    SECTION_OFF = "section_off"
    """Its section has weight 0."""
    NO_SECTION = "no_section"
    """No section of the layout takes its kind."""
    DUPLICATE = "duplicate"
    """The same words stand in the context already."""
    RECOUNT = "recount"
    """The final count of the whole was above the sum of the prices."""
    BELOW_FLOOR = "below_floor"
    """It hardly answers the query: its relevance is below the least that is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One candidate's row in the report."""

    memory_id: str
    kind: Kind
    section: str
    verdict: Outcome
    reason: str
    stage: str
    """Where it was decided: `filter`, `section`, `pack`, `recount`, or the name of a cascade stage."""
    tokens: int
    """What it takes in the context, the header that it opened included; what it would take in full when it is out."""
    score: float
    relevance: float
    """How likely it answers the query, 0..1, comparable between queries; 0 where nothing was asked of it."""
    parts: Mapping[str, float]
    """The signals that the score is made of, each 0..1, higher is better."""
    formula: Formula
    """How they make it."""
    rendition: Rendition | None
    """None when it is out."""
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class Fate:
    """The part of a verdict that packing decides."""

    verdict: Outcome
    reason: str
    stage: str
    rendition: Rendition | None = None


class Verdicts(Sequence[Verdict]):
    """Rows for all candidates: kept ones in the order they were chosen, then the rest by score. Prints as a table."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        fates: Mapping[int, Fate],
        *,
        missed: Fate,
        sections: Sequence[str],
        prices: Sequence[int],
        taken: Mapping[int, int],
    ) -> None:
        """`sections` and `prices` are by candidate; `taken` holds what those in the context took, in their order."""
        self._candidates = candidates
        self._fates = fates
        self._missed = missed
        self._sections = sections
        self._prices = prices
        self._taken = taken
        self._sorted: list[int] | None = None

    @property
    def _order(self) -> list[int]:
        if self._sorted is None:
            out = [number for number in range(len(self._candidates)) if number not in self._taken]
            out.sort(key=lambda number: -self._candidates[number].score)
            self._sorted = [*self._taken, *out]
        return self._sorted

    def __len__(self) -> int:
        return len(self._candidates)

    @overload
    def __getitem__(self, index: int) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> list[Verdict]: ...
    def __getitem__(self, index: int | slice) -> Verdict | list[Verdict]:
        if isinstance(index, slice):
            return [self._row(number) for number in self._order[index]]
        return self._row(self._order[index])

    def __iter__(self) -> Iterator[Verdict]:
        return map(self._row, self._order)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Verdicts) and list(self) == list(other)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def _row(self, number: int) -> Verdict:
        candidate = self._candidates[number]
        fate = self._fates.get(number, self._missed)
        return Verdict(
            memory_id=candidate.memory.id,
            kind=candidate.memory.kind,
            section=self._sections[number],
            verdict=fate.verdict,
            reason=fate.reason,
            stage=fate.stage,
            tokens=self._taken.get(number, self._prices[number]),
            score=candidate.score,
            relevance=candidate.relevance,
            parts=candidate.parts,
            formula=candidate.formula,
            rendition=fate.rendition,
            metadata=candidate.memory.metadata,
        )

    def of(self, memory_id: str) -> Verdict | None:
        """The row of one memory."""
        rows = (n for n in self._order if self._candidates[n].memory.id == memory_id)
        number = next(rows, None)
        return None if number is None else self._row(number)

    def __str__(self) -> str:
        head = f"{'verdict':<10} {'tokens':>6} {'score':>6} {'relevance':>9}  {'reason':<17} {'section':<13} memory"
        return "\n".join([head, *map(_printed, self)])


def _printed(row: Verdict) -> str:
    name = f"{row.memory_id} {row.kind}"
    numbers = f"{row.tokens:>6} {row.score:>6.3f} {row.relevance:>9.3f}"
    return f"{row.verdict:<10} {numbers}  {row.reason:<17} {row.section:<13} {name}"
