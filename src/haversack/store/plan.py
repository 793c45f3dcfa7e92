"""The rules of a batch, once and pure: what must be read to decide it, and what it then writes.

A back-end locks the namespace, reads what `needs` asks for, passes it to `decide`, writes what that returns, and
commits. It decides nothing itself, so every back-end accepts, skips and refuses the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from haversack.errors import ConflictError
from haversack.model.identity import claims, fingerprint
from haversack.model.memory import Kind, Memory, Stage, Turn
from haversack.store.port import (
    BY_SESSION,
    SEGMENT,
    Applied,
    Batch,
    Price,
    Record,
    RecordKey,
    Restage,
    Vector,
    Written,
)

__all__ = [
    "Found",
    "HeldMemory",
    "HeldTurn",
    "Needs",
    "SessionPlace",
    "Tombstone",
    "Writes",
    "decide",
    "held",
    "key_digest",
    "needs",
    "sources_of",
    "text_of",
    "turn_digest",
]


class HeldMemory(NamedTuple):
    """What the rules ask of a memory that is stored already."""

    id: str
    born: int
    changed: int
    kind: Kind
    content: str
    speaker: str
    event_time: datetime
    sources: tuple[str, ...]
    """See `sources_of`."""


class HeldTurn(NamedTuple):
    """What the rules ask of a turn that is stored already."""

    id: str
    session: str
    position: int
    key: str | None


class SessionPlace(NamedTuple):
    """How far a session has come."""

    next: int
    """The position of the next turn."""
    turns: int
    first_at: datetime | None
    last_at: datetime | None


class Tombstone(NamedTuple):
    """What an erased memory leaves."""

    id: str
    fingerprint: str
    changed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What to read before a batch can be decided, beside the namespace's change sequence."""

    everything: bool = False
    """All memories, in the order of their birth, and all turns, by session and position."""
    memories: tuple[str, ...] = ()
    """Memories by id."""
    numbers: tuple[str, ...] = ()
    """Only the change numbers of these memories."""
    tombstones: tuple[str, ...] = ()
    """Which of these ids have a tombstone."""
    turns: tuple[str, ...] = ()
    """Turns by id."""
    sessions: tuple[str, ...] = ()
    """All turns of these sessions."""
    places: tuple[str, ...] = ()
    """How far these sessions have come; those of the turns found by id are needed as well."""
    keys: tuple[tuple[str, str], ...] = ()
    """Turns by session and key."""
    digests: tuple[str, ...] = ()
    """Which of these digests erased turns have left."""
    records: tuple[RecordKey, ...] = ()
    """The versions of these records."""
    since: int | None = None
    """Memories that are no passages, and fingerprints of tombstones, behind this change number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was read, under the lock that the writes will be made under."""

    sequence: int
    memories: Mapping[str, HeldMemory] = field(default_factory=dict[str, HeldMemory])
    numbers: Mapping[str, int] = field(default_factory=dict[str, int])
    tombstones: Collection[str] = frozenset()
    turns: Mapping[str, HeldTurn] = field(default_factory=dict[str, HeldTurn])
    """By id, of whichever list they were asked for."""
    places: Mapping[str, SessionPlace] = field(default_factory=dict[str, SessionPlace])
    digests: Collection[str] = frozenset()
    records: Mapping[RecordKey, int] = field(default_factory=dict[RecordKey, int])
    later: Sequence[Memory] = ()
    """Memories written since."""
    buried: Sequence[str] = ()
    """Fingerprints of memories erased since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writes:
    """What to write, in the order of the fields."""

    everything: bool = False
    """Delete everything that the namespace holds, first; its graves stay unless `graves` says otherwise."""
    graves: bool = True
    """Whether graves stay when everything is deleted."""
    gone: tuple[str, ...] = ()
    """Delete these memories with their prices and vectors."""
    buried: tuple[Tombstone, ...] = ()
    """Insert these tombstones."""
    unsaid: tuple[str, ...] = ()
    """Delete these turns."""
    unlinked: tuple[tuple[str, str], ...] = ()
    """Delete these links from a source to what was made of it."""
    digests: tuple[str, ...] = ()
    """Insert these, where they are not there already."""
    ended: tuple[str, ...] = ()
    """Delete the rows of these sessions, and their records in BY_SESSION."""
    recounted: tuple[str, ...] = ()
    """Count these sessions' turns anew, with the times of their first and last, after the turns are written."""
    about: tuple[str, ...] = ()
    """Delete the records with these keys, in whatever collection."""
    segments: bool = False
    """Delete the records of the collection SEGMENT."""
    turns: tuple[Turn, ...] = ()
    """Insert these, with their positions."""
    places: Mapping[str, SessionPlace] = field(default_factory=dict[str, SessionPlace])
    """Insert or replace the rows of these sessions."""
    inserts: tuple[Memory, ...] = ()
    """Insert these, with their numbers."""
    updates: tuple[Memory, ...] = ()
    """Replace these, with their numbers."""
    linked: tuple[tuple[str, str], ...] = ()
    """Insert these links from a source to what was made of it."""
    devalued: tuple[str, ...] = ()
    """Delete the prices and vectors of these memories: they are no longer true."""
    stages: tuple[tuple[Restage, int], ...] = ()
    """Set these stages and change numbers."""
    prices: tuple[Price, ...] = ()
    vectors: tuple[Vector, ...] = ()
    """Insert or replace."""
    records: tuple[Record, ...] = ()
    """Insert or replace, with their versions."""
    dropped: tuple[RecordKey, ...] = ()
    """Delete these records."""
    reset: int | None = None
    """The number at which everything was erased."""
    erased: bool = False
    """Count one more erasure."""
    applied: Applied
    """What the caller is told; `applied.sequence` is the namespace's new change sequence."""


