"""Sections and layouts: which kinds stand where, how they share the budget, and the presets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from haversack.budget import Budget, check_ratio, check_tokens, check_weights
from haversack.errors import InputError, nearest
from haversack.model.memory import Kind

__all__ = ["LAYOUTS", "Layout", "Prefer", "Section", "Sharing", "layout_named"]


class Sharing(StrEnum):
    """How sections come to their tokens."""

    SCORE = "score"
    """They do not: the best score enters first, wherever it stands."""
    WEIGHT = "weight"
    """By weighted water-filling."""
    PRIORITY = "priority"
    """In their order: an earlier section takes all that it wants."""


class Prefer(StrEnum):
    """Which items of a section enter first."""

    SCORE = "score"
    IMPORTANCE = "importance"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A named part of the context."""

    name: str
    kinds: frozenset[Kind]
    title: str = ""
    """Its header; empty: no header."""
    weight: float = 1.0
    """Relative to the other sections; 0 switches it off."""
    minimum: float = 0.0
    """Share of the budget that it gets first."""
    maximum: float = 1.0
    """Share of the budget that it never exceeds."""
    max_items: int | None = None
    prefer: Prefer = Prefer.SCORE


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Sections in the order in which they stand in the text."""

    name: str
    sections: tuple[Section, ...]
    sharing: Sharing = Sharing.SCORE
    stable: bool = False
    """Whether new items go to the tail, so that the text before them repeats from call to call."""
    ratio: float = 0.30
    """The share of a window's dynamic budget that the context may take in a prompt."""
    cascade: bool = False
    """Whether the pruning cascade says what enters first when history and memories do not all fit."""

    def __post_init__(self) -> None:
        if not self.sections:
            msg = f"layout {self.name!r} has no section"
            raise InputError(msg)
        check_weights((section.name, section.weight) for section in self.sections)
        check_ratio(self.ratio, f"ratio of layout {self.name!r}", zero=True)
        for section in self.sections:
            _check(section)
            if self.sharing is not Sharing.WEIGHT and (section.minimum > 0 or section.maximum < 1):
                # Otherwise a limit that grows with the budget could push out what stood there before.
                msg = f"section {section.name!r} has a minimum or maximum share: these need sharing={Sharing.WEIGHT!r}"
                raise InputError(msg)

    def section_of(self) -> Mapping[Kind, int]:
        """The index of the section that takes each kind: the first one that names it."""
        places: dict[Kind, int] = {}
        for index, section in enumerate(self.sections):
            for kind in section.kinds:
                places.setdefault(kind, index)
        return places

    def with_weights(self, weights: Mapping[str, float]) -> Layout:
        """Return the layout with these weights, which also order its sections, the heaviest first.

        Sections that are not named keep their weight. `userFacts` also names `user_facts`.
        """
        named = {_snake(name): weight for name, weight in weights.items()}
        self._know(named)
        places = self.section_of()
        sections = [
            replace(
                section,
                weight=named.get(section.name, section.weight),
                kinds=frozenset(kind for kind in section.kinds if places[kind] == place) or section.kinds,
            )
            for place, section in enumerate(self.sections)
        ]
        if named:
            sections.sort(key=lambda section: -section.weight)
        return replace(self, sections=tuple(sections), sharing=Sharing.WEIGHT)

    def sharing_as(self, budget: int | Budget | None) -> Layout:
        """The layout with the shares that the budget gives its sections, if it does."""
        return self.with_weights(budget.shares) if isinstance(budget, Budget) and budget.shares else self

    def with_max_items(self, limits: Mapping[str, int]) -> Layout:
        """The layout with these largest numbers of items; sections that are not named keep theirs."""
        named = {_snake(name): check_tokens(limit, f"max_items.{name}") for name, limit in limits.items()}
        self._know(named)
        return replace(
            self, sections=tuple(replace(s, max_items=named.get(s.name, s.max_items)) for s in self.sections)
        )

    def _know(self, names: Mapping[str, object]) -> None:
        known = [section.name for section in self.sections]
        for name in names:
            if name not in known:
                msg = f"layout {self.name!r} has no section {name!r}; {nearest(name, known)}"
                raise InputError(msg)


def layout_named(name: str | Layout, own: Mapping[str, Layout] = MappingProxyType({})) -> Layout:
    """The layout of this name, the caller's `own` first; raises InputError that names the nearest one."""
    if isinstance(name, Layout):
        return name
    known = {**LAYOUTS, **own}
    if not isinstance(name, str) or name not in known:  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = f"layout={name!r} is not known; {nearest(str(name), known)}"
        raise InputError(msg)
    return known[name]


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _check(section: Section) -> None:
    if not section.kinds:
        msg = f"section {section.name!r} has no source: name the kinds that feed it"
        raise InputError(msg)
    low = check_ratio(section.minimum, f"minimum of section {section.name!r}", zero=True)
    high = check_ratio(section.maximum, f"maximum of section {section.name!r}")
    if low > high:
        msg = f"section {section.name!r} has minimum={low} above maximum={high}"
        raise InputError(msg)
    if section.max_items is not None:
        check_tokens(section.max_items, f"max_items of section {section.name!r}")


