from __future__ import annotations

import math
from typing import Any

import pytest

from haversack.compaction import BudgetSeverity, BudgetStatus, CompactionConfig, CompactionResult, ContextBudgetMonitor
from haversack.compaction.result import Outcome
from haversack.errors import ConfigError, InputError


def reading(pct: float) -> BudgetStatus:
    return BudgetStatus(
        total_tokens=round(10 * pct),
        available_budget=1000,
        utilization_pct=pct,
        severity=BudgetSeverity.from_utilization(pct),
    )


def watch(config: CompactionConfig | None = None, *percents: float) -> ContextBudgetMonitor:
    monitor = ContextBudgetMonitor(config)
    for pct in percents:
        monitor.record_turn(reading(pct))
    return monitor


def test_the_offline_example_of_the_documents() -> None:
    monitor = ContextBudgetMonitor(CompactionConfig(enabled=True, cooldown_turns=1))
    monitor.record_turn(
        BudgetStatus(
            total_tokens=900,
            available_budget=1000,
            utilization_pct=90.0,
            severity=BudgetSeverity.from_utilization(90.0),
        )
    )
    assert monitor.should_compact() is True
    monitor.mark_compaction_started()
    assert monitor.should_compact() is False


@pytest.mark.parametrize(
    ("pct", "severity"),
    [
        (0, "normal"),
        (70, "normal"),
        (70.01, "elevated"),
        (85, "elevated"),
        (85.01, "warning"),
        (95, "warning"),
        (95.01, "critical"),
        (100, "critical"),
        (100.01, "overage"),
        (math.inf, "overage"),
    ],
)
def test_an_exact_boundary_stays_below(pct: float, severity: str) -> None:
    assert BudgetSeverity.from_utilization(pct) == severity


@pytest.mark.parametrize("pct", [float("nan"), -0.1, "90", None, True])
def test_what_is_no_percentage_has_no_severity(pct: Any) -> None:
    with pytest.raises(InputError, match="utilization="):
        BudgetSeverity.from_utilization(pct)


def test_a_status_is_computed_even_with_nothing_available() -> None:
    assert BudgetStatus.of(900, 1000) == reading(90)
    over = BudgetStatus.of(5, 0)
    assert (over.severity, over.overage_tokens) == (BudgetSeverity.OVERAGE, 5)
    assert BudgetStatus.of(0, 0).severity is BudgetSeverity.NORMAL


def test_the_defaults_are_the_documented_ones() -> None:
    config = CompactionConfig()
    assert (config.compaction_threshold, config.critical_threshold, config.target_utilization) == (0.85, 0.95, 0.70)
    assert (config.cooldown_turns, config.max_duration_ms, config.critical_max_duration_ms) == (3, 15000, 45000)
    assert (config.min_turns_to_summarize, config.max_turns_per_summary) == (5, 8)
    assert (config.compaction_recency_window, config.trend_window) == (4, 10)
    assert (config.insight_similarity_threshold, config.max_insights_to_check) == (0.90, 50)


@pytest.mark.parametrize(
    ("config", "percents", "refusal"),
    [
        (CompactionConfig(enabled=False), [99], "disabled"),
        (CompactionConfig(), [], "no reading"),
        (CompactionConfig(), [85], "below threshold"),
        (CompactionConfig(), [85.01], None),
        (CompactionConfig(), [101], None),
        (CompactionConfig(compaction_threshold=0.92), [90], "below threshold"),
        (CompactionConfig(compaction_threshold=0.92), [92.5], None),
        (CompactionConfig(compaction_threshold=0.75), [76], None),
        (CompactionConfig(compaction_threshold=0.75), [70, 76, 80], None),
        (CompactionConfig(compaction_threshold=0.75), [80, 78, 76], "below threshold"),
        (CompactionConfig(compaction_threshold=0.75), [70, 72, 74], "below threshold"),
    ],
)
def test_when_a_run_is_due(config: CompactionConfig, percents: list[float], refusal: str | None) -> None:
    monitor = watch(config, *percents)
    assert monitor.refusal() == refusal
    assert monitor.should_compact() is (refusal is None)


def test_the_trend_is_late_mean_less_early_mean() -> None:
    assert watch(None, 50).get_utilization_trend() == 0
    assert watch(None, 10, 20, 90, 40, 60).get_utilization_trend() == 35
    assert watch(CompactionConfig(trend_window=2), 99, 10, 20).get_utilization_trend() == 10


def test_the_first_turn_needs_no_cooldown() -> None:
    assert watch(None, 120).should_compact()


def test_the_cooldown_counts_from_a_run_that_happened() -> None:
    monitor = watch(None, 90)
    monitor.mark_compaction_started()
    monitor.mark_compaction_complete()
    for _ in range(2):
        monitor.record_turn(reading(90))
        assert monitor.refusal() == "recent"
    monitor.record_turn(reading(90))
    assert monitor.should_compact()


