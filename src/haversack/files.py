"""Files that hold words: made for their owner's eyes alone, from the first byte."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

__all__ = ["create_private", "is_private", "open_private"]

_OWNER = 0o600


def create_private(path: Path) -> None:
    """Create an empty file that only its owner may read; leave one that exists as it is."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, _OWNER))


def open_private(path: Path, *, new: bool = False) -> IO[bytes]:
    """Open a file for writing that only its owner may read; with `new`, raise FileExistsError where one exists."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | (os.O_EXCL if new else os.O_TRUNC), _OWNER), "wb")


def is_private(path: Path) -> bool:
    """Return whether nobody but its owner may read or write the file. Always true where files have no such modes."""
    return os.name != "posix" or path.stat().st_mode & 0o077 == 0
