"""What can be chosen about supporting context, priming and tools; frozen, with ranges checked at construction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from haversack.assemble.layout import Layout, Prefer, Section, Sharing, attention
from haversack.budget import check_ratio, check_tokens
from haversack.model.memory import Kind

__all__ = ["PrimingConfig", "SupportingContextConfig", "ToolBudget"]

_FACTS = frozenset({Kind.FACT, Kind.PROFILE, Kind.CORRECTION, Kind.DECISION})


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportingContextConfig:
    """How much supporting context may take; and which section comes first, and how many items each may hold.

    Prompts have the sections and limits of the layout `attention` where one of the latter two is set.
    """

    budget_ratio: float = 0.30
    """The share of the window, less its fixed parts, that memories may take in a prompt without a named layout."""
    section_priority: Sequence[str] = ()
    """Sections of the layout `attention`, the most important first; the others follow in its order."""
    max_items: Mapping[str, int] = field(default_factory=dict[str, int])
    """The most items of these sections; the others keep the numbers of the layout `attention`."""

    def __post_init__(self) -> None:
        check_ratio(self.budget_ratio, "supporting_context.budget_ratio", zero=True)
        for name, number in self.max_items.items():
            check_tokens(number, f"supporting_context.max_items.{name}")
        self.layout()

    @property
    def has_sections(self) -> bool:
        """Whether it says anything of sections."""
        return bool(self.section_priority or self.max_items)

    def layout(self) -> Layout:
        """The attention layout of these settings; InputError names the nearest section for an unknown one."""
        return attention(tuple(self.section_priority), dict(self.max_items), name="attention", ratio=self.budget_ratio)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimingConfig:
    """Limits of what a session begins with, and of what prompts in sections hold that does not answer."""

    enabled: bool = True
    """Whether anything is primed, earlier sessions included."""
    token_budget: int = 4000
    """The most tokens of all of it."""
    top_entities: int = 10
    """The most entities and relations."""
    max_insights: int = 10
    """The most insights."""
    max_summaries: int = 10
    """The most summaries, the newest first."""
    max_known_facts: int = 50
    """The most facts, decisions, corrections and parts of the profile, the most important first."""
    previous_sessions: int = 0
    """Of how many earlier sessions prompts show the last turns."""
    previous_session_turns: int = 5
    """How many of their last turns."""

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
