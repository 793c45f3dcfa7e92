"""Sections to pack: nine kinds of memory about one project, with importances and ages, the same on every run."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

__all__ = ["NOW", "QUESTION", "Item", "Material", "generate"]

NOW = datetime(2026, 1, 1, tzinfo=UTC)
QUESTION = "What should I know about the Atlas rollout before I plan the next step?"
COUNTS = {
    "summary": 8,
    "profile": 5,
    "fact": 14,
    "entity": 12,
    "relation": 10,
    "decision": 12,
    "correction": 4,
    "insight": 10,
    "procedure": 5,
}
"""How many items a kind has."""
_SUBJECTS = ("the Atlas rollout", "the billing service", "the nightly import", "the audit team", "the mobile client")
_VERBS = ("waits for", "was moved behind", "no longer needs", "shares its queue with", "is owned by", "reports to")
_OBJECTS = ("the region in Frankfurt", "the review on Thursday", "version two of the schema", "the new rate limits")
_ENDS = (
    "because the first attempt ran out of time",
    "and the change was announced in March",
    "until the contract with the supplier is renewed",
    "which the on-call engineer confirmed after the incident",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One memory of a section."""

    kind: str
    text: str
    importance: float
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """All items of one case."""

    name: str
    items: tuple[Item, ...]

    def of(self, kind: str) -> list[Item]:
        return [item for item in self.items if item.kind == kind]


def generate(cases: int) -> list[Material]:
    """So many cases; in every fourth the first fact is longer than any small budget."""
    return [_case(seed) for seed in range(cases)]


def _case(seed: int) -> Material:
    chance = random.Random(seed)
    items = [_item(kind, chance) for kind, count in COUNTS.items() for _ in range(count)]
    if seed % 4 == 3:
        clauses = ", ".join(_sentence(chance) for _ in range(40))
        items.append(Item(kind="fact", text=f"On record: {clauses}.", importance=1.0, at=NOW - timedelta(days=1)))
    return Material(name=f"case {seed}", items=tuple(items))


def _item(kind: str, chance: random.Random) -> Item:
    sentences = ". ".join(_sentence(chance).capitalize() for _ in range(2 if kind == "summary" else 1))
    return Item(
        kind=kind,
        text=f"{sentences}, ref {chance.randrange(10**6):06d}.",
        importance=round(chance.random(), 2),
        at=NOW - timedelta(hours=chance.randrange(1, 90 * 24)),
    )


def _sentence(chance: random.Random) -> str:
    return " ".join(chance.choice(words) for words in (_SUBJECTS, _VERBS, _OBJECTS, _ENDS))
