"""Counting tokens: exactly where the vocabulary is at hand, with a stated bound where it is not. Never online."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haversack.lazy import offered

if TYPE_CHECKING:
    from haversack.tokens.choose import counter_for
    from haversack.tokens.counter import Counter, CountKind
    from haversack.tokens.estimate import Bound

__all__ = ["Bound", "CountKind", "Counter", "counter_for"]

__getattr__, __dir__ = offered(
    __name__,
    {
        "haversack.tokens.choose": "counter_for",
        "haversack.tokens.counter": "Counter, CountKind",
        "haversack.tokens.estimate": "Bound",
    },
)
