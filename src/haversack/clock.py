"""The one place that asks for the time; everything below takes `now` as an argument."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["utc_now"]


def utc_now() -> datetime:
    """The current time, aware, in UTC."""
    return datetime.now(UTC)
