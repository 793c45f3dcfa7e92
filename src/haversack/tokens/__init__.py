"""Counting tokens: exactly where the vocabulary is at hand, with a stated bound where it is not. Never online."""

from haversack.tokens.choose import counter_for
from haversack.tokens.counter import Counter, CountKind
from haversack.tokens.estimate import Bound

__all__ = ["Bound", "CountKind", "Counter", "counter_for"]
