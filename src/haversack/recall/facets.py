"""The keys under which a memory is filed beside its words: its tags, metadata fields and entities."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from haversack.model.memory import Json, Memory
from haversack.recall.names import Name, entity_key

__all__ = ["facets_of", "field_key", "hashed", "is_filed_exactly", "tag_key"]

_EXACT = 2**53


def tag_key(tag: str) -> int:
    """The key under which a tag is filed."""
    return hashed("tag", tag)


def field_key(name: str, value: Json) -> int:
    """The key under which a metadata field is filed: equal values share it, and so do all lists and mappings."""
    if isinstance(value, list | dict):
        return hashed("field", name, "container")
    if isinstance(value, int | float) and not isinstance(value, bool):  # 1 and 1.0 are equal, true is neither
        return hashed("field", name, repr(float(value)) if abs(value) <= _EXACT else "large")
    return hashed("field", name, repr(value))


def is_filed_exactly(value: Json) -> bool:
    """Whether memories that share a field's key have this very value."""
    return not isinstance(value, list | dict) and not (isinstance(value, int | float) and abs(value) > _EXACT)


def hashed(*parts: str) -> int:
    """A number for these words."""
    data = "\x00".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def facets_of(memory: Memory, names: Iterable[Name]) -> list[int]:
    """All keys of a memory whose entities have these names."""
    fields = [field_key(*field) for field in memory.metadata.items()]
    return [tag_key(tag) for tag in memory.tags] + fields + [entity_key(name) for name in names]
