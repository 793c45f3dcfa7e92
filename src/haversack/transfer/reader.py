"""What a reader is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from haversack.model.memory import Json
from haversack.transfer.drafts import SessionNames
from haversack.transfer.entries import Entry, Problem, Value

__all__ = ["Found", "Origin", "Reader", "Values"]

Found: TypeAlias = "Entry | Problem"
Values: TypeAlias = "Iterable[Value | Problem]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a reader may know about where its values come from."""

    stem: str
    names: SessionNames
    """Shared by all files of one run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One format."""

    name: str
    description: str
    detect: Callable[[Sequence[Json]], bool]
    """Whether the first values (at least one) are of this format."""
    read: Callable[[Values, Origin], Iterator[Found]]
    """Entries in the order of the values; problems among the values pass through."""
