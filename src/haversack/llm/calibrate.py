"""Learning from the provider: how its reported usage compares with our counts of the same prompts. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec

__all__ = ["Calibration"]

_ENOUGH = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """One model's observed ratios of reported to counted tokens."""

    observations: int = 0
    counted: int = 0
    reported: int = 0
    highest: float = 0.0

    def observe(self, counted: int, reported: int) -> Calibration:
        """With one more prompt; blank and impossible pairs change nothing."""
        if counted <= 0 or reported <= 0:
            return self
        return Calibration(
            observations=self.observations + 1,
            counted=self.counted + counted,
            reported=self.reported + reported,
            highest=max(self.highest, reported / counted),
        )

    @property
    def is_trusted(self) -> bool:
        """Whether enough prompts were seen to prefer it to a general bound."""
        return self.observations >= _ENOUGH

    @property
    def factor(self) -> float:
        """Mean ratio; 1 before the first observation."""
        return self.reported / self.counted if self.counted else 1.0

    def bound(self, counted: int, margin: float = 0.02) -> int:
        """No fewer tokens than the provider ever reported for such a count, and a margin."""
        return math.ceil(counted * (self.highest or 1.0) * (1 + margin))

    def encode(self) -> bytes:
        """JSON, as records keep it."""
        return msgspec.json.encode(self)
