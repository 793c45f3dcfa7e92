"""What a compaction run did, with figures before and after; a run that missed its target says so."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

__all__ = ["CompactionResult", "Outcome"]

_EFFECT = 0.05


class Outcome(StrEnum):
    """How a run ended."""

    DONE = "done"
    SKIPPED = "skipped"
    """There was nothing to do; nothing changed."""
    REFUSED = "refused"
    """Another run has the session; nothing changed."""
    FAILED = "failed"
    """The cause stands in `errors`; nothing changed."""
    CANCELLED = "cancelled"
    """Somebody stopped it; nothing changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionResult:
    """The report of one run."""

    outcome: Outcome = Outcome.DONE
    started_at: datetime | None = None
    completed_at: datetime | None = None
    duration_ms: float = 0.0
    turns_summarized: int = 0
    """Turns that newly stand behind the summary."""
    results_cleared: int = 0
    """Tool results that newly stand as pointers."""
    tokens_before: int = 0
    """Of the session's view."""
    tokens_after: int = 0
    tokens_saved_from_summarization: int = 0
    tokens_target: int = 0
    """Tokens that the run wanted to free."""
    target_met: bool = False
    insights_deduplicated: int = 0
    """Insights that newly stand behind another one that says the same."""
    memories_promoted: int = 0
    """Memories of the session that newly count as long-term, by the namespace's policy."""
    time_budget_exhausted: bool = False
    trigger_reason: str = ""
    summary: str | None = None
    """Id of the new summary."""
    reasons: tuple[str, ...] = ()
    """Codes that explain the outcome: `nothing to compact`, `not shorter`, `already running`, …"""
    errors: tuple[str, ...] = ()

    @property
    def tokens_saved(self) -> int:
        """By all means together."""
        return self.tokens_before - self.tokens_after

    @property
    def is_ineffective(self) -> bool:
        """Whether repeating it soon would be waste: it missed its target and freed under 5 %, or could not shrink."""
        if self.outcome is Outcome.FAILED:
            return "not shorter" in self.reasons
        done = self.outcome is Outcome.DONE
        return done and not self.target_met and self.tokens_saved < _EFFECT * self.tokens_before
