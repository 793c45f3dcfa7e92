"""The names of a namespace's entities, as a question can say them: by the keys of their words, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import TypeAlias

from haversack.scoring.words import name_keys

__all__ = ["Name", "Names", "entity_key", "names_in"]

Name: TypeAlias = "tuple[int, ...]"
_READ = 200
"""Words of a question that are looked through for names."""
_BYTES = 150
"""A tuple of few numbers, and its entry in a dictionary."""


def entity_key(name: Name) -> int:
    """The key under which an entity is filed."""
    data = b"entity" + b"".join(key.to_bytes(8, "little") for key in name)
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def names_in(entities: Iterable[str]) -> list[Name]:
    """The different names of entities, in order; one without any word is none."""
    return [name for name in dict.fromkeys(map(name_keys, entities)) if name]


class Names:
    """All names; iterates over them as they came."""

    def __init__(self, names: Iterable[Name] = ()) -> None:
        self._known: dict[Name, None] = {}
        self._lengths = set[int]()
        self.add(names)

    def __iter__(self) -> Iterator[Name]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def add(self, names: Iterable[Name]) -> None:
        """Take more in."""
        for name in names:
            self._known[name] = None
            self._lengths.add(len(name))

    def said(self, text: str) -> list[Name]:
        """The names that stand in a text as a whole, in order of their ends."""
        keys, lengths = name_keys(text)[:_READ], sorted(self._lengths, reverse=True)
        spans = (keys[end - length : end] for end in range(1, len(keys) + 1) for length in lengths if length <= end)
        return list(dict.fromkeys(span for span in spans if span in self._known))

    @property
    def nbytes(self) -> int:
        """Bytes held, near enough."""
        return _BYTES * len(self._known)
