"""What a run of the bench may be told; read once, by the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from haversack.evaluation.conversations import Conversation, load

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
    locomo: Path | None = None
    """File of real chats; `locomo10.json` in `data` by default."""
    beam: Path | None = None
    """File of real assistant logs; `beam-100k.json.gz` in `data` by default."""
    memdaily: tuple[Path, ...] = ()
    """Files of MemDaily."""
    half: str = "all"
    """Which half of a set of ours is asked: `tune`, `held` or `all`."""

    def real(self) -> dict[str, list[Conversation]]:
        """Return the real conversations that are there, by sort."""
        files = {
            "chats": self.locomo or self.data / "locomo10.json",
            "logs": self.beam or self.data / "beam-100k.json.gz",
        }
        return {
            label: load(path)[: self.conversations]
            for label, path in files.items()
            if path.exists() or path in (self.locomo, self.beam)
        }

    beside: Path | None = None
    """The `src` of another checkout, whose code is measured in the same run."""
