"""What an erasure must reach beside the store: every buffer of an open store that may hold words, in one list.

Whoever keeps words in the process registers here, and `tests/property/test_words_gone.py` finds who does not. The list
is walked when this engine has erased, and when it takes in that another one has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from haversack.cached import empty_caches

__all__ = ["Erasers"]


def _empty_caches(_namespace: str) -> None:
    empty_caches()


@dataclass(slots=True)
class Erasers:
    """The buffers of one open store."""

    _forgetting: list[Callable[[str], None]] = field(default_factory=lambda: [_empty_caches])
    _writing: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    def add(self, forget: Callable[[str], None], *, write_down: Callable[[], None] | None = None) -> None:
        """Register a buffer: `forget` drops what it holds of a namespace in which something was erased.

        What it holds that is not in the store yet, `write_down` writes, so that an erasure there finds it.
        """
        self._forgetting.append(forget)
        if write_down is not None:
            self._writing.append(write_down)

    def write_down(self) -> None:
        """Write what waits, before an erasure."""
        for write in self._writing:
            write()

    def forget(self, namespace: str) -> None:
        """Drop what is held of a namespace in which something was erased."""
        for forget in self._forgetting:
            forget(namespace)
