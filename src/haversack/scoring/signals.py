"""Signals: what speaks for a memory, each 0..1, higher is better; and how they make its score. Pure.

Features are learned with weights of either sign, and told in groups. A group's signal says where what it adds stands
between the least and the most that it could add; its weight is the difference. Nothing is lost by that: the log-odds
are a start and the weighted sum of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from haversack.scoring.blend import Traits
from haversack.scoring.learned import Learned

__all__ = ["GROUPS", "NOTHING", "Formula", "Range", "ranges", "slope", "told", "weightiest"]

GROUPS = {
    **dict.fromkeys(("lexical", "window", "window_cover", "session_words"), "words"),
    **dict.fromkeys(("dense", "cosine", "soft", "late", "late_window"), "meaning"),
    **dict.fromkeys(("before", "after", "two_away", "answers"), "neighbours"),
    "session_best": "session",
    **dict.fromkeys(("speaker_named", "user", "assistant"), "speaker"),
    **dict.fromkeys(("user_asks_of_self", "assistant_asked_of_self", "assistant_asked_about"), "speaker"),
    **dict.fromkeys(("on_day", "in_month", "in_year", "soon_after"), "date"),
    **dict.fromkeys(("tells_when", "tells_amount", "tells_name", "is_question", "asks", "prefers"), "wording"),
    "stated": "stated",
    **dict.fromkeys(("brief", "size", "over_60"), "length"),
}
"""The group that each feature is told in."""
_MOST = {"two_away": 2.0, "size": math.log1p(2**20) / 5, "over_60": math.log(2**20 / 60)}
"""The greatest value of the features that pass 1; of sizes that of a million tokens, beyond which all are alike."""


def _no_weights() -> Mapping[str, float]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """How the parts of a score make it: `share · curve(start + Σ weight · part)`, which rises with every part."""

    weights: Mapping[str, float] = field(default_factory=_no_weights)
    """By the part's name, 0 or more. A part without one tells what another is made of."""
    start: float = 0.0
    logistic: bool = False
    """The curve: 1 / (1 + e^-x), which makes log-odds a probability; else x as it is."""
    share: float = 1.0
    """Less than 1 where something counts less than what it answers, as what stands behind the answers does."""

    def score(self, parts: Mapping[str, float]) -> float:
        """0..1, higher is better."""
        total = self.start + math.fsum(self.adds(parts).values())
        return self.share * (1 / (1 + math.exp(-total)) if self.logistic else total)

    def adds(self, parts: Mapping[str, float]) -> dict[str, float]:
        """What each part adds to the start."""
        return {name: weight * parts[name] for name, weight in self.weights.items()}


NOTHING = Formula()
"""Of what has no parts."""


class Range(NamedTuple):
    """What a group adds to the log-odds at the least, and how much more at the most."""

    least: float
    spread: float


def slope(learned: Learned, name: str, traits: Traits) -> float:
    """Log-odds per unit of a feature."""
    base, length, roles = learned.weights[name]
    return learned.scale * (base + traits.length * length + traits.roles * roles)


@lru_cache(maxsize=64)
def ranges(learned: Learned, traits: Traits) -> Mapping[str, Range]:
    """The range of each group."""
    lengths = ("size", "over_60")
    slopes = {name: slope(learned, name, traits) for name in learned.weights}
    reached: dict[str, list[tuple[float, float]]] = {group: [] for group in GROUPS.values()}
    for name, each in slopes.items():
        if name not in lengths:
            ends = (0.0, each * _MOST.get(name, 1.0))
            reached[GROUPS[name]].append((min(ends), max(ends)))
    reached["length"].append(_ends(*(slopes.get(name, 0.0) for name in lengths)))
    return {group: _sum(ends) for group, ends in reached.items() if ends}


def _ends(size: float, over: float) -> tuple[float, float]:
    """The least and the most that a text's size adds: both features follow from it, so they never reach all at once."""
    told = size / 5
    turn = -over / (told + over) if told + over else 0.0  # where the longer text's gain and loss are equal
    sizes = (1.0, 60.0, min(max(turn, 60.0), 2.0**20), 2.0**20)
    added = [told * math.log1p(each) + over * max(0.0, math.log(each / 60)) for each in sizes]
    return min(added), max(added)


def _sum(ends: Iterable[tuple[float, float]]) -> Range:
    low, high = (math.fsum(values) for values in zip(*ends, strict=True))
    return Range(low, high - low)


def weightiest(parts: Mapping[str, float], formula: Formula) -> list[str]:
    """Names of the parts that add anything, those that add most first."""
    adds = formula.adds(parts)
    return sorted((name for name in adds if adds[name]), key=lambda name: -adds[name])


def told(parts: Mapping[str, float], formula: Formula) -> list[str]:
    """The signals that count, each with its weight and what it adds, and what they start from; then what tells more."""
    adds = formula.adds(parts)
    rows = [f"{'':<12} signal  weight    adds"] if adds else []
    rows += [
        f"{name:<12} {parts[name]:>6.3f}  {formula.weights[name]:>6.3f}  {adds[name]:>+6.3f}"
        for name in weightiest(parts, formula)
    ]
    if formula.start:
        rows.append(f"{'start':<12} {'':>6}  {'':>6}  {formula.start:>+6.3f}")
    return rows + [f"{name:<12} {value:>6.3f}" for name, value in parts.items() if name not in adds and value]
