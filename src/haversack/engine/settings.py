"""What the engine lets its user choose; frozen, with ranges checked at construction."""

from __future__ import annotations

from dataclasses import dataclass, field

from haversack.assemble import PrimingConfig, SupportingContextConfig, ToolBudget
from haversack.compaction import CompactionConfig
from haversack.compaction.extraction.settings import ExtractionConfig
from haversack.errors import ConfigError
from haversack.llm.settings import CostSettings

__all__ = ["MemorySettings", "Settings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Engine settings; each is also a key of the configuration file's `engine` section."""

    model: str = "gpt-4o"
    """Whose tokens are counted when a call names no model; new memories are priced for it as they are written."""
    budget: int = 2000
    """Tokens of a context when a call gives no budget."""
    layout: str = "flat"
    format: str = "markdown"
    top_k: int = 50
    """Hits of a recall when a call does not say how many."""
    chunk_tokens: int = 200
    """Longer turns and documents are remembered in chunks of about this many tokens."""
    widest: int = 1000
    """The most candidates that a context considers; the budget decides how many below that."""

    def __post_init__(self) -> None:
        for name, least in (("budget", 0), ("top_k", 1), ("chunk_tokens", 20), ("widest", 1)):
            _check_whole(f"engine.{name}", getattr(self, name), least)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """How prompts share their window; the `memory` section of the configuration file."""

    context_window: int | None = None
    """Tokens of the model's window when a call gives none; None: what is published for the model."""
    output_buffer: int = 2500
    """Tokens kept free for the answer when a call says nothing of it."""
    max_history_turns: int | None = None
    """The most turns that a prompt shows verbatim; None: as many as fit."""
    prompt_layout: str | None = None
    """A named layout for prompts instead of the one that `supporting_context` describes."""
    supporting_context: SupportingContextConfig = field(default_factory=SupportingContextConfig)
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
        if self.max_history_turns is not None:
            _check_whole("memory.max_history_turns", self.max_history_turns, 0)
        if self.context_window is not None:
            _check_whole("memory.context_window", self.context_window, 1)
            if self.output_buffer >= self.context_window:
                raise ConfigError(
                    f"memory.output_buffer={self.output_buffer} leaves nothing of "
                    f"memory.context_window={self.context_window}: it must be smaller"
                )


def _check_whole(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigError(f"{name}={value!r} must be a whole number of at least {least}")