@pytest.mark.parametrize("outcome", [Outcome.SKIPPED, Outcome.REFUSED, Outcome.CANCELLED])
def test_a_run_that_did_not_happen_changes_nothing(outcome: Outcome) -> None:
    monitor = watch(None, 90)
    monitor.mark_compaction_started()
    monitor.mark_compaction_complete(CompactionResult(outcome=outcome))
    assert monitor.should_compact()


def test_a_failed_run_is_tried_again_after_a_short_wait() -> None:
    monitor = watch(None, 90)
    for expected_wait in (2, 3, 3, 3):
        monitor.mark_compaction_started()
        monitor.mark_compaction_complete(CompactionResult(outcome=Outcome.FAILED))
        for _ in range(expected_wait - 1):
            monitor.record_turn(reading(90))
            assert monitor.refusal() == "failed"
        monitor.record_turn(reading(90))
        assert monitor.should_compact()


def test_a_run_without_effect_is_named_in_the_cooldown() -> None:
    config = CompactionConfig(critical_bypasses_cooldown=True, overage_bypasses_cooldown=True)
    monitor = watch(config, 99)
    monitor.mark_compaction_complete(CompactionResult(tokens_before=1000, tokens_after=980))
    monitor.record_turn(reading(99))
    assert (monitor.cooldown_reason, monitor.refusal()) == ("ineffective", "ineffective")
    monitor.mark_compaction_complete(CompactionResult(outcome=Outcome.FAILED, reasons=("not shorter",)))
    assert monitor.cooldown_reason == "ineffective"


@pytest.mark.parametrize(
    ("config", "pct", "due"),
    [
        (CompactionConfig(), 120, False),
        (CompactionConfig(overage_bypasses_cooldown=True), 120, True),
        (CompactionConfig(overage_bypasses_cooldown=True), 99, False),
        (CompactionConfig(critical_bypasses_cooldown=True), 99, True),
        (CompactionConfig(critical_bypasses_cooldown=True), 120, True),
        (CompactionConfig(critical_bypasses_cooldown=True), 90, False),
    ],
)
def test_severities_bypass_the_cooldown_only_when_configured(config: CompactionConfig, pct: float, due: object) -> None:
    monitor = watch(config, 90)
    monitor.mark_compaction_complete(CompactionResult(target_met=True, tokens_before=900, tokens_after=500))
    monitor.record_turn(reading(pct))
    assert monitor.should_compact() is due


def test_the_time_budget_grows_with_urgency() -> None:
    assert watch().get_time_budget_ms() == 15000
    assert watch(None, 95).get_time_budget_ms() == 15000
    assert watch(None, 95.5).get_time_budget_ms() == 45000
    assert watch(CompactionConfig(critical_threshold=0.9), 91).get_time_budget_ms() == 45000
    assert watch(CompactionConfig(critical_threshold=1.0), 99).get_time_budget_ms() == 15000


def test_a_run_knows_what_it_starts_from() -> None:
    expected = {"current_tokens": 900, "available_budget": 1000, "target_utilization": 0.70}
    assert watch(None, 90).get_budget_context() == expected
    assert watch().get_budget_context() == expected | {"current_tokens": 0, "available_budget": 0}
    metrics = watch(None, 80, 90).get_metrics()
    assert (metrics["trend"], metrics["severity"], metrics["refusal"]) == (10, "warning", None)
    assert watch().get_metrics()["refusal"] == "no reading"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"compaction_threshold": 80}, "compaction_threshold=80 is out of range: allowed is above 0, up to 1"),
        ({"compaction_threshold": 1.5}, "compaction_threshold=1.5"),
        ({"compaction_threshold": 0}, "compaction_threshold=0"),
        ({"compaction_threshold": -0.1}, "compaction_threshold=-0.1"),
        ({"compaction_threshold": math.nan}, "compaction_threshold=nan"),
        ({"compaction_threshold": 0.6, "target_utilization": 0.8}, "allowed is below compaction_threshold=0.6"),
        ({"compaction_threshold": 0.8, "target_utilization": 0.8}, "target_utilization=0.8"),
        ({"cooldown_turns": -1}, "cooldown_turns=-1 is out of range: allowed is a whole number, at least 0"),
        ({"max_summary_share": 0}, "max_summary_share=0"),
        ({"trend_window": 1}, "trend_window=1"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        CompactionConfig(**settings)  # pyright: ignore[reportArgumentType]


def test_a_trigger_at_the_whole_budget_is_allowed() -> None:
    assert CompactionConfig(compaction_threshold=1.0).compaction_threshold == 1.0


def test_saved_tokens_are_the_difference() -> None:
    assert CompactionResult(tokens_before=10, tokens_after=4).tokens_saved == 6
