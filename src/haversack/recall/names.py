"""The names of a namespace's entities, as a question can say them: by the keys of their words, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from hashlib import blake2b
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from haversack.scoring.words import name_keys

__all__ = ["Name", "Names", "entity_key", "names_in", "without_unused"]

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


def without_unused(names: Mapping[str, int], codes: NDArray[np.integer[Any]]) -> dict[str, int]:
    """Return the names with blanks, which nothing is named, for those whose codes are not among these."""
    used = set(np.unique(codes).tolist())
    return {name if code in used else _blank(code): code for name, code in names.items()}


def _blank(code: int) -> str:
    return f"{code:b}\n".translate({ord("0"): " ", ord("1"): "\t"})


class Names:
    """All names; iterates over them as they came. Views share them and know how many they have."""

    def __init__(self, names: Iterable[Name] = ()) -> None:
        self._places: dict[Name, int] = {}
        self._count = 0
        self._lengths = frozenset[int]()
        self.add(names)

    def __iter__(self) -> Iterator[Name]:
        return iter(list(islice(self._places, self._count)))

    def __len__(self) -> int:
        return self._count

    def view(self) -> Names:
        """The names as they are now, whatever is added here."""
        return copy(self)

    def add(self, names: Iterable[Name]) -> None:
        """Take more in."""
        for name in names:
            self._places.setdefault(name, len(self._places))
            if len(name) not in self._lengths:
                self._lengths |= {len(name)}
        self._count = len(self._places)

    def said(self, text: str) -> list[Name]:
        """The names that stand in a text as a whole, in order of their ends."""
        keys, lengths = name_keys(text)[:_READ], sorted(self._lengths, reverse=True)
        spans = (keys[end - length : end] for end in range(1, len(keys) + 1) for length in lengths if length <= end)
        return list(dict.fromkeys(span for span in spans if self._places.get(span, self._count) < self._count))

    @property
    def nbytes(self) -> int:
        """Bytes held, near enough."""
        return _BYTES * self._count
