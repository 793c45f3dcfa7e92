"""Lines of a namespace into a file that a broken run never spoils, or to the output."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from haversack.cli import show
from haversack.errors import NotFoundError

__all__ = ["write_lines"]


def write_lines(lines: Iterator[bytes], file: Path) -> int:
    """Write the lines to the file, or to the output for `-`; return how many there were."""
    return _write(show.data(lines), sys.stdout.buffer) if str(file) == "-" else _write_whole(lines, file)


def _write_whole(lines: Iterator[bytes], file: Path) -> int:
    """Write beside the file and swap, so that a broken export never replaces a good one; pipes and devices stay."""
    file = file.resolve()
    if not file.parent.is_dir():
        raise NotFoundError(f"there is no folder {file.parent}")
    if file.exists() and not file.is_file():
        with file.open("wb") as stream:
            return _write(lines, stream)
    handle, beside = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            written = _write(lines, stream)
        Path(beside).replace(file)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
    return written


def _write(lines: Iterable[bytes], stream: BinaryIO) -> int:
    written = 0
    for line in lines:
        stream.write(line)
        written += 1
    stream.flush()
    return written
