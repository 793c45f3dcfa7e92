"""The store as plain dictionaries: the oracle that every other back-end must agree with, and a store for tests.

It is written to be obviously right, not fast: a batch works on a copy of its namespace, which takes the old one's place
when all of it went well. So a failed batch leaves nothing, and a reader never sees half of one.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from haversack.errors import ConflictError, StoreError
from haversack.model.identity import fingerprint
from haversack.model.lives import lives_of
from haversack.model.memory import Kind, Memory, SessionInfo, Stage, Turn
from haversack.store.conditions import refuse_said, refuse_stale, refuse_unfounded
from haversack.store.port import (
    BY_SESSION,
    SEGMENT,
    SYSTEM,
    Applied,
    Batch,
    Census,
    Changes,
    Erasure,
    LifePage,
    Price,
    Record,
    Restage,
    Restaged,
    Vector,
    Written,
)

__all__ = ["MemoryStore"]


@dataclass(frozen=True, slots=True)
class _Tombstone:
    fingerprint: str
    changed: int


@dataclass(slots=True)
class _Space:
    """All that one namespace holds."""

    sequence: int = 0
    reset: int = 0
    """The number at which the whole namespace was last erased."""
    memories: dict[str, Memory] = field(default_factory=dict[str, Memory])
    turns: dict[str, Turn] = field(default_factory=dict[str, Turn])
    next_position: dict[str, int] = field(default_factory=dict[str, int])
    taken: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """(session, key) of every turn that is or was here."""
    prices: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    vectors: dict[tuple[str, str], bytes] = field(default_factory=dict[tuple[str, str], bytes])
    records: dict[tuple[str, str], Record] = field(default_factory=dict[tuple[str, str], Record])
    tombstones: dict[str, _Tombstone] = field(default_factory=dict[str, _Tombstone])
    told: dict[str, int] = field(default_factory=dict[str, int])
    """The number at which more than its stage was last written, by memory."""

    def copy(self) -> _Space:
        return _Space(
            sequence=self.sequence,
            reset=self.reset,
            memories=self.memories.copy(),
            turns=self.turns.copy(),
            next_position=self.next_position.copy(),
            taken=self.taken.copy(),
            prices=self.prices.copy(),
            vectors=self.vectors.copy(),
            records=self.records.copy(),
            tombstones=self.tombstones.copy(),
            told=self.told.copy(),
        )

    def holds_anything(self) -> bool:
        return bool(self.memories or self.turns or self.taken or self.records or self.tombstones)

    def next_number(self) -> int:
        self.sequence += 1
        return self.sequence


class MemoryStore:
    """A store that lives as long as the object."""

    abilities: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._spaces: dict[str, _Space] = {}
        self._writing = threading.Lock()
        self._closed = False

    def copy(self) -> MemoryStore:
        """Return another store that holds the same; what is written to one does not show in the other."""
        copied = MemoryStore()
        with self._writing:
            copied._spaces = self._spaces.copy()  # a batch puts a new space in place of the old one
        return copied

    def apply(self, namespace: str, batch: Batch) -> Applied:
        """See the port."""
        with self._writing:
            draft = self._space(namespace).copy()
            applied = _apply(draft, batch)
            self._spaces[namespace] = draft
        return applied

    def memories(self, namespace: str, ids: Sequence[str]) -> list[Memory]:
        """See the port."""
        held = self._space(namespace).memories
        return [held[each] for each in ids if each in held]

    def changes(self, namespace: str, *, since: int = 0, limit: int = 10_000, known: int = 0) -> Changes:
        """See the port."""
        space = self._space(namespace)
        written = [(memory.changed, memory) for memory in space.memories.values() if memory.changed > since]
        erased = [(stone.changed, gone) for gone, stone in space.tombstones.items() if stone.changed > since]
        found = sorted([*written, *erased], key=lambda change: change[0])
        shown = found[:limit]
        more = len(found) > len(shown)
        memories = [what for _, what in shown if isinstance(what, Memory)]
        return Changes(
            memories=tuple(each for each in memories if space.told[each.id] > known),
            restaged=tuple(
                Restaged(each.id, each.stage, each.importance) for each in memories if space.told[each.id] <= known
            ),
            erased=tuple(what for _, what in shown if isinstance(what, str)),
            upto=(shown[-1][0] if shown else since) if more else max(since, space.sequence),
            more=more,
            reset=space.reset > since,
        )

    def lives(
        self, namespace: str, *, spared: Collection[Kind] = (), since: int = 0, limit: int = 10_000, sized: bool = False
    ) -> LifePage:
        """See the port."""
        space = self._space(namespace)
        later = sorted(
            (each for each in space.memories.values() if each.changed > since and not _is_spared(each, spared)),
            key=lambda memory: memory.changed,
        )
        shown, more = later[:limit], len(later) > limit
        shown = [each if sized else replace(each, content="") for each in shown]
        upto = shown[-1].changed if more else max(since, space.sequence)
        return LifePage(lives=lives_of(shown), upto=upto, more=more)

    def sequence(self, namespace: str) -> int:
        """See the port."""
        return self._space(namespace).sequence

    def turns(
        self, namespace: str, session: str, *, after: int = -1, limit: int | None = None, newest: bool = False
    ) -> list[Turn]:
        """See the port."""
        said = [turn for turn in self._space(namespace).turns.values() if turn.session == session]
        said = sorted((turn for turn in said if turn.position > after), key=lambda turn: turn.position)
        if limit is None:
            return said
        return said[max(0, len(said) - limit) :] if newest else said[:limit]

    def turns_by_id(self, namespace: str, ids: Sequence[str]) -> list[Turn]:
        """See the port."""
        held = self._space(namespace).turns
        return [held[each] for each in ids if each in held]

    def sessions(self, namespace: str) -> list[SessionInfo]:
        """See the port."""
        times: dict[str, list[Turn]] = {}
        for turn in self._space(namespace).turns.values():
            times.setdefault(turn.session, []).append(turn)
        infos = [
            SessionInfo(
                id=session,
                turns=len(said),
                first_at=min(turn.at for turn in said),
                last_at=max(turn.at for turn in said),
            )
            for session, said in sorted(times.items())
        ]
        return sorted(infos, key=lambda info: info.last_at, reverse=True)

    def namespaces(self) -> list[str]:
        """See the port."""
        self._space(SYSTEM)
        return sorted(name for name, space in self._spaces.copy().items() if name != SYSTEM and space.holds_anything())

    def by_fingerprint(self, namespace: str, fingerprints: Sequence[str]) -> dict[str, str]:
        """See the port."""
        wanted = set(fingerprints)
        found: dict[str, str] = {}
        for memory in sorted(self._space(namespace).memories.values(), key=lambda memory: memory.born):
            if memory.kind is Kind.PASSAGE or memory.stage is Stage.DELETED or memory.superseded_by is not None:
                continue
            mark = fingerprint(memory.kind, memory.content)
            if mark in wanted:
                found[mark] = memory.id
        return found

    def tombstoned(self, namespace: str, fingerprints: Sequence[str]) -> set[str]:
        """See the port."""
        return {stone.fingerprint for stone in self._space(namespace).tombstones.values()} & set(fingerprints)

    def prices(self, namespace: str, encoding: str, ids: Sequence[str]) -> dict[str, int]:
        """See the port."""
        held = self._space(namespace).prices
        return {each: held[each, encoding] for each in ids if (each, encoding) in held}

    def vectors(self, namespace: str, model: str, ids: Sequence[str]) -> dict[str, bytes]:
        """See the port."""
        held = self._space(namespace).vectors
        return {each: held[each, model] for each in ids if (each, model) in held}

    def embedded(self, namespace: str, model: str) -> int:
        """See the port."""
        return sum(each == model for _, each in self._space(namespace).vectors)

    def record(self, namespace: str, collection: str, key: str) -> Record | None:
        """See the port."""
        return self._space(namespace).records.get((collection, key))

    def records(
        self, namespace: str, collection: str, *, prefix: str = "", after: str = "", limit: int = 1_000
    ) -> list[Record]:
        """See the port."""
        held = [record for record in self._space(namespace).records.values() if record.collection == collection]
        found = [record for record in held if record.key.startswith(prefix) and record.key > after]
        return sorted(found, key=lambda record: record.key)[:limit]

    def census(self, namespace: str) -> Census:
        """See the port."""
        space = self._space(namespace)
        live = [memory for memory in space.memories.values() if memory.stage is not Stage.DELETED]
        return Census(
            memories=dict(sorted(Counter(str(memory.kind) for memory in live).items())),
            deleted=len(space.memories) - len(live),
            sessions=len({turn.session for turn in space.turns.values()}),
            turns=len(space.turns),
            tombstones=len(space.tombstones),
        )

    def close(self) -> None:
        """See the port."""
        self._closed = True
        self._spaces = {}

    def _space(self, namespace: str) -> _Space:
        if self._closed:
            raise StoreError("this store is closed")
        return self._spaces.get(namespace) or _Space()


def _apply(space: _Space, batch: Batch) -> Applied:
    refuse_stale(batch, space.sequence)
    gone_memories: list[str] = []
    gone_turns: list[str] = []
    if batch.erase is not None:
        gone_memories, gone_turns = _erase(space, batch.erase)
    founded = {name: space.memories[name].changed for name in batch.made_of if name in space.memories}
    refuse_unfounded(batch, space.turns.keys(), founded)
    if batch.new_since is not None:
        later = (memory for memory in space.memories.values() if memory.changed > batch.new_since)
        buried = (stone.fingerprint for stone in space.tombstones.values() if stone.changed > batch.new_since)
        refuse_said(batch, later, buried, space.memories.keys())
    appended, skipped = _append(space, batch.turns)
    ignored = _made_from_alone(batch.memories, skipped)
    _write(space, [memory for memory in batch.memories if memory.id not in ignored], batch.seen)
    _restage(space, batch.stages)
    _value(space, ignored, batch.prices, batch.vectors)
    for written in batch.records:
        _put(space, written)
    return Applied(
        sequence=space.sequence,
        turns=tuple(appended),
        skipped=tuple(skipped),
        erased_memories=tuple(gone_memories),
        erased_turns=tuple(gone_turns),
    )


def _erase(space: _Space, erasure: Erasure) -> tuple[list[str], list[str]]:
    memories = sorted(
        (each for each in space.memories.values() if erasure.everything or each.id in erasure.memories),
        key=lambda memory: memory.born,
    )
    turns = sorted(
        (
            each
            for each in space.turns.values()
            if erasure.everything or each.id in erasure.turns or each.session in erasure.sessions
        ),
        key=lambda turn: (turn.session, turn.position),
    )
    gone_memories = [memory.id for memory in memories]
    gone_turns = [turn.id for turn in turns]
    if erasure.everything:
        _clear(space)
        return gone_memories, gone_turns
    for memory in memories:
        del space.memories[memory.id]
        _devalue(space, memory.id)
        space.tombstones[memory.id] = _Tombstone(fingerprint(memory.kind, memory.content), space.next_number())
    for turn in turns:
        del space.turns[turn.id]
    words = {*gone_memories, *gone_turns}
    touched = {*erasure.sessions, *(turn.session for turn in turns)}
    over = touched - {turn.session for turn in space.turns.values()}
    for session in over:
        space.next_position.pop(session, None)
    for collection, key in list(space.records):
        is_about = key in words or (collection in BY_SESSION and key in over)
        if is_about or (words and collection == SEGMENT):
            del space.records[collection, key]
    return gone_memories, gone_turns


def _clear(space: _Space) -> None:
    for held in (space.memories, space.turns, space.next_position, space.taken, space.prices, space.vectors):
        held.clear()
    space.records.clear()
    space.tombstones.clear()
    space.reset = space.next_number()


def _append(space: _Space, turns: Iterable[Turn]) -> tuple[list[Turn], list[str]]:
    appended: list[Turn] = []
    skipped: list[str] = []
    for turn in turns:
        if turn.id in space.turns or (turn.key is not None and (turn.session, turn.key) in space.taken):
            skipped.append(turn.id)
            continue
        placed = replace(turn, position=space.next_position.get(turn.session, 0))
        space.next_position[turn.session] = placed.position + 1
        space.turns[turn.id] = placed
        if turn.key is not None:
            space.taken.add((turn.session, turn.key))
        appended.append(placed)
    return appended, skipped


def _made_from_alone(memories: Iterable[Memory], skipped: Iterable[str]) -> set[str]:
    there = set(skipped)
    return {memory.id for memory in memories if memory.source.turns and there.issuperset(memory.source.turns)}


def _write(space: _Space, memories: Iterable[Memory], seen: int | None) -> None:
    fresh = {memory.id: memory for memory in memories}
    for former in (space.memories[name] for name in fresh if name in space.memories):
        if seen is not None and former.changed > seen:
            raise ConflictError(f"memory {former.id} was changed meanwhile; read it again")
    for name in (name for name, memory in fresh.items() if memory.born and name not in space.memories):
        if seen is not None:
            raise ConflictError(f"memory {name} was erased meanwhile")
    for memory in fresh.values():
        if memory.id in space.tombstones:
            msg = f"memory {memory.id} was erased for good; its id cannot be used again"
            raise ConflictError(msg)
        number = space.next_number()
        former = space.memories.get(memory.id)
        if former is not None and _shown(former) != _shown(memory):
            _devalue(space, memory.id)
        space.memories[memory.id] = replace(memory, born=former.born if former else number, changed=number)
        space.told[memory.id] = number


def _restage(space: _Space, stages: Iterable[Restage]) -> None:
    for name, changed, stage in stages:
        memory = space.memories.get(name)
        if memory is None or memory.changed != changed:
            raise ConflictError(f"memory {name} was changed meanwhile; read it again")
        space.memories[name] = replace(memory, stage=stage, changed=space.next_number())


def _is_spared(memory: Memory, kinds: Collection[Kind]) -> bool:
    ends = memory.expires_at is not None or memory.stage is Stage.DELETED
    return not ends and (memory.pinned or memory.kind in kinds)


def _shown(memory: Memory) -> tuple[object, ...]:
    return memory.kind, memory.content, memory.speaker, memory.event_time


def _devalue(space: _Space, memory: str) -> None:
    space.prices = {address: price for address, price in space.prices.items() if address[0] != memory}
    space.vectors = {address: data for address, data in space.vectors.items() if address[0] != memory}


def _value(space: _Space, ignored: set[str], prices: Iterable[Price], vectors: Iterable[Vector]) -> None:
    for price in prices:
        memory = space.memories.get(price.memory)
        if memory and price.memory not in ignored and price.changed in {None, memory.changed}:
            space.prices[price.memory, price.encoding] = price.tokens
    for vector in vectors:
        memory = space.memories.get(vector.memory)
        if memory and vector.memory not in ignored and vector.changed in {None, memory.changed}:
            space.vectors[vector.memory, vector.model] = vector.data


def _put(space: _Space, written: Written) -> None:
    address = (written.collection, written.key)
    former = space.records.get(address)
    version = former.version if former else 0
    if written.expected is not None and written.expected != version:
        msg = f"record {written.key!r} of {written.collection!r} is at version {version}, not {written.expected}"
        raise ConflictError(msg)
    if written.value is None:
        space.records.pop(address, None)
    else:
        space.records[address] = Record(
            collection=written.collection, key=written.key, value=written.value, version=version + 1
        )
