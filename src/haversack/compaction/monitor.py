"""Decides when a session is due for compaction, from readings alone: no clock, no model, no store."""

from __future__ import annotations

from collections import deque
from statistics import fmean

from haversack.compaction.result import CompactionResult, Outcome
from haversack.compaction.settings import CompactionConfig
from haversack.compaction.status import BudgetSeverity, BudgetStatus

__all__ = ["ContextBudgetMonitor"]

_URGENT = (BudgetSeverity.CRITICAL, BudgetSeverity.OVERAGE)
_DUE = (BudgetSeverity.WARNING, *_URGENT)


class ContextBudgetMonitor:
    """One session's watch. Call `record_turn` after each turn, ask `should_compact`, mark start and completion of runs.

    A run is due when compaction is enabled, there is a reading, none is in progress, the cooldown has elapsed, and the
    last reading is above `compaction_threshold` with a severity of warning or more, or with a rising trend.
    """

    def __init__(self, config: CompactionConfig | None = None) -> None:
        self._config = config or CompactionConfig()
        self._history: deque[BudgetStatus] = deque(maxlen=self._config.trend_window)
        self._readings_since_run = 0
        self._running = False
        self._wait: int = 0
        self._wait_reason = ""
        self._turns_waited = 0
        self._failures = 0
        self._completed = 0

    @property
    def config(self) -> CompactionConfig:
        """The settings it was made with."""
        return self._config

    def record_turn(self, status: BudgetStatus) -> None:
        """Take one reading."""
        self._history.append(status)
        self._readings_since_run += 1
        self._turns_waited += 1

    def should_compact(self) -> bool:
        """Whether a run is due now."""
        return self.refusal() is None

    def refusal(self) -> str | None:
        """Why no run is due, or None when one is.

        Codes: `disabled`, `no reading`, `in progress`, `below threshold`, and those of a cooldown.
        """
        if not self._config.enabled:
            return "disabled"
        if not self._history:
            return "no reading"
        if self._running:
            return "in progress"
        if not self._is_pressing(self._history[-1]):
            return "below threshold"
        return self._cooldown(self._history[-1])

    @property
    def cooldown_reason(self) -> str | None:
        """`recent`, `ineffective` or `failed` while a cooldown lasts, else None."""
        return self._wait_reason if self._turns_waited < self._wait else None

    def get_time_budget_ms(self) -> int:
        """How long a run may take now; longer when the last reading is critical or over."""
        urgent = bool(self._history) and self._is_urgent(self._history[-1])
        return self._config.critical_max_duration_ms if urgent else self._config.max_duration_ms

    def get_budget_context(self) -> dict[str, int | float]:
        """`current_tokens`, `available_budget` and `target_utilization` for a run that starts now."""
        latest = self._history[-1] if self._history else None
        return {
            "current_tokens": latest.total_tokens if latest else 0,
            "available_budget": latest.available_budget if latest else 0,
            "target_utilization": self._config.target_utilization,
        }

    def get_utilization_trend(self) -> float:
        """Mean of the later half of the readings since the last run, less that of the earlier half."""
        readings = [status.utilization_pct for status in self._recent()]
        if len(readings) < 2:  # noqa: PLR2004 - two points make a trend
            return 0.0
        half = len(readings) // 2
        return fmean(readings[-half:]) - fmean(readings[:half])

    def get_metrics(self) -> dict[str, int | float | bool | str | None]:
        """A row for display: utilisation, trend, severity, runs, whether one is in progress, why none is due."""
        latest = self._history[-1] if self._history else None
        return {
            "utilization_pct": latest.utilization_pct if latest else 0.0,
            "severity": str(latest.severity) if latest else str(BudgetSeverity.NORMAL),
            "trend": self.get_utilization_trend(),
            "total_compactions": self._completed,
            "compaction_in_progress": self._running,
            "refusal": self.refusal(),
        }

    def mark_compaction_started(self) -> None:
        """A run begins: none other is due until it is marked complete."""
        self._running = True

    def mark_compaction_complete(self, result: CompactionResult | None = None) -> None:
        """The run ended; without a result it counts as done.

        A run that did something starts the cooldown. One that failed is tried again, after two turns and at most a
        cooldown. One that was skipped, refused or cancelled leaves everything as it was.
        """
        self._running = False
        outcome = result.outcome if result else Outcome.DONE
        ineffective = result is not None and result.is_ineffective
        if outcome is Outcome.DONE or ineffective:
            self._start_waiting(self._config.cooldown_turns, "ineffective" if ineffective else "recent")
        elif outcome is Outcome.FAILED:
            self._failures += 1
            self._start_waiting(min(2**self._failures, self._config.cooldown_turns), "failed")
        if outcome is Outcome.DONE:
            self._failures = 0
            self._completed += 1
            self._readings_since_run = 0

    def _start_waiting(self, turns: int, reason: str) -> None:
        self._wait, self._wait_reason, self._turns_waited = turns, reason, 0

    def _recent(self) -> list[BudgetStatus]:
        readings = list(self._history)
        return readings[-self._readings_since_run :] if self._readings_since_run else []

    def _is_pressing(self, latest: BudgetStatus) -> bool:
        above = latest.utilization_pct > 100 * self._config.compaction_threshold
        first = self._readings_since_run == 1
        return above and (latest.severity in _DUE or first or self.get_utilization_trend() > 0)

    def _is_urgent(self, latest: BudgetStatus) -> bool:
        return latest.severity is BudgetSeverity.OVERAGE or (
            latest.utilization_pct > 100 * self._config.critical_threshold
        )

    def _cooldown(self, latest: BudgetStatus) -> str | None:
        reason = self.cooldown_reason
        if reason != "recent":
            return reason
        over = self._config.overage_bypasses_cooldown and latest.severity is BudgetSeverity.OVERAGE
        critical = self._config.critical_bypasses_cooldown and self._is_urgent(latest)
        return None if over or critical else reason
