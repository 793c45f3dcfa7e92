"""Chat exports and memory dumps, in and out. Files become entries (values); storing them is the engine's work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haversack.lazy import offered

if TYPE_CHECKING:
    from haversack.transfer.entries import (
        DocumentEntry,
        Entry,
        MemoryEntry,
        Problem,
        RecordEntry,
        SessionEntry,
        TurnDraft,
    )
    from haversack.transfer.limits import ReadLimits
    from haversack.transfer.reading import FORMATS, Reading, read_files
    from haversack.transfer.source import Opened

__all__ = [
    "FORMATS",
    "DocumentEntry",
    "Entry",
    "MemoryEntry",
    "Opened",
    "Problem",
    "ReadLimits",
    "Reading",
    "RecordEntry",
    "SessionEntry",
    "TurnDraft",
    "read_files",
]

__getattr__, __dir__ = offered(
    __name__,
    {
        "haversack.transfer.entries": (
            "DocumentEntry, Entry, MemoryEntry, Problem, RecordEntry, SessionEntry, TurnDraft"
        ),
        "haversack.transfer.limits": "ReadLimits",
        "haversack.transfer.reading": "FORMATS, Reading, read_files",
        "haversack.transfer.source": "Opened",
    },
)
