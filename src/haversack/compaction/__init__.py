"""Compaction: watching the window, summarising old turns without losing them, extraction, deduplication."""

from __future__ import annotations

from haversack.compaction.monitor import ContextBudgetMonitor
from haversack.compaction.result import CompactionResult
from haversack.compaction.settings import CompactionConfig
from haversack.compaction.status import BudgetSeverity, BudgetStatus

__all__ = ["BudgetSeverity", "BudgetStatus", "CompactionConfig", "CompactionResult", "ContextBudgetMonitor"]