def key_digest(session: str, key: str) -> str:
    """Return what remains of an erased turn's key: enough to know it again, not to read it (SHA-256, 128 bits)."""
    return hashlib.sha256(f"{len(session)}:{session}{key}".encode()).hexdigest()[:32]


def turn_digest(name: str) -> str:
    """Return what remains of an erased turn's id. No key's digest is made of such words: those begin with a number."""
    return hashlib.sha256(f"turn:{name}".encode()).hexdigest()[:32]


def held(memory: Memory) -> HeldMemory:
    """Return what the rules ask of a stored memory."""
    return HeldMemory(
        memory.id,
        memory.born,
        memory.changed,
        memory.kind,
        memory.content,
        memory.speaker,
        memory.event_time,
        sources_of(memory),
    )


def sources_of(memory: Memory) -> tuple[str, ...]:
    """Return the ids of the turns and memories that a memory was made of or repeats."""
    repeated = () if memory.duplicate_of is None else (memory.duplicate_of,)
    named = (*memory.source.turns, *memory.source.memories, *repeated)
    return tuple(dict.fromkeys(named))


def text_of(memory: Memory) -> str | None:
    """Return the name of the text that a memory is a part of: its turn, or else its first part."""
    source = memory.source
    if source.part is None or source.part[1] < 2:  # noqa: PLR2004 - one part is the whole text
        return None
    if source.turns:
        return source.turns[0]
    return memory.id if source.part[0] == 0 else next(reversed(source.memories), None)


