"""What comes in: a memory with its score and its price."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from haversack.model.memory import Memory
from haversack.scoring.signals import NOTHING, Formula

__all__ = ["Candidate"]

_NO_PARTS: Mapping[str, float] = MappingProxyType({})


class Candidate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A memory that may enter the context; a struct, as a `Hit` is, since every context makes hundreds."""

    memory: Memory
    score: float
    """How well it serves the query: 0..1, higher is better."""
    relevance: float = 0.0
    """How likely it answers the query, 0..1, comparable between queries."""
    parts: Mapping[str, float] = _NO_PARTS
    """The signals that the score is made of, each 0..1."""
    formula: Formula = NOTHING
    """How they make it."""
    answers: bool = True
    """Whether it answers the query: what does not stands behind all that does, whatever its section prefers."""
    price: int | None = None
    """Stored tokens of `line(memory)` under the counter's encoding; None: it is counted now."""
    tier: int = 0
    """Set by a policy: a higher tier enters before a lower one, whatever the scores, in a layout of priorities."""
    filtered: str | None = None
    """Why it may not enter, where something above has decided so: the code becomes the verdict's reason."""
