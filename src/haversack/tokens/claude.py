"""Counts for Claude models by a reconstruction of their unpublished tokenizers (ctok, in the `tokenizers` extra).

The reconstruction prices whole messages, and a message's last newlines are free. So each framed piece is priced as it
costs in the middle of a text: followed by one more word, whose token is taken off again.
"""

from __future__ import annotations

import threading
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, cast

from haversack.tokens.batch import BatchCounter
from haversack.tokens.counter import CountKind
from haversack.tokens.cut import segments

__all__ = ["CLAUDE", "claude_counter", "claude_installed"]

_VERSIONS = {"claude_v3": "3.0", "claude_v4_7": "4.7", "claude_v4_8": "4.8"}
CLAUDE = frozenset(_VERSIONS)
"""Claude 3 to 4.6, Claude 4.7, and Claude 4.8 and later."""

_NEXT_WORD = "x"
_FRAME = "⟨pad⟩"
"""How the library writes the tokens of the message frame; the same characters in a text come out escaped."""

_loading = threading.Lock()


class _Ctok(Protocol):
    def tokenize(self, text: str, version: str) -> list[str]: ...


def claude_installed() -> bool:
    """Whether the library is there (it needs Python 3.12), without importing it."""
    return find_spec("ctok") is not None


def claude_counter(encoding: str) -> BatchCounter:
    """The counter of one name in CLAUDE; a text's count is the sum over its framed pieces, never below the whole's."""
    version = _VERSIONS[encoding]

    def count(texts: list[str]) -> list[int]:
        with _loading:
            library, frame = _load(version)

        def price(piece: str) -> int:
            if piece.endswith("\n"):
                return len(library.tokenize(piece + _NEXT_WORD, version)) - frame - 1
            return len(library.tokenize(piece, version)) - frame if piece else 0

        return [sum(map(price, segments(text))) for text in texts]

    return BatchCounter(encoding, CountKind.RECONSTRUCTED, count)


@cache
def _load(version: str) -> tuple[_Ctok, int]:
    library = cast("_Ctok", import_module("ctok"))
    return library, library.tokenize(_NEXT_WORD, version).count(_FRAME)
