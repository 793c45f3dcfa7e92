"""The recall index of one namespace: postings, facets, columns and vectors, built from memories and changed by deltas.

What it answers depends on the memories alone, never on the order in which changes arrived. Not safe for threads: its
owner locks it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from haversack.model.memory import Json, Kind, Memory
from haversack.recall.columns import NOWHERE, Columns, Facts, Flag, describe
from haversack.recall.postings import Postings
from haversack.scoring.words import word_keys

__all__ = ["Index", "field_key", "indexed_text", "is_filed_exactly", "tag_key"]

_EXACT = 2**53
_BYTES_PER_ID = 170
"""A Python string of 26 characters, its place in a list and its entry in a dictionary."""


def indexed_text(memory: Memory) -> str:
    """What is indexed and embedded: `Speaker: text` for what somebody said."""
    return f"{memory.speaker}: {memory.content}" if memory.speaker else memory.content


def tag_key(tag: str) -> int:
    """The key under which a tag is filed."""
    return _hash("tag", tag)


def field_key(name: str, value: Json) -> int:
    """The key under which a metadata field is filed: equal values share it, and so do all lists and mappings."""
    if isinstance(value, list | dict):
        return _hash("field", name, "container")
    if isinstance(value, int | float):  # true, 1 and 1.0 are equal
        return _hash("field", name, repr(float(value)) if abs(value) <= _EXACT else "large")
    return _hash("field", name, repr(value))


def is_filed_exactly(value: Json) -> bool:
    """Whether memories that share a field's key have this very value."""
    return not isinstance(value, list | dict) and not (isinstance(value, int | float) and abs(value) > _EXACT)