def needs(batch: Batch) -> Needs:
    """Return what must be read to decide the batch."""
    erase = batch.erase
    wiped = erase is not None and erase.everything
    ids = dict.fromkeys(memory.id for memory in batch.memories)
    valued = {price.memory for price in batch.prices} | {vector.memory for vector in batch.vectors}
    valued.update(batch.made_of)
    turns = dict.fromkeys((*batch.made_of, *(turn.id for turn in batch.turns)))
    keys = dict.fromkeys((turn.session, turn.key) for turn in batch.turns if turn.key is not None)
    sessions = dict.fromkeys(turn.session for turn in batch.turns)
    if erase is not None and not wiped:
        ids |= dict.fromkeys(erase.memories)
        turns |= dict.fromkeys(erase.turns)
        sessions |= dict.fromkeys(erase.sessions)
    return Needs(
        everything=wiped,
        memories=() if wiped else tuple(ids),
        numbers=() if wiped else tuple(sorted(valued.difference(ids))),
        tombstones=tuple(dict.fromkeys(memory.id for memory in batch.memories)),
        turns=() if wiped else tuple(turns),
        sessions=() if erase is None or wiped else erase.sessions,
        places=tuple(sessions),
        keys=() if wiped else tuple(keys),
        digests=tuple(
            dict.fromkeys((*(turn_digest(turn.id) for turn in batch.turns), *(key_digest(*key) for key in keys)))
        ),
        records=tuple(dict.fromkeys(RecordKey(collection=one.collection, key=one.key) for one in batch.records)),
        since=batch.new_since,
    )


def decide(batch: Batch, found: Found) -> Writes:
    """Return what to write, or raise ConflictError and write nothing."""
    if batch.sequence not in {None, found.sequence}:
        raise ConflictError("the namespace was changed meanwhile; read it again")
    plan = _Plan(found)
    if batch.erase is not None:
        plan.erase(batch)
    plan.refuse_unfounded(batch.made_of, batch.seen)
    plan.refuse_said(batch)
    plan.append(batch.turns)
    ignored = plan.made_from_skipped(batch.memories)
    plan.write([memory for memory in batch.memories if memory.id not in ignored], batch.seen)
    plan.restage(batch.stages)
    plan.value(
        [price for price in batch.prices if price.memory not in ignored],
        [vector for vector in batch.vectors if vector.memory not in ignored],
    )
    plan.put(batch.records)
    return plan.writes()


