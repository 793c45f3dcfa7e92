"""Turns that a soft forget hides from prompts: a record each, written and removed with the stage of its passages."""

from __future__ import annotations

from collections.abc import Iterable

from haversack.engine.core import Core
from haversack.model.memory import Kind, Memory
from haversack.store.port import Written

__all__ = ["COLLECTION", "hidden_turns", "hiding", "showing"]

COLLECTION = "hidden"
"""Records by turn id; an erasure of the turn drops its record."""

_PAGE = 1_000


def hiding(memories: Iterable[Memory]) -> tuple[Written, ...]:
    """The records that hide the turns whose words these passages repeat."""
    return tuple(Written(collection=COLLECTION, key=turn, value=b"") for turn in _turns(memories))


def showing(memories: Iterable[Memory]) -> tuple[Written, ...]:
    """The records that show them again."""
    return tuple(Written(collection=COLLECTION, key=turn, value=None) for turn in _turns(memories))


def hidden_turns(core: Core, namespace: str) -> frozenset[str]:
    """Ids of all turns that are hidden."""
    found: set[str] = set()
    after = ""
    while page := core.store.records(namespace, COLLECTION, after=after, limit=_PAGE):
        found.update(record.key for record in page)
        after = page[-1].key
    return frozenset(found)


def _turns(memories: Iterable[Memory]) -> list[str]:
    return list(dict.fromkeys(turn for one in memories if one.kind is Kind.PASSAGE for turn in one.source.turns))
