"""The parts of a model's window, by the formulas of the attention layout. Integers only, no division by zero."""

from __future__ import annotations

import math
from dataclasses import dataclass

from haversack.budget.amount import check_ratio, check_tokens
from haversack.errors import InputError

__all__ = ["Window"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What one model call has to share out."""

    size: int
    """Tokens that the model reads and writes in all."""
    system: int = 0
    tools: int = 0
    """Tokens of the tool schemas."""
    output: int = 0
    """Reserved for the answer; must leave room for something to be asked."""
    ratio: float = 0.30
    """The share of the dynamic budget that supporting context may take."""

    def __post_init__(self) -> None:
        for name in ("size", "system", "tools", "output"):
            check_tokens(getattr(self, name), "window" if name == "size" else name)
        check_ratio(self.ratio, "ratio", zero=True)
        if self.output >= self.size:
            msg = f"output={self.output} leaves no room in window={self.size}; allowed: 0 to {max(0, self.size - 1)}"
            raise InputError(msg)

    @property
    def fixed(self) -> int:
        """System prompt, tool schemas and output reserve."""
        return self.system + self.tools + self.output

    @property
    def dynamic(self) -> int:
        """What is left for history, supporting context and the query."""
        return max(0, self.size - self.fixed)

    @property
    def supporting(self) -> int:
        """The part of the dynamic budget for supporting context, rounded down."""
        return math.floor(self.dynamic * self.ratio)
