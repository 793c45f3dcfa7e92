"""Files that hold somebody's words: made so that only their owner can read them, whatever the umask says."""

from __future__ import annotations

import os
from collections.abc import Iterable
from io import BufferedWriter
from pathlib import Path
from typing import TYPE_CHECKING

from haversack.lazy import lazy

if TYPE_CHECKING:
    import shutil
else:
    shutil = lazy("shutil")

__all__ = ["copy_file", "create", "make_folder", "open_to_others"]

_OWNER_ONLY = 0o600
_OTHERS = 0o077


def create(path: Path, *, replace: bool = False) -> BufferedWriter:
    """Open a new file for writing, with mode 0600 from its first byte; raises FileExistsError when it is there.

    With `replace` an existing file is emptied and keeps its mode.
    """
    return open(path, "wb" if replace else "xb", opener=_owner_only)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file to a new one; a copy that fails is removed."""
    with create(target) as into:
        try:
            with source.open("rb") as whole:
                shutil.copyfileobj(whole, into)
            into.flush()
            os.fsync(into.fileno())
        except BaseException:
            target.unlink()
            raise


def make_folder(path: Path) -> None:
    """Make a folder that only its owner can look into, unless it is there."""
    path.mkdir(mode=0o700, exist_ok=True)


def open_to_others(paths: Iterable[Path]) -> list[Path]:
    """Return those of these files that other users of this machine may read or write; none where modes say nothing."""
    return [each for each in paths if os.name == "posix" and each.is_file() and each.stat().st_mode & _OTHERS]


def _owner_only(path: str, flags: int) -> int:
    return os.open(path, flags, _OWNER_ONLY)
