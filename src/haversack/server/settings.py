"""What the server lets its operator choose; frozen, with ranges checked at construction."""

from __future__ import annotations

from dataclasses import dataclass, field

from haversack.guard.settings import Limits, TokenSettings
from haversack.transfer import ReadLimits

__all__ = ["MOST_ITEMS", "MOST_TEXT", "ServerSettings"]

MOST_TEXT = 50_000
"""Characters of one memory or one turn's text; longer documents come through `import`."""
MOST_ITEMS = 1_000
"""Memories or turns in one request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Server settings; each is also a key of the configuration file's `server` section."""

    limits: Limits = field(default_factory=Limits)
    imports: ReadLimits = field(
        default_factory=lambda: ReadLimits(value_bytes=32 << 20, file_bytes=1 << 30, total_bytes=1 << 30)
    )
    """What an upload to import may unpack to."""
    audit_reads: bool = True
    """Whether reading is noted in the audit as well as changing."""
    open: bool = False
    """Whether callers without a key may do everything: on loopback alone, and for a store that never had a key."""
    tokens: TokenSettings | None = None
