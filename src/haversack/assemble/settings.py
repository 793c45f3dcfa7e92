"""What can be chosen about supporting context, priming and tools; frozen, with ranges checked at construction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType

from haversack.assemble.layout import LAYOUTS, Layout, Prefer, Section, Sharing, attention
from haversack.budget import check_ratio, check_tokens
from haversack.model.memory import Kind

__all__ = ["PrimingConfig", "SupportingContextConfig", "ToolBudget"]

_DEFAULT = LAYOUTS["attention"]
_ITEMS = MappingProxyType(
    {s.name: s.max_items for s in _DEFAULT.sections if s.max_items is not None and s.name != "state"}
)


def _items() -> Mapping[str, int]:
    return _ITEMS


_FACTS = frozenset({Kind.FACT, Kind.PROFILE, Kind.CORRECTION, Kind.DECISION})


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportingContextConfig:
    """How much supporting context may take, which section comes first, and how many items each may hold."""

    budget_ratio: float = 0.30
    section_priority: Sequence[str] = tuple(section.name for section in _DEFAULT.sections)
    max_items: Mapping[str, int] = field(default_factory=_items)

    def __post_init__(self) -> None:
        check_ratio(self.budget_ratio, "supporting_context.budget_ratio", zero=True)
        for name, number in self.max_items.items():
            check_tokens(number, f"supporting_context.max_items.{name}")
        self.layout()

    def layout(self) -> Layout:
        """The layout that these settings describe; InputError names the nearest section for an unknown one."""
        return attention(tuple(self.section_priority), dict(self.max_items), name="attention", ratio=self.budget_ratio)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimingConfig:
    """The limits of priming."""

    enabled: bool = True
    token_budget: int = 4000
    top_entities: int = 10
    max_insights: int = 10
    max_summaries: int = 10
    max_known_facts: int = 50
    previous_sessions: int = 0
    previous_session_turns: int = 5

    def __post_init__(self) -> None:
        for part in fields(self):
            if part.name != "enabled":
                check_tokens(getattr(self, part.name), f"priming.{part.name}")

    def layout(self) -> Layout:
        """Known facts first, then entities, insights and summaries, each within its limit."""
        rows = (
            ("known_facts", "Known facts", _FACTS, self.max_known_facts, Prefer.IMPORTANCE),
            ("entities", "Entities", frozenset({Kind.ENTITY, Kind.RELATION}), self.top_entities, Prefer.SCORE),
            ("insights", "Insights", frozenset({Kind.INSIGHT}), self.max_insights, Prefer.SCORE),
            ("summaries", "Summaries", frozenset({Kind.SUMMARY}), self.max_summaries, Prefer.NEWEST),
        )
        sections = tuple(
            Section(name=name, title=title, kinds=kinds, max_items=most, prefer=prefer)
            for name, title, kinds, most, prefer in rows
        )
        return Layout(name="priming", sections=sections, sharing=Sharing.PRIORITY)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolBudget:
    """How much of the window tool schemas may take."""

    share: float = 0.25
    """Of the window without the output reserve."""
    most: int = 20
    relevance: float = 0.5
    """Against the most relevant tool, which has 1."""
    always: frozenset[str] = frozenset()
    """Names of tools that are always sent."""

    def __post_init__(self) -> None:
        check_ratio(self.share, "tools.share")
        check_tokens(self.most, "tools.most")
        check_ratio(self.relevance, "tools.relevance", zero=True)
