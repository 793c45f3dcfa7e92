"""What the engine lets its user choose; frozen, with ranges checked at construction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, tzinfo
from enum import StrEnum
from typing import TYPE_CHECKING

from haversack.assemble import (
    LAYOUTS,
    Layout,
    Prefer,
    PrimingConfig,
    QueryRelevance,
    Section,
    Sharing,
    SupportingContextConfig,
    ToolBudget,
    format_named,
    layout_named,
)
from haversack.budget import check_ratio
from haversack.compaction import CompactionConfig
from haversack.compaction.extraction.settings import ExtractionConfig
from haversack.errors import ConfigError
from haversack.lazy import lazy
from haversack.llm.settings import CostSettings
from haversack.model.memory import Kind

if TYPE_CHECKING:
    import zoneinfo
else:
    zoneinfo = lazy("zoneinfo")

__all__ = ["LayoutSettings", "MemorySettings", "Reembed", "SectionSettings", "Settings"]


class Reembed(StrEnum):
    """When memories that lack a vector of the present embedder get one."""

    BACKGROUND = "background"
    ASKED = "asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSettings:
    """One section of a layout of one's own; what each part means is said at `Section`."""

    kinds: frozenset[Kind]
    title: str = ""
    weight: float = 1.0
    minimum: float = 0.0
    maximum: float = 1.0
    max_items: int | None = None
    prefer: Prefer = Prefer.SCORE


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutSettings:
    """A layout of one's own: sections by name, in the order in which they stand in the text."""

    sections: Mapping[str, SectionSettings]
    sharing: Sharing = Sharing.WEIGHT
    stable: bool = False
    ratio: float = 0.30

    def layout(self, name: str) -> Layout:
        """The layout of this name that they describe."""
        sections = tuple(
            Section(name=each, **{part.name: getattr(chosen, part.name) for part in fields(chosen)})
            for each, chosen in self.sections.items()
        )
        return Layout(name=name, sections=sections, sharing=self.sharing, stable=self.stable, ratio=self.ratio)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Engine settings; each is also a key of the configuration file's `engine` section."""

    model: str = "gpt-4o"
    """Whose tokens are counted when a call names no model; new memories are priced for it as they are written."""
    budget: int = 2000
    """Tokens of a context when a call gives no budget."""
    layout: str = "flat"
    """The layout of a context when a call names none."""
    layouts: Mapping[str, LayoutSettings] = field(default_factory=dict[str, LayoutSettings])
    """Layouts of one's own, by name."""
    section_weights: Mapping[str, float] = field(default_factory=dict[str, float])
    """Weights that replace those of the `sections` layouts; sections that are not named keep theirs."""
    format: str = "markdown"
    """`markdown`, `xml`, `json` or `plain`, when a call names none."""
    top_k: int = 50
    """Hits of a recall when a call does not say how many."""
    chunk_tokens: int = 200
    """Longer turns and documents are remembered in chunks of about this many tokens."""
    time_zone: str = "UTC"
    """Where days begin and end, such as `Europe/Berlin`: those of questions (`yesterday`, `on Monday`), of dates that
    are given without a time, of headings and of timelines."""
    widest: int = 1000
    """The most candidates that a context considers; the budget decides how many below that."""
    reembed: Reembed = Reembed.BACKGROUND
    """When memories without a vector of the present embedder get one: in the `background` once a question has met them,
    or only when `asked`."""
    threads: int = 32
    """Threads for the calls that reach an open store through a server, MCP, the inspector or `to_async`; a quarter as
    many more check keys and whether the store answers, so that long calls keep nobody out."""

    def __post_init__(self) -> None:
        for name, least in (("budget", 0), ("top_k", 1), ("chunk_tokens", 20), ("widest", 1), ("threads", 1)):
            _check_whole(f"engine.{name}", getattr(self, name), least)
        _zone(self.time_zone)
        for name in self.layouts:
            if name in LAYOUTS:
                raise ConfigError(f"engine.layouts.{name}: this name is taken by a layout that comes with the program")
            self.layout_named(name)
        self.layout_named("sections")
        self.layout_named()
        format_named(self.format)

    @property
    def zone(self) -> tzinfo:
        """The zone of this name."""
        return _zone(self.time_zone)

    def layout_named(self, name: str | Layout | None = None) -> Layout:
        """The layout of this name as these settings have it; by default the one they choose."""
        if isinstance(name, Layout):
            return name
        own = {each: one.layout(each) for each, one in self.layouts.items()}
        found = layout_named(self.layout if name is None else name, own)
        weighted = self.section_weights and found.name not in self.layouts and found.name.startswith("sections")
        return found.with_weights(self.section_weights) if weighted else found


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """How prompts share their window; the `memory` section of the configuration file."""

    context_window: int | None = None
    """Tokens of the model's window when a call gives none, at most what is published for the model; None: just that."""
    output_buffer: int = 2500
    """Tokens kept free for the answer when a call says nothing of it."""
    max_history_turns: int | None = None
    """The most turns that a prompt shows verbatim, each a user's message with what follows it; None: all that fit."""
    prompt_layout: str | None = None
    """A named layout for prompts; None: `flat`, or `attention` where `supporting_context` names its sections."""
    min_relevance: float = 0.05
    """What is less relevant to the question (0 to 1) stays out of contexts and prompts, unless it is pinned; 0: nothing
    does."""
    min_evidence_per_1000: float = 0.08
    """Memories of a prompt end where the next 1,000 tokens would add less than this share to the evidence that is to be
    expected by then; 0: they take all that the layout gives them."""
    supporting_context: SupportingContextConfig = field(default_factory=SupportingContextConfig)
    query_relevance_filter: QueryRelevance = field(default_factory=QueryRelevance)
    """Which kinds of memories leave a prompt when they share no word with its query."""
    priming: PrimingConfig = field(default_factory=PrimingConfig)
    tools: ToolBudget | None = None
    """Which tool schemas are worth sending; None sends all that a call names."""
    compaction: CompactionConfig | None = None
    """Compaction in the background after prompts; None: only when asked for."""
    extraction: ExtractionConfig | None = None
    """Reading turns for facts and the like in the background as they are added; None: only when asked for."""
    costs: CostSettings = field(default_factory=CostSettings)

    def __post_init__(self) -> None:
        _check_whole("memory.output_buffer", self.output_buffer, 0)
        check_ratio(self.min_relevance, "memory.min_relevance", zero=True)
        check_ratio(self.min_evidence_per_1000, "memory.min_evidence_per_1000", zero=True)
        if self.max_history_turns is not None:
            _check_whole("memory.max_history_turns", self.max_history_turns, 0)
        if self.context_window is not None:
            _check_whole("memory.context_window", self.context_window, 1)
            if self.output_buffer >= self.context_window:
                raise ConfigError(
                    f"memory.output_buffer={self.output_buffer} leaves nothing of "
                    f"memory.context_window={self.context_window}: it must be smaller"
                )


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    try:
        return zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        msg = f"engine.time_zone={name!r} is no time zone that this machine knows: give a name such as Europe/Berlin"
        raise ConfigError(msg) from None


def _check_whole(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigError(f"{name}={value!r} must be a whole number of at least {least}")