class _Plan:
    """The namespace as it was found and as the batch, step by step, would leave it."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.sequence = found.sequence
        self.memories = dict(found.memories)
        self.numbers = {**found.numbers, **{name: held.changed for name, held in found.memories.items()}}
        self.tombstones = set(found.tombstones)
        self.turns = dict(found.turns)
        self.taken = {(turn.session, turn.key) for turn in found.turns.values() if turn.key is not None}
        self.places = dict(found.places)
        self.digests = set(found.digests)
        self.versions = dict(found.records)
        self.everything, self.graves = False, True
        self.reset: int | None = None
        self.erased = False
        self.gone: list[str] = []
        self.buried: list[Tombstone] = []
        self.unsaid: list[HeldTurn] = []
        self.ended: set[str] = set()
        self.shrunk: set[str] = set()
        self.appended: list[Turn] = []
        self.skipped: list[str] = []
        self.linked: list[tuple[str, str]] = []
        self.unlinked: list[tuple[str, str]] = []
        self.inserts: list[Memory] = []
        self.updates: list[Memory] = []
        self.devalued: list[str] = []
        self.stages: list[tuple[Restage, int]] = []
        self.prices: list[Price] = []
        self.vectors: list[Vector] = []
        self.records: dict[RecordKey, Record | None] = {}

    def next_number(self) -> int:
        self.sequence += 1
        return self.sequence

    def erase(self, batch: Batch) -> None:
        erasure = batch.erase
        assert erasure is not None  # noqa: S101 - the caller asked
        self.erased = True
        self.everything, self.graves = erasure.everything, erasure.graves
        wanted = self.memories if erasure.everything else set(erasure.memories)
        going = sorted((held for name, held in self.memories.items() if name in wanted), key=lambda held: held.born)
        self.unsaid = sorted(
            (
                turn
                for turn in self.turns.values()
                if erasure.everything or turn.id in erasure.turns or turn.session in erasure.sessions
            ),
            key=lambda turn: (turn.session, turn.position),
        )
        for held in going:
            del self.memories[held.id], self.numbers[held.id]
            self.unlinked += [(source, held.id) for source in held.sources]
        for turn in self.unsaid:
            del self.turns[turn.id]
            self.taken.discard((turn.session, turn.key or ""))
        self.gone = [held.id for held in going]
        if erasure.graves:
            self.buried = [
                Tombstone(held.id, fingerprint(held.kind, held.content), self.next_number()) for held in going
            ]
            self.tombstones.update(self.gone)
            self.digests.update(self._left())
        if erasure.everything:
            self._wipe()
            return
        self._shrink({*erasure.sessions, *(turn.session for turn in self.unsaid)})
        self._drop_records()

    def _wipe(self) -> None:
        if not self.graves:
            self.tombstones.clear()
            self.digests.clear()
        self.places.clear()
        self.versions.clear()
        self.reset = self.next_number()

    def _left(self) -> list[str]:
        if not self.graves:
            return []
        keys = [key_digest(turn.session, turn.key) for turn in self.unsaid if turn.key is not None]
        return [turn_digest(turn.id) for turn in self.unsaid] + keys

    def _shrink(self, sessions: Collection[str]) -> None:
        going = [turn.session for turn in self.unsaid]
        for session in sessions:
            place = self.places.get(session)
            if place is None or place.turns == going.count(session):
                self.ended.add(session)
                self.places.pop(session, None)
            else:
                self.shrunk.add(session)

    def _drop_records(self) -> None:
        about = {*self.gone, *(turn.id for turn in self.unsaid)}
        for address in list(self.versions):
            over = address.collection in BY_SESSION and address.key in self.ended
            if over or address.key in about or (about and address.collection == SEGMENT):
                del self.versions[address]

    def refuse_unfounded(self, made_of: Collection[str], seen: int | None) -> None:
        """Refuse what was made of something that is gone or, after it was read, changed."""
        if missing := set(made_of).difference(self.turns, self.numbers):
            raise ConflictError(f"{min(missing)} was erased meanwhile")
        if seen is not None and any(self.numbers.get(name, 0) > seen for name in made_of):
            raise ConflictError("a memory was changed meanwhile; read it again")

    def refuse_said(self, batch: Batch) -> None:
        """Refuse a new memory that says what was said, or erased for good, after the writer had looked for it."""
        live = (one for one in self.found.later if one.superseded_by is None and one.stage is not Stage.DELETED)
        said = {*self.found.buried, *(claim for memory in live for claim in claims(memory))}
        if said and any(said & claims(memory) for memory in batch.memories if memory.id not in self.memories):
            raise ConflictError("the same was said meanwhile; read it again")

    def append(self, turns: Iterable[Turn]) -> None:
        for turn in turns:
            if self._is_known(turn):
                self.skipped.append(turn.id)
                continue
            place = self.places.get(turn.session) or SessionPlace(0, 0, None, None)
            self.places[turn.session] = SessionPlace(
                place.next + 1,
                place.turns + 1,
                turn.at if place.first_at is None else min(place.first_at, turn.at),
                turn.at if place.last_at is None else max(place.last_at, turn.at),
            )
            self.turns[turn.id] = HeldTurn(turn.id, turn.session, place.next, turn.key)
            if turn.key is not None:
                self.taken.add((turn.session, turn.key))
            self.appended.append(replace(turn, position=place.next))

    def _is_known(self, turn: Turn) -> bool:
        if turn.id in self.turns or turn_digest(turn.id) in self.digests:
            return True
        if turn.key is None:
            return False
        return (turn.session, turn.key) in self.taken or key_digest(turn.session, turn.key) in self.digests

    def made_from_skipped(self, memories: Iterable[Memory]) -> set[str]:
        there = set(self.skipped)
        return {one.id for one in memories if one.source.turns and there.issuperset(one.source.turns)}

    def write(self, memories: Iterable[Memory], seen: int | None) -> None:
        fresh = {memory.id: memory for memory in memories}
        self._refuse(fresh, seen)
        for memory in fresh.values():
            number = self.next_number()
            self.numbers[memory.id] = number
            former = self.memories.get(memory.id)
            self._link(memory, former)
            if former is None:
                self.inserts.append(replace(memory, born=number, changed=number))
                continue
            self.updates.append(replace(memory, born=former.born, changed=number))
            if former[3:7] != (memory.kind, memory.content, memory.speaker, memory.event_time):
                self.devalued.append(memory.id)

    def _link(self, memory: Memory, former: HeldMemory | None) -> None:
        before, after = () if former is None else former.sources, sources_of(memory)
        self.unlinked += [(source, memory.id) for source in before if source not in after]
        self.linked += [(source, memory.id) for source in after if source not in before]

    def _refuse(self, fresh: Mapping[str, Memory], seen: int | None) -> None:
        for memory in fresh.values():
            if memory.id in self.tombstones:
                raise ConflictError(f"memory {memory.id} was erased for good; its id cannot be used again")
            former = self.memories.get(memory.id)
            if seen is None:
                continue
            if former is None and memory.born:
                raise ConflictError(f"memory {memory.id} was erased meanwhile")
            if former is not None and former.changed > seen:
                raise ConflictError(f"memory {memory.id} was changed meanwhile; read it again")

    def restage(self, stages: Iterable[Restage]) -> None:
        for stage in stages:
            number = self.next_number()
            self.numbers[stage.memory] = number
            self.stages.append((stage, number))

    def value(self, prices: Iterable[Price], vectors: Iterable[Vector]) -> None:
        self.prices = [price for price in prices if self._is_as_read(price)]
        self.vectors = [vector for vector in vectors if self._is_as_read(vector)]

    def _is_as_read(self, value: Price | Vector) -> bool:
        return value.memory in self.numbers and value.changed in {None, self.numbers[value.memory]}

    def put(self, records: Iterable[Written]) -> None:
        for written in records:
            address = RecordKey(collection=written.collection, key=written.key)
            version = self.versions.get(address, 0)
            if written.expected is not None and written.expected != version:
                raise ConflictError(
                    f"record {written.key!r} of {written.collection!r} is at version {version}, not {written.expected}"
                )
            if written.value is None:
                self.versions.pop(address, None)
                self.records[address] = None
                continue
            self.versions[address] = version + 1
            self.records[address] = Record(
                collection=written.collection,
                key=written.key,
                value=written.value,
                version=version + 1,
                about=written.about,
                session=written.session,
            )

    def writes(self) -> Writes:
        gone = tuple(self.gone)
        unsaid = tuple(turn.id for turn in self.unsaid)
        appended = {turn.session for turn in self.appended}
        return Writes(
            everything=self.everything,
            graves=self.graves,
            gone=() if self.everything else gone,
            buried=tuple(self.buried),
            unsaid=() if self.everything else unsaid,
            unlinked=() if self.everything else tuple(self.unlinked),
            digests=tuple(self._left()),
            ended=tuple(sorted(self.ended)),
            recounted=tuple(sorted(self.shrunk)),
            about=() if self.everything else gone + unsaid,
            segments=bool(gone or unsaid) and not self.everything,
            turns=tuple(self.appended),
            places={session: self.places[session] for session in sorted(appended)},
            inserts=tuple(self.inserts),
            updates=tuple(self.updates),
            linked=tuple(self.linked),
            devalued=tuple(self.devalued),
            stages=tuple(self.stages),
            prices=tuple(self.prices),
            vectors=tuple(self.vectors),
            records=tuple(record for record in self.records.values() if record is not None),
            dropped=tuple(address for address, record in self.records.items() if record is None),
            reset=self.reset,
            erased=self.erased,
            applied=Applied(
                sequence=self.sequence,
                turns=tuple(self.appended),
                skipped=tuple(self.skipped),
                erased_memories=gone,
                erased_turns=unsaid,
            ),
        )
