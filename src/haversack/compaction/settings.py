"""The settings of compaction; a value out of range is refused when they are made."""

from __future__ import annotations

from dataclasses import dataclass

from haversack.errors import ConfigError
from haversack.lifecycle.ranges import check_range, check_whole

__all__ = ["CompactionConfig"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionConfig:
    """When a session is compacted, how far, and what it may cost."""

    enabled: bool = True
    llm_service: str | None = None
    """Name of the configured chat service; None selects sentences without a model."""
    compaction_threshold: float = 0.85
    """Share of the available budget above which a run is due: raised above .85 it postpones what a warning would
    trigger; lowered below, a rising trend above it triggers."""
    critical_threshold: float = 0.95
    """Share above which a run has the larger time budget."""
    target_utilization: float = 0.70
    """Share that a run aims at."""
    cooldown_turns: int = 3
    """Turns after a run in which none is due."""
    max_duration_ms: int = 15_000
    critical_max_duration_ms: int = 45_000
    min_turns_to_summarize: int = 5
    """Fewer turns than this outside the recency window are left alone."""
    max_turns_per_summary: int = 8
    """Turns that one call summarises."""
    compaction_recency_window: int = 4
    """Newest turns that stay verbatim."""
    insight_dedup_enabled: bool = True
    insight_similarity_threshold: float = 0.90
    max_insights_to_check: int = 50
    trend_window: int = 10
    """Readings over which the trend is taken."""
    critical_bypasses_cooldown: bool = False
    """Whether a run may start during the cooldown when critical or over, unless the last was ineffective or failed."""
    overage_bypasses_cooldown: bool = False
    """Likewise, only when over."""
    max_attempts: int = 2
    """Calls per piece: the first one, and those that ask again for what it left out."""
    max_summary_share: float = 0.10
    """Largest share of the available budget that a session's summary may take."""
    extractive_fallback: bool = True
    """Whether selected sentences replace a summary that twice left out what must survive."""
    clear_tool_results: bool = True
    """Whether old tool results become pointers before anything is summarised."""
    min_tool_result_tokens: int = 100
    """Shorter tool results are never cleared."""

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        for name in ("compaction_threshold", "critical_threshold", "target_utilization", "max_summary_share"):
            check_range(name, getattr(self, name), 0, 1, open_low=True)
        check_range("insight_similarity_threshold", self.insight_similarity_threshold, 0, 1, open_low=True)
        if self.target_utilization >= self.compaction_threshold:
            raise ConfigError(
                f"target_utilization={self.target_utilization!r} is out of range: "
                f"allowed is below compaction_threshold={self.compaction_threshold!r}"
            )
        for name, low in _LOWEST.items():
            check_whole(name, getattr(self, name), low)


_LOWEST = {
    "cooldown_turns": 0,
    "max_duration_ms": 1,
    "critical_max_duration_ms": 1,
    "min_turns_to_summarize": 1,
    "max_turns_per_summary": 1,
    "compaction_recency_window": 1,
    "max_insights_to_check": 1,
    "trend_window": 2,
    "max_attempts": 1,
    "min_tool_result_tokens": 0,
}