class Index:
    """One namespace's memories as arrays."""

    def __init__(self, dimension: int = 0) -> None:
        self.columns = Columns(dimension)
        self.words = Postings()
        self.facets = Postings()
        self.ids: list[str] = []
        self.place: dict[str, int] = {}
        self.sessions: dict[str, int] = {}
        self.tails: list[int] = []
        self.speakers: dict[str, int] = {}
        self.present = 0
        self.total_length = 0.0
        self.upto = 0
        self.unembedded = 0

    @property
    def gone(self) -> int:
        """Rows that stand for nothing any more."""
        return self.columns.rows - self.present

    @property
    def nbytes(self) -> int:
        """Bytes held, near enough."""
        return self.columns.nbytes + self.words.nbytes + self.facets.nbytes + _BYTES_PER_ID * len(self.ids)

    @property
    def mean_length(self) -> float:
        """Words per memory."""
        return self.total_length / self.present if self.present else 0.0

    def put(self, memories: Sequence[Memory], vectors: Mapping[str, tuple[float, NDArray[np.int8]]]) -> None:
        """Add new memories and take over changed ones; `vectors`: (scale, codes) by memory id, as far as they exist."""
        fresh: list[tuple[Memory, list[int], int]] = []
        for memory in sorted(memories, key=lambda memory: memory.born):
            row = self.place.get(memory.id)
            digest = _digest(memory)
            if row is not None and int(self.columns.digest[row]) == digest:
                self._write(row, describe(memory))
                self._embed(row, vectors.get(memory.id))
                continue
            if row is not None:
                self._retire(row)
            fresh.append((memory, word_keys(indexed_text(memory)), digest))
        if fresh:
            self._append(fresh, vectors)

    def drop(self, ids: Iterable[str]) -> None:
        """Forget erased memories."""
        for memory_id in ids:
            row = self.place.pop(memory_id, None)
            if row is not None:
                self._retire(row)

    def embed(self, vectors: Mapping[str, tuple[float, NDArray[np.int8]]]) -> None:
        """Take over vectors that were made later."""
        for memory_id, vector in vectors.items():
            row = self.place.get(memory_id)
            if row is not None:
                self._embed(row, vector)

    def without_vector(self) -> list[str]:
        """Ids of the memories that have none yet, oldest first."""
        columns = self.columns
        rows = np.flatnonzero((columns.flags & np.uint8(Flag.PRESENT | Flag.EMBEDDED)) == Flag.PRESENT)
        return [self.ids[row] for row in rows]

    def _append(
        self,
        fresh: Sequence[tuple[Memory, list[int], int]],
        vectors: Mapping[str, tuple[float, NDArray[np.int8]]],
    ) -> None:
        first = self.columns.extend(len(fresh))
        self.words.append(first, [keys for _, keys, _ in fresh])
        self.facets.append(first, [_facets(memory) for memory, _, _ in fresh])
        for row, (memory, keys, digest) in enumerate(fresh, first):
            self.ids.append(memory.id)
            self.place[memory.id] = row
            self._write(row, describe(memory))
            self.columns.digest[row] = digest
            self.columns.length[row] = len(keys)
            self._link(row, memory)
            self.unembedded += 1
            self._embed(row, vectors.get(memory.id))
            self.present += 1
            self.total_length += len(keys)

    def _write(self, row: int, facts: Facts) -> None:
        columns = self.columns
        columns.born[row], columns.time[row] = facts.born, facts.time
        columns.valid_from[row], columns.valid_to[row] = facts.valid_from, facts.valid_to
        columns.kind[row], columns.trust[row] = facts.kind, facts.trust
        columns.flags[row] = facts.flags | (int(columns.flags[row]) & Flag.EMBEDDED)
        columns.importance[row] = facts.importance

    def _embed(self, row: int, vector: tuple[float, NDArray[np.int8]] | None) -> None:
        if vector is not None:
            self.columns.scale[row], self.columns.vectors[row] = vector
            self.unembedded -= not self.columns.flags[row] & Flag.EMBEDDED
            self.columns.flags[row] |= Flag.EMBEDDED

    def _link(self, row: int, memory: Memory) -> None:
        columns = self.columns
        if memory.speaker:
            columns.speaker[row] = self.speakers.setdefault(memory.speaker, len(self.speakers))
        if memory.source.session is None:
            return
        session = columns.session[row] = self.sessions.setdefault(memory.source.session, len(self.sessions))
        if session == len(self.tails):
            self.tails.append(NOWHERE)
        if memory.kind is not Kind.PASSAGE:
            return
        after, before = NOWHERE, self.tails[session]
        while before != NOWHERE and columns.born[before] > memory.born:
            after, before = before, int(columns.previous[before])
        columns.previous[row], columns.following[row] = before, after
        if before != NOWHERE:
            columns.following[before] = row
        if after == NOWHERE:
            self.tails[session] = row
        else:
            columns.previous[after] = row

    def _retire(self, row: int) -> None:
        columns = self.columns
        before, after = int(columns.previous[row]), int(columns.following[row])
        if before != NOWHERE:
            columns.following[before] = after
        if after != NOWHERE:
            columns.previous[after] = before
        elif columns.session[row] != NOWHERE and self.tails[columns.session[row]] == row:
            self.tails[columns.session[row]] = before
        columns.previous[row] = columns.following[row] = NOWHERE
        self.unembedded -= not columns.flags[row] & Flag.EMBEDDED
        columns.flags[row] = 0
        columns.scale[row] = 0
        self.present -= 1
        self.total_length -= float(columns.length[row])


def _hash(*parts: str) -> int:
    data = "\x00".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def _digest(memory: Memory) -> int:
    """Tells whether words, speaker, session and facets are those that were indexed."""
    parts = [indexed_text(memory), memory.source.session or "", memory.kind, *memory.tags]
    parts += [f"{name}={value}" for name, value in sorted(memory.metadata.items())]
    return _hash(*parts)


def _facets(memory: Memory) -> list[int]:
    return [tag_key(tag) for tag in memory.tags] + [field_key(*field) for field in memory.metadata.items()]
