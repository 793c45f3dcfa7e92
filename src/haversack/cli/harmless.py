"""What a terminal may be sent. Every word that the program prints goes through here or through the chat's screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from haversack.lazy import lazy

if TYPE_CHECKING:
    from haversack.chat import screen
else:
    screen = lazy("haversack.chat.screen")

__all__ = ["harmless"]


def harmless(words: str, stream: TextIO) -> str:
    """Return the words as the stream may have them: made printable for a terminal, as they are for a pipe or a file."""
    return screen.printable(words) if stream.isatty() else words
