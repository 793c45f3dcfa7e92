"""Which of Haversack's embedders can be used where the bench runs."""

from __future__ import annotations

from collections.abc import Iterable

import haversack

__all__ = ["usable"]


def usable(embedders: Iterable[str]) -> tuple[str, ...]:
    """Those that open; an extra that is not installed is left out."""
    return tuple(name for name in embedders if _opens(name))


def _opens(name: str) -> bool:
    try:
        haversack.open(":memory:", embedder=name).close()
    except (ImportError, haversack.HaversackError):
        return False
    return True
