"""What the monitor adds to each turn: one reading of a prompt, recorded, and the question whether a run is due."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from bench.options import Options
from bench.table import Table
from bench.timing import median_ms
from haversack.compaction import BudgetStatus, CompactionConfig, ContextBudgetMonitor

__all__ = ["run"]


def run(_: Options) -> Iterator[Table]:
    """Medians in milliseconds, at a load that triggers nothing and at one that does."""
    rows = tuple((f"{share:.0%} full", _median(share)) for share in (0.5, 0.99))
    yield Table(
        name="compaction-watching",
        title="The monitor beside a conversation",
        columns=("window", "ms a turn"),
        rows=rows,
        notes=("a reading recorded and judged; a run that is due happens in the background",),
    )


def _median(share: float) -> float:
    monitor = ContextBudgetMonitor(CompactionConfig())
    turns = count()

    def turn() -> None:
        monitor.record_turn(BudgetStatus.of(int(share * 100_000) + next(turns) % 7, 100_000))
        monitor.should_compact()

    return median_ms(turn, runs=2_000, warmup=20)
