"""The recall index of one namespace: postings, facets, columns and vectors, built from memories and changed by deltas.

What it answers depends on the memories alone, never on the order in which changes arrived. One thread at a time changes
an index; its views never change, so any thread may read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from itertools import chain
from typing import NamedTuple
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from haversack.embed.codec import Quantised
from haversack.embed.embedder import WordVectors
from haversack.model.memory import Kind, Memory, Stage
from haversack.model.message import Role
from haversack.recall.columns import FIRST, LAST, NOWHERE, Columns, Facts, Flag, describe, weight
from haversack.recall.extent import Extent, measure
from haversack.recall.facets import facets_of, hashed
from haversack.recall.names import Names, names_in, without_unused
from haversack.recall.pieces import Pieces
from haversack.recall.postings import Postings
from haversack.recall.signs import SignTable
from haversack.scoring.words import split, word_keys
from haversack.store.port import Restaged

__all__ = ["Index", "indexed_text"]

_SEVERAL = 2
_SHORTEST_NAME = 3
_ROLES = frozenset(Role)
_USER, _ASSISTANT, _PASSAGE = Role.USER, Role.ASSISTANT, Kind.PASSAGE  # a name of an enum takes long to look up
_BYTES_PER_ID = 170
"""A Python string of 26 characters, its place in a list and its entry in a dictionary."""


def indexed_text(memory: Memory) -> str:
    """What is indexed and embedded: `Speaker: text` for what somebody said."""
    return f"{memory.speaker}: {memory.content}" if memory.speaker else memory.content


class _Read(NamedTuple):
    memory: Memory
    words: list[str]
    digest: int


class Index:
    """One namespace's memories as arrays."""

    def __init__(self, dimension: int = 0, vocabulary: WordVectors | None = None, sign_bytes: int = 0) -> None:
        self.vocabulary = vocabulary
        self.pieces = Pieces()
        self.signs = SignTable(sign_bytes)
        self.columns = Columns(dimension)
        self.words = Postings()
        self.facets = Postings()
        self.names = Names()
        self.ids: list[str] = []
        self._place: dict[str, int] | None = {}
        self.sessions: dict[str, int] = {}
        self.session_names: list[str] = []
        self.tails: list[int] = []
        self.speakers: dict[str, int] = {}
        self._called: dict[str, list[str]] = {}
        self.present = 0
        self.total_length = 0.0
        self.total_size = 0.0
        self.in_roles = 0
        self.session_length: list[float] = []
        self.upto = 0
        self.unembedded = 0
        self._extent: Extent | None = None
        self._dated: bool | None = None
        self._views = WeakSet[Index]()

    def view(self) -> Index:
        """The index as it is now, whatever is changed here: to be read by any thread, and not to be changed.

        Arrays are shared as far as they are not changed; one is copied before a change only while a view is in use.
        """
        shown = copy(self)
        shown.columns, shown.words, shown.facets = self.columns.view(), self.words.view(), self.facets.view()
        shown.names, shown.pieces, shown.signs = self.names.view(), self.pieces.view(), self.signs.view()
        shown.speakers, shown.tails, shown.session_length = {**self.speakers}, [*self.tails], [*self.session_length]
        self._views.add(shown)
        return shown

    @property
    def place(self) -> dict[str, int]:
        """The row of each memory, for who changes the index: what was loaded is walked at its first change."""
        if self._place is None:
            self._place = {memory_id: row for row, memory_id in enumerate(self.ids)}
        return self._place

    @property
    def extent(self) -> Extent:
        """Looked up once after each change."""
        if self._extent is None:
            self._extent = measure(self.columns, self.session_length, len(self.speakers))
        return self._extent

    @property
    def dated(self) -> bool:
        """Whether any row's validity begins or ends; looked up once after each change, without all the rest."""
        if self._dated is None:
            columns = self.columns
            self._dated = bool((columns.valid_from != FIRST).any() or (columns.valid_to != LAST).any())
        return self._dated

    @property
    def gone(self) -> int:
        """Rows that stand for nothing any more."""
        return self.columns.rows - self.present

    @property
    def nbytes(self) -> int:
        """Bytes held, near enough."""
        arrays = self.columns.nbytes + self.words.nbytes + self.facets.nbytes + self.pieces.nbytes
        return arrays + self.signs.nbytes + self.names.nbytes + _BYTES_PER_ID * len(self.ids)

    @property
    def mean_size(self) -> float:
        """Tokens per memory, near enough."""
        return self.total_size / self.present if self.present else 0.0

    @property
    def role_share(self) -> float:
        """The share of memories that a user or an assistant said, by those names."""
        return self.in_roles / self.present if self.present else 0.0

    @property
    def mean_length(self) -> float:
        """Words per memory."""
        return self.total_length / self.present if self.present else 0.0

    def holders(self, postings: Postings, key: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """The rows that hold a word or facet and stand for something, and how often each does."""
        rows, counts = postings.find(key)
        if not self.gone:
            return rows, counts
        kept = (self.columns.flags[rows] & np.uint16(Flag.PRESENT)) != 0
        return rows[kept], counts[kept]

    def put(self, memories: Sequence[Memory], vectors: Mapping[str, Quantised]) -> None:
        """Add new memories and take over changed ones; `vectors` by memory id, as far as they exist."""
        self._begin()
        fresh: list[_Read] = []
        for memory in sorted(memories, key=lambda memory: memory.born):
            row, digest = self.place.get(memory.id), _digest(memory)
            if row is not None and int(self.columns.digest[row]) == digest:
                self._update(row, describe(memory, frozenset(_words(memory))))
                continue
            if row is not None:
                self._retire(row)
            fresh.append(_Read(memory, _words(memory), digest))
        if fresh:
            self._append(fresh)
        self.embed(vectors)

    def restage(self, memories: Sequence[Restaged]) -> None:
        """Take over new stages of memories that are here."""
        if not memories:
            return
        rows = np.array([self.place[each.memory] for each in memories])
        deleted = [np.uint16(Flag.DELETED * (each.stage is Stage.DELETED)) for each in memories]
        self._begin()
        least, flags = int(rows.min()), self.columns.flags[rows] & ~np.uint16(Flag.DELETED)
        self.columns.at("flags", least)[rows] = flags | deleted
        self.columns.at("importance", least)[rows] = [weight(each.importance, each.stage) for each in memories]

    def take_over(
        self,
        *,
        ids: list[str],
        sessions: Iterable[str],
        speakers: Iterable[str],
        tails: list[int],
        session_length: list[float],
        upto: int,
    ) -> None:
        """Complete an index whose arrays were loaded: names, and the sums that follow from the columns."""
        columns = self.columns
        self.ids, self._place = ids, None
        self.session_names = list(sessions)
        self.sessions = {name: code for code, name in enumerate(self.session_names)}
        for name in speakers:
            self._speaker(name)
        self.tails, self.session_length, self.upto = tails, session_length, upto
        self.present = columns.rows
        self.unembedded = int(columns.rows - np.count_nonzero(columns.flags & np.uint16(Flag.EMBEDDED)))
        self.total_length = float(columns.length.sum(dtype=np.float64))
        self.total_size = float(columns.size.sum(dtype=np.float64))
        codes = [code for code in self._role_codes() if code is not None]
        self.in_roles = int(np.isin(columns.speaker, codes).sum())

    def drop(self, ids: Iterable[str]) -> None:
        """Forget erased memories."""
        self._begin()
        gone = [row for memory_id in ids if (row := self.place.pop(memory_id, None)) is not None]
        for row in gone:
            self._retire(row)
        if gone:
            self._forget_names()

    def embed(self, vectors: Mapping[str, Quantised]) -> None:
        """Take over vectors."""
        self._begin()
        placed = {row: vector for name, vector in vectors.items() if (row := self.place.get(name)) is not None}
        if not placed:
            return
        rows = np.fromiter(placed, np.int64, len(placed))
        is_known = (self.columns.flags[rows] & np.uint16(Flag.EMBEDDED)) != 0
        for row in rows[is_known].tolist():
            self._reembed(row, placed[row])
        if len(fresh := rows[~is_known]):
            self._embed(fresh, [placed[row] for row in fresh.tolist()])

    def without_vector(self, most: int | None = None) -> list[str]:
        """Ids of the memories that have none yet, oldest first; at most so many."""
        rows = np.flatnonzero((self.columns.flags & np.uint8(Flag.PRESENT | Flag.EMBEDDED)) == Flag.PRESENT)
        return [self.ids[row] for row in rows[:most]]

    def speakers_named(self, words: frozenset[str]) -> list[str]:
        """Speakers whose name, or first name of at least three letters, is among these folded words; roles are none."""
        called = {name for word in words for name in self._called.get(word, ()) if name in self.speakers}
        return sorted(name for name in called if self.extent.speaking[self.speakers[name]])

    def row_of(self, memory_id: str) -> int | None:
        """The row that stands for a memory; None where none does."""
        if self._place is None:  # as it was loaded: each id stands once, and later ones stand behind the last row
            return next((row for row in range(self.columns.rows) if self.ids[row] == memory_id), None)
        row = self._place.get(memory_id)
        if row is None or row < self.columns.rows:
            return row
        rows = np.flatnonzero((self.columns.flags & np.uint16(Flag.PRESENT)) != 0).tolist()  # indexed anew meanwhile
        return next((each for each in rows if self.ids[each] == memory_id), None)

    def _begin(self) -> None:
        """What is changed now is changed in copies where a view is in use."""
        self._extent = self._dated = None
        if not self._views:
            self.columns.release()
            self.signs.release()

    def speaker_words(self, words: frozenset[str]) -> set[str]:
        """The words of the names of those speakers: every line carries one, so they tell nothing apart."""
        return {word for speaker in self.speakers_named(words) for word in speaker.casefold().split()}

    def _append(self, fresh: Sequence[_Read]) -> None:
        columns = self.columns
        first = columns.extend(len(fresh))
        self.words.append(first, [word_keys(read.words) for read in fresh])
        names = [names_in(read.memory.entities) for read in fresh]
        self.names.add(chain.from_iterable(names))
        self.facets.append(first, [facets_of(read.memory, held) for read, held in zip(fresh, names, strict=True)])
        if self.vocabulary is not None:
            self.pieces.append([self.vocabulary.pieces(indexed_text(read.memory)) for read in fresh])
        facts = [describe(read.memory, frozenset(read.words)) for read in fresh]
        arrays = columns.arrays()
        for name, values in zip(Facts._fields, zip(*facts, strict=True), strict=True):
            arrays[name][first:] = values
        columns.digest[first:] = [read.digest for read in fresh]
        columns.length[first:] = [len(read.words) for read in fresh]
        columns.size[first:] = [len(read.memory.content.encode("utf-8", "replace")) / 4 for read in fresh]
        columns.turn[first:] = [_turn(read.memory) for read in fresh]
        self.present += len(fresh)
        self.unembedded += len(fresh)
        for row, read in enumerate(fresh, first):
            self.ids.append(read.memory.id)
            self.place[read.memory.id] = row
            self._link(row, read.memory)
        self._weigh(slice(first, None), 1)

    def _update(self, row: int, facts: Facts) -> None:
        embedded = self.columns.flags[row] & np.uint16(Flag.EMBEDDED)
        for name, value in zip(Facts._fields, facts, strict=True):
            self.columns.at(name, row)[row] = value
        self.columns.at("flags", row)[row] |= embedded

    def _embed(self, rows: NDArray[np.int64], vectors: Sequence[Quantised]) -> None:
        """Take over the vectors of rows that have none."""
        columns, least = self.columns, int(rows.min())
        for name, values in zip(
            ("scale", "vectors", "residues"), zip(*(each[:3] for each in vectors), strict=True), strict=True
        ):
            columns.at(name, least)[rows] = np.array(values)
        columns.at("flags", least)[rows] |= np.uint16(Flag.EMBEDDED)
        for row, vector in zip(rows.tolist(), vectors, strict=True) if self.signs.width else ():
            if vector.signs is not None:
                self.signs.put(row, vector.signs)
        self.unembedded -= len(rows)

    def _reembed(self, row: int, vector: Quantised) -> None:
        """Take over another vector of a row, where it differs."""
        for name, value in zip(("scale", "vectors", "residues"), vector[:3], strict=True):
            if not np.array_equal(getattr(self.columns, name)[row], value):
                self.columns.at(name, row)[row] = value
        if vector.signs is not None:
            self.signs.put(row, vector.signs)

    def _speaker(self, name: str) -> int:
        code = self.speakers.get(name)
        if code is None:
            code = self.speakers[name] = len(self.speakers)
            if name not in _ROLES:
                for word in {name.casefold(), *(part for part in split(name)[:1] if len(part) >= _SHORTEST_NAME)}:
                    self._called.setdefault(word, []).append(name)
        return code

    def _role_codes(self) -> tuple[int | None, int | None]:
        return self.speakers.get(_USER), self.speakers.get(_ASSISTANT)

    def _forget_names(self) -> None:
        """Take away the names of speakers and sessions of which nothing is left; their codes stay theirs."""
        present = (self.columns.flags & np.uint16(Flag.PRESENT)) != 0
        self.speakers = without_unused(self.speakers, self.columns.speaker[present])
        self.sessions = without_unused(self.sessions, self.columns.session[present])
        self.session_names = list(self.sessions)
        called = {word: [name for name in names if name in self.speakers] for word, names in self._called.items()}
        self._called = {word: names for word, names in called.items() if names}

    def _weigh(self, rows: slice, sign: int) -> None:
        """Count these rows in, or out."""
        columns = self.columns
        codes = [code for code in self._role_codes() if code is not None]
        self.total_length += sign * float(columns.length[rows].sum(dtype=np.float64))
        self.total_size += sign * float(columns.size[rows].sum(dtype=np.float64))
        self.in_roles += sign * int(np.isin(columns.speaker[rows], codes).sum())
        for session, length in zip(columns.session[rows].tolist(), columns.length[rows].tolist(), strict=True):
            if session != NOWHERE:
                self.session_length[session] += sign * length

    def _link(self, row: int, memory: Memory) -> None:
        columns = self.columns
        if memory.speaker:
            columns.speaker[row] = self._speaker(memory.speaker)
        if memory.source.session is None:
            return
        session = columns.session[row] = self.sessions.setdefault(memory.source.session, len(self.sessions))
        if session == len(self.tails):
            self.session_names.append(memory.source.session)
            self.tails.append(NOWHERE)
            self.session_length.append(0.0)
        if memory.kind is not _PASSAGE:
            return
        after, before = NOWHERE, self.tails[session]
        while before != NOWHERE and columns.born[before] > memory.born:
            after, before = before, int(columns.previous[before])
        columns.previous[row], columns.following[row] = before, after
        if before != NOWHERE:
            columns.at("following", before)[before] = row
        if after == NOWHERE:
            self.tails[session] = row
        else:
            columns.at("previous", after)[after] = row

    def _retire(self, row: int) -> None:
        columns = self.columns
        before, after = int(columns.previous[row]), int(columns.following[row])
        if before != NOWHERE:
            columns.at("following", before)[before] = after
        if after != NOWHERE:
            columns.at("previous", after)[after] = before
        elif columns.session[row] != NOWHERE and self.tails[columns.session[row]] == row:
            self.tails[columns.session[row]] = before
        columns.at("previous", row)[row] = columns.at("following", row)[row] = NOWHERE
        self.unembedded -= not columns.flags[row] & Flag.EMBEDDED
        columns.at("flags", row)[row] = 0
        columns.at("scale", row)[row] = 0
        self.present -= 1
        self._weigh(slice(row, row + 1), -1)


def _words(memory: Memory) -> list[str]:
    """The text's words, and those of entities that it does not name itself."""
    words = split(indexed_text(memory))
    if not memory.entities:
        return words
    named = frozenset(words)
    return words + [word for entity in memory.entities for word in split(entity) if word not in named]


def _digest(memory: Memory) -> int:
    """Tells whether words, speaker, session and facets are those that were indexed."""
    parts = [indexed_text(memory), memory.source.session or "", memory.kind, *memory.tags, "", *memory.entities]
    parts += [f"{name}={value}" for name, value in sorted(memory.metadata.items())]
    return hashed(*parts)


def _turn(memory: Memory) -> int:
    source = memory.source
    if source.part is None or source.part[1] < _SEVERAL:
        return 0
    return hashed("turn", source.session or "", source.document or "", *source.turns)
