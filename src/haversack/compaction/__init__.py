"""Compaction: watching the window, summarising old turns without losing them, extraction, deduplication."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haversack.lazy import offered

if TYPE_CHECKING:
    from haversack.compaction.monitor import ContextBudgetMonitor
    from haversack.compaction.result import CompactionResult
    from haversack.compaction.settings import CompactionConfig
    from haversack.compaction.status import BudgetSeverity, BudgetStatus

__all__ = ["BudgetSeverity", "BudgetStatus", "CompactionConfig", "CompactionResult", "ContextBudgetMonitor"]

__getattr__, __dir__ = offered(
    __name__,
    {
        "haversack.compaction.monitor": "ContextBudgetMonitor",
        "haversack.compaction.result": "CompactionResult",
        "haversack.compaction.settings": "CompactionConfig",
        "haversack.compaction.status": "BudgetSeverity, BudgetStatus",
    },
)
