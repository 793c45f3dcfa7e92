"""Chat exports and memory dumps, in and out. Files become entries (values); storing them is the engine's work."""

from haversack.transfer.entries import (
    DocumentEntry,
    Entry,
    MemoryEntry,
    Problem,
    RecordEntry,
    SessionEntry,
    TurnDraft,
)
from haversack.transfer.reading import FORMATS, Reading, read_files

__all__ = [
    "FORMATS",
    "DocumentEntry",
    "Entry",
    "MemoryEntry",
    "Problem",
    "Reading",
    "RecordEntry",
    "SessionEntry",
    "TurnDraft",
    "read_files",
]
