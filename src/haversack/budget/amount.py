"""Budgets as callers write them, checked once: a whole number of tokens, or a share of a window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from haversack.errors import InputError

__all__ = ["Budget", "check_ratio", "check_tokens"]


def check_tokens(value: object, name: str = "budget") -> int:
    """The value as a count of tokens; raises InputError that names it when it is not a whole number from 0."""
    if isinstance(value, bool) or not isinstance(value, int):
        shown = repr(value)
        msg = f"{name}={shown} is not a whole number of tokens"
        raise InputError(msg)
    if value < 0:
        msg = f"{name}={value} is negative; 0 or more tokens are allowed"
        raise InputError(msg)
    return value


def check_ratio(value: object, name: str, *, zero: bool = False) -> float:
    """The value as a share in (0, 1], or [0, 1] with `zero`; raises InputError that names it."""
    allowed = "0 to 1" if zero else "above 0, up to 1"
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        msg = f"{name}={value!r} is not a ratio; allowed: {allowed}"
        raise InputError(msg)
    if not (0 <= value <= 1) or (value == 0 and not zero):
        msg = f"{name}={value!r} is out of range; allowed: {allowed}"
        raise InputError(msg)
    return float(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much a context may take: `tokens`, or `ratio` of a `window`; the smaller one where both are given."""

    tokens: int | None = None
    ratio: float | None = None
    window: int | None = None
    """Needed with `ratio`: the tokens that it is a share of."""
    shares: Mapping[str, float] | None = None
    """Weights of the layout's sections, relative to each other; sections that are not named keep theirs, 0 is off."""

    def __post_init__(self) -> None:
        if self.tokens is not None:
            check_tokens(self.tokens, "tokens")
        if self.window is not None:
            check_tokens(self.window, "window")
        if self.ratio is not None:
            check_ratio(self.ratio, "ratio")
        if self.shares is not None and not isinstance(self.shares, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            msg = f"shares={self.shares!r} must be a mapping of sections to weights"
            raise InputError(msg)
        if self.tokens is None and self.ratio is None:
            msg = "a Budget needs tokens, or a ratio of a window"
            raise InputError(msg)

    def resolve(self, window: int | None = None) -> int:
        """The tokens it stands for; `window` serves where the budget names none."""
        whole = self.window if self.window is not None else window
        limits = [] if self.tokens is None else [self.tokens]
        if self.ratio is not None:
            if whole is None:
                msg = f"ratio={self.ratio} of what? give the Budget a window"
                raise InputError(msg)
            limits.append(math.floor(whole * self.ratio))
        return min(limits)
