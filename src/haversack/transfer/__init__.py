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
