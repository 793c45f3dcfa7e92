"""What makes a memory that memory: its id, and the fingerprint by which two wordings count as one statement."""

from __future__ import annotations

import hashlib
from datetime import datetime

from haversack.model.memory import Kind, Memory
from haversack.model.text import fingerprint_form
from haversack.model.times import micros

__all__ = ["ENTROPY_BYTES", "ID_LENGTH", "MAY_END", "SUBJECT", "claims", "fingerprint", "make_id"]

SUBJECT = "haversack.subject"
"""Metadata field: what a statement is about, like `alice/city`; a newer statement on it ends the older one."""

MAY_END = "haversack.may_end"
"""Metadata field: ids of statements that this one may have changed; both are kept."""

ENTROPY_BYTES = 10
ID_LENGTH = 26
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [high + low for high in _ALPHABET for low in _ALPHABET]
"""Ten bits at a time."""


def make_id(at: datetime, entropy: bytes) -> str:
    """A ULID: 48 bits of milliseconds, 80 bits of `entropy` (10 bytes), in Crockford's base 32.

    Format: https://github.com/ulid/spec. Random bytes make a new id; a hash makes one that is the same again.
    """
    if len(entropy) != ENTROPY_BYTES:
        msg = f"entropy must be {ENTROPY_BYTES} bytes, not {len(entropy)}"
        raise ValueError(msg)
    number = (max(0, micros(at) // 1000) << 80) | int.from_bytes(entropy, "big")
    return "".join([_PAIRS[(number >> shift) & 1023] for shift in range(120, -1, -10)])


def fingerprint(kind: Kind, content: str) -> str:
    """`kind:hash` of the statement, the same for NFC and NFD, letter case and spacing (SHA-256, 128 bits)."""
    digest = hashlib.sha256(fingerprint_form(content).encode("utf-8", "replace")).hexdigest()
    return f"{kind}:{digest[:32]}"


def claims(memory: Memory) -> frozenset[str]:
    """Return what no second live statement may say: its words, and what it is about; nothing for a passage."""
    if memory.kind is Kind.PASSAGE:
        return frozenset()
    subject = memory.metadata.get(SUBJECT)
    return frozenset({fingerprint(memory.kind, memory.content), *([f"{SUBJECT}:{subject}"] if subject else [])})
