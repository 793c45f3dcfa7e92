"""Files that the chat writes: new ones only, for nobody else's eyes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from haversack.errors import InputError
from haversack.private import create

__all__ = ["write_new"]


def write_new(file: str, pieces: Iterable[bytes]) -> int:
    """Write a file that is not there yet, readable by its owner alone; returns its bytes. Half of one is never left."""
    place = Path(file).expanduser()
    try:
        stream = create(place)
    except FileExistsError:
        raise InputError(f"{place} exists: give the name of a new file") from None
    except OSError as error:
        raise InputError(f"{place} cannot be written: {error.strerror}") from None
    try:
        with stream:
            return sum(stream.write(piece) for piece in pieces)
    except BaseException:
        place.unlink(missing_ok=True)
        raise
