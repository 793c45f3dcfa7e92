"""Make the tables of `table` from the vocabularies that toktok carries: `python -m haversack.tokens.tabulate FOLDER`.

The vocabularies are those of OpenAI's tiktoken (MIT).
"""

from __future__ import annotations

import re
import sys
from array import array
from importlib import import_module
from pathlib import Path

from haversack.tokens.table import ALPHABET, TABLES, place_of

__all__ = ["table"]


def table(vocabulary: str) -> bytes:
    """Return the table of a vocabulary: those of its tokens that stand in texts of ALPHABET, or may while merging."""
    every = re.findall(f"[{ALPHABET}]", "".join(map(chr, range(0x3000))))
    known = set("".join(every).encode())
    held = import_module("toktok")._encoding(vocabulary).token_byte_values()  # noqa: SLF001 - it offers no other way
    tokens = [bytes(token) for token in held if known.issuperset(token)]
    slots = array("I", bytes(4 << (3 * len(tokens) // 2).bit_length()))
    for place, token in enumerate(tokens, 1):
        at = place_of(token, len(slots))
        while slots[at]:
            at = (at + 1) & (len(slots) - 1)
        slots[at] = place
    ends, end = array("I"), 0
    for token in tokens:
        end += len(token)
        ends.append(end)
    numbers = array("I", (len(tokens), len(slots))) + slots + ends
    if sys.byteorder != "little":
        numbers.byteswap()
    return numbers.tobytes() + b"".join(tokens)


if __name__ == "__main__":
    for name in sorted(TABLES):
        Path(sys.argv[1], f"{name}.table").write_bytes(table(name))
