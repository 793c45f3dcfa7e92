"""How a verb that reads, decides and writes goes on when somebody wrote in between."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from haversack.errors import ConflictError

__all__ = ["persisting"]

_Answer = TypeVar("_Answer")


def persisting(attempt: Callable[[], _Answer], *, tries: int = 5) -> _Answer:
    """Return what the attempt answers: it reads, decides and writes, and begins again when somebody was quicker.

    Raises ConflictError when others were quicker so many times.
    """
    for _ in range(tries - 1):
        with suppress(ConflictError):
            return attempt()
    return attempt()