def _of(*kinds: Kind) -> frozenset[Kind]:
    return frozenset(kinds)


_WEIGHTED = (
    Section(name="summaries", title="Summaries", kinds=_of(Kind.SUMMARY), weight=0.25, prefer=Prefer.NEWEST),
    Section(name="user_profile", title="Profile", kinds=_of(Kind.PROFILE, Kind.STATE), weight=0.15),
    Section(name="user_facts", title="Facts", kinds=_of(Kind.FACT), weight=0.15, prefer=Prefer.IMPORTANCE),
    Section(name="entities", title="Entities", kinds=_of(Kind.ENTITY), weight=0.15),
    Section(name="graph", title="Relations", kinds=_of(Kind.RELATION), weight=0.10),
    Section(name="decisions", title="Decisions", kinds=_of(Kind.DECISION), weight=0.10, prefer=Prefer.NEWEST),
    Section(name="corrections", title="Corrections", kinds=_of(Kind.CORRECTION), weight=0.10, prefer=Prefer.NEWEST),
    Section(name="learnings", title="Learnings", kinds=_of(Kind.INSIGHT), weight=0.05),
    Section(name="procedures", title="Procedures", kinds=_of(Kind.PROCEDURE), weight=0.05),
    Section(name="passages", title="Passages", kinds=_of(Kind.PASSAGE), weight=0.15),
)

_FACTS = _of(Kind.FACT, Kind.PROFILE, Kind.ENTITY, Kind.RELATION, Kind.DECISION, Kind.CORRECTION)

_ATTENTION = (
    Section(name="known_facts", title="Known facts", kinds=_FACTS, max_items=25),
    Section(name="passages", title="Passages", kinds=_of(Kind.PASSAGE), max_items=10),
    Section(name="insights", title="Insights", kinds=_of(Kind.INSIGHT), max_items=25),
    Section(name="summaries", title="Summaries", kinds=_of(Kind.SUMMARY), max_items=10),
    Section(name="tools", title="Tools", kinds=_of(Kind.PROCEDURE), max_items=5),
    Section(name="state", title="State", kinds=_of(Kind.STATE), max_items=1, prefer=Prefer.NEWEST),
)


def attention(order: tuple[str, ...], max_items: Mapping[str, int], *, name: str, ratio: float) -> Layout:
    """The attention layout with its sections in this order; sections that are not named follow in theirs."""
    by_name = {section.name: section for section in _ATTENTION}
    for wanted in (*order, *max_items):
        if wanted not in by_name:
            place = "section_priority" if wanted in order else "max_items"
            msg = f"{place} names {wanted!r}, which is no section; {nearest(wanted, by_name)}"
            raise InputError(msg)
    check_weights((wanted, 1.0) for wanted in order)
    names = (*order, *(known for known in by_name if known not in order))
    sections = tuple(replace(by_name[n], max_items=max_items.get(n, by_name[n].max_items)) for n in names)
    return Layout(name=name, sections=sections, sharing=Sharing.PRIORITY, ratio=ratio, cascade=True)


_CHAT_ORDER = ("known_facts", "insights", "summaries", "tools", "passages", "state")
_CHAT_ITEMS = {"passages": 3, "known_facts": 30, "insights": 20, "summaries": 15, "tools": 10}

_EVERYTHING = frozenset(Kind)
_SECTIONS = Layout(name="sections", sections=_WEIGHTED, sharing=Sharing.WEIGHT)
_PRESETS: Mapping[str, Mapping[str, float]] = {
    "sections-knowledge": {"learnings": 0.30, "summaries": 0.10},
    "sections-audit": {"decisions": 0.30, "learnings": 0.05},
    "sections-relationship": {"user_facts": 0.25, "entities": 0.25, "procedures": 0.02},
    "sections-conversation": {"summaries": 0.40, "graph": 0.05},
}
"""Weights by use case."""

LAYOUTS: Mapping[str, Layout] = MappingProxyType(
    {
        "flat": Layout(name="flat", sections=(Section(name="memories", kinds=_EVERYTHING),)),
        "sections": _SECTIONS,
        **{name: replace(_SECTIONS.with_weights(weights), name=name) for name, weights in _PRESETS.items()},
        "attention": attention((), {}, name="attention", ratio=0.30),
        "attention-chat": attention(_CHAT_ORDER, _CHAT_ITEMS, name="attention-chat", ratio=0.25),
        "cached": Layout(name="cached", sections=(Section(name="memories", kinds=_EVERYTHING),), stable=True),
    }
)
"""Every layout by name."""
