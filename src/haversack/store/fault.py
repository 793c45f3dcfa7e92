"""Something that is wrong with a store, as every door tells it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Fault"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that is wrong with a store's files or rows."""

    code: str
    what: str
    helps: str
    """What to do about it."""
    severe: bool = True
    """Whether something may be lost or unreadable; the others only want tidying."""
    mends: bool = False
    """Whether `mend` puts it right without losing anything."""
