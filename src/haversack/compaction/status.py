"""How full a window is: severity by utilisation, and one reading of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from haversack.errors import InputError

__all__ = ["BudgetSeverity", "BudgetStatus"]

ELEVATED_ABOVE, WARNING_ABOVE, CRITICAL_ABOVE, OVERAGE_ABOVE = 70.0, 85.0, 95.0, 100.0


class BudgetSeverity(StrEnum):
    """How close to the limit; an exact boundary value stays in the lower category."""

    NORMAL = "normal"
    ELEVATED = "elevated"
    """Over 70 %."""
    WARNING = "warning"
    """Over 85 %."""
    CRITICAL = "critical"
    """Over 95 %."""
    OVERAGE = "overage"
    """Over 100 %."""

    @classmethod
    def from_utilization(cls, pct: float) -> BudgetSeverity:
        """The category of a percentage, by fixed boundaries; raises InputError for what is no percentage."""
        if isinstance(pct, bool) or not isinstance(pct, int | float) or not pct >= 0:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"utilization={pct!r} must be a number of percent, 0 or more")
        if pct > OVERAGE_ABOVE:
            return cls.OVERAGE
        if pct > CRITICAL_ABOVE:
            return cls.CRITICAL
        if pct > WARNING_ABOVE:
            return cls.WARNING
        return cls.ELEVATED if pct > ELEVATED_ABOVE else cls.NORMAL


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetStatus:
    """One reading, taken after a turn."""

    total_tokens: int
    """Of the whole prompt."""
    available_budget: int
    """The window less its output reserve."""
    utilization_pct: float
    """Percent of the available budget; above 100 when the prompt is too long."""
    overage_tokens: int = 0
    severity: BudgetSeverity = BudgetSeverity.NORMAL
    message_tokens: int = 0
    tool_tokens: int = 0
    timestamp: datetime | None = None

    @classmethod
    def of(cls, total_tokens: int, available_budget: int, *, timestamp: datetime | None = None) -> BudgetStatus:
        """A reading with everything computed; with nothing available any token at all is an overage."""
        empty = math.inf if total_tokens else 0.0
        pct = 100 * total_tokens / available_budget if available_budget > 0 else empty
        return cls(
            total_tokens=total_tokens,
            available_budget=available_budget,
            utilization_pct=pct,
            overage_tokens=max(0, total_tokens - max(0, available_budget)),
            severity=BudgetSeverity.from_utilization(pct),
            timestamp=timestamp,
        )
