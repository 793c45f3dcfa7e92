"""Checks of settings: each refusal names the setting, its value and what is allowed."""

from __future__ import annotations

import math

from haversack.errors import ConfigError

__all__ = ["check_range", "check_weights", "check_whole"]


def check_range(name: str, value: float, low: float, high: float = math.inf, *, open_low: bool = False) -> None:
    """Raise ConfigError unless `value` is a number in low..high (behind low, with `open_low`); NaN never is."""
    number = isinstance(value, int | float) and not isinstance(value, bool)  # pyright: ignore[reportUnnecessaryIsInstance] - settings come from files
    inside = number and math.isfinite(value) and low <= value <= high and not (open_low and value == low)
    if not inside:
        raise ConfigError(f"{name}={value!r} is out of range: allowed is {_words(low, high, open_low=open_low)}")


def check_whole(name: str, value: int, low: int, high: float = math.inf) -> None:
    """Raise ConfigError unless `value` is a whole number in low..high."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:  # pyright: ignore[reportUnnecessaryIsInstance] - settings come from files
        raise ConfigError(f"{name}={value!r} is out of range: allowed is a whole number, {_words(low, high)}")


def check_weights(name: str, weights: dict[str, float]) -> None:
    """Raise ConfigError when a weight is negative, above 1 or not a number, or when all are 0."""
    for key, weight in weights.items():
        check_range(key, weight, 0, 1)
    if not any(weights.values()):
        raise ConfigError(f"{name}: all of {', '.join(weights)} are 0; at least one must be above 0")


def _words(low: float, high: float, *, open_low: bool = False) -> str:
    if high == math.inf:
        return f"more than {low}" if open_low else f"at least {low}"
    return f"above {low}, up to {high}" if open_low else f"{low} to {high}"
