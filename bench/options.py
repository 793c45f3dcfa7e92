"""What a run of the bench may be told; read once, by the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["Options"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Frozen choices that every runner receives."""

    data: Path
    """Folder with the public conversations; without it, the recall tables are left out."""
    conversations: int | None = None
    """Only the first so many of each set."""
    full: bool = False
    """Also the sizes that take minutes (a million memories)."""
    vectors: Path | None = None
    """Folder where the vectors of texts are kept between runs; models that take minutes are then asked once."""
    embedders: tuple[str, ...] = ("none", "default", "onnx")
    """Which of Haversack's embedders to measure; those that are not installed are left out."""
    beside: Path | None = None
    """The `src` of another checkout, whose code is measured in the same run."""
