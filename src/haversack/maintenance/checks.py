"""Checks before maintenance begins. A check that fails refuses the run by its name; nothing was touched by then."""

from __future__ import annotations

import shutil
from pathlib import Path

from haversack.errors import RefusedError

__all__ = ["require_confirmation", "require_space"]

_SPARE = 16 << 20


def require_space(folder: Path, needed: int, purpose: str) -> None:
    """`space`: the folder is there, and its disk has room for so many bytes and a little more."""
    if not folder.is_dir():
        raise RefusedError("space", f"the folder {folder} does not exist")
    free = shutil.disk_usage(folder).free
    if free < needed + _SPARE:
        raise RefusedError(
            "space", f"{purpose} may need {needed + _SPARE:,} bytes in {folder}, where {free:,} are free"
        )


def require_confirmation(given: str | None, expected: str) -> None:
    """`confirmation`: the caller typed the name of what will be gone."""
    if given != expected:
        raise RefusedError("confirmation", f"type the name {expected!r} to confirm; nothing was touched")
