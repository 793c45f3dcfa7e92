"""Where the chat shows things. Doors hand a screen in; words from a store or a model are made harmless first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from haversack.model.signs import without_hidden

__all__ = ["Screen", "printable"]

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Screen(Protocol):
    """A terminal, a pipe, or a test. What it is given is `printable` already where it may come from outside."""

    as_json: bool
    """Everything that is printed is JSON, one value to a line."""

    def text(self, words: str) -> None:
        """Words and a line end."""
        ...

    def piece(self, words: str) -> None:
        """A piece of an answer, shown at once, without a line end."""
        ...

    def note(self, words: str) -> None:
        """A remark that is no part of the answer."""
        ...

    def heading(self, words: str) -> None:
        """A title."""
        ...

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str = "nothing") -> None:
        """Rows under headings."""
        ...

    def json(self, value: object) -> None:
        """One line of JSON."""
        ...

    def bar(self, share: float) -> str:
        """A bar for a share from 0 to 1."""
        ...


def printable(words: str) -> str:
    """The words without what a terminal would obey: escape codes and bells are shown as signs, hidden ones left out."""
    return _CONTROL.sub(lambda found: _sign(ord(found[0])), without_hidden(words))


def _sign(code: int) -> str:
    if code == ord("\r"):
        return ""
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"  # noqa: PLR2004 - the pictures of the first 32 codes
