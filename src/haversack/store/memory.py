"""The store as plain dictionaries: the oracle that every other back-end must agree with, and a store for tests.

It is written to be obviously right, not fast: a batch works on a copy of its namespace, which takes the old one's place
when all of it went well. So a failed batch leaves nothing, and a reader never sees half of one.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from haversack.errors import ConflictError, StoreError
from haversack.model.identity import fingerprint
from haversack.model.lives import lives_of
from haversack.model.memory import Kind, Memory, SessionInfo, Stage, Turn
from haversack.model.query import Filter
from haversack.model.text import matches
from haversack.store.plan import (
    Found,
    HeldTurn,
    Needs,
    SessionPlace,
    Tombstone,
    Writes,
    decide,
    held,
    needs,
    text_of,
    turn_digest,
)
from haversack.store.port import (
    BY_SESSION,
    HIDDEN,
    SEGMENT,
    SYSTEM,
    Applied,
    Batch,
    Census,
    Changes,
    Graves,
    LifePage,
    Record,
    Restaged,
    Said,
)

__all__ = ["MemoryStore"]


@dataclass(slots=True)
class _Space:
    """All that one namespace holds."""

    sequence: int = 0
    reset: int = 0
    """The number at which the whole namespace was last erased."""
    memories: dict[str, Memory] = field(default_factory=dict[str, Memory])
    turns: dict[str, Turn] = field(default_factory=dict[str, Turn])
    places: dict[str, SessionPlace] = field(default_factory=dict[str, SessionPlace])
    digests: set[str] = field(default_factory=set[str])
    """What erased turns left."""
    prices: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    vectors: dict[tuple[str, str], bytes] = field(default_factory=dict[tuple[str, str], bytes])
    records: dict[tuple[str, str], Record] = field(default_factory=dict[tuple[str, str], Record])
    tombstones: dict[str, Tombstone] = field(default_factory=dict[str, Tombstone])
    links: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """What was made of a turn or a memory."""
    told: dict[str, int] = field(default_factory=dict[str, int])
    """The number at which more than its stage was last written, by memory."""

    def copy(self) -> _Space:
        return _Space(
            sequence=self.sequence,
            reset=self.reset,
            memories=self.memories.copy(),
            turns=self.turns.copy(),
            places=self.places.copy(),
            digests=self.digests.copy(),
            prices=self.prices.copy(),
            vectors=self.vectors.copy(),
            records=self.records.copy(),
            tombstones=self.tombstones.copy(),
            links=self.links.copy(),
            told=self.told.copy(),
        )

    def holds_anything(self) -> bool:
        return bool(self.memories or self.turns or self.digests or self.records or self.tombstones)

    def next_number(self) -> int:
        self.sequence += 1
        return self.sequence


class MemoryStore:
    """A store that lives as long as the object."""

    abilities: frozenset[str] = frozenset({"move"})

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
            writes = decide(batch, _found(draft, needs(batch)))
            _write(draft, writes)
            self._spaces[namespace] = draft
        return writes.applied

    def memories(self, namespace: str, ids: Sequence[str]) -> list[Memory]:
        """See the port."""
        held = self._space(namespace).memories
        return [held[each] for each in ids if each in held]

    def changes(
        self, namespace: str, *, since: int = 0, limit: int = 10_000, known: int = 0, model: str | None = None
    ) -> Changes:
        """See the port."""
        space = self._space(namespace)
        if space.sequence <= since:
            return Changes(memories=(), erased=(), upto=since, more=False)
        written = [(memory.changed, memory) for memory in space.memories.values() if memory.changed > since]
        erased = [(stone.changed, gone) for gone, stone in space.tombstones.items() if stone.changed > since]
        found = sorted([*written, *erased], key=lambda change: change[0])
        shown = found[:limit]
        more = len(found) > len(shown)
        memories = [what for _, what in shown if isinstance(what, Memory)]
        told = tuple(each for each in memories if space.told[each.id] > known)
        return Changes(
            memories=told,
            vectors={} if model is None else self.vectors(namespace, model, [each.id for each in told]),
            restaged=tuple(
                Restaged(each.id, each.stage, each.importance) for each in memories if space.told[each.id] <= known
            ),
            erased=tuple(what for _, what in shown if isinstance(what, str)),
            upto=(shown[-1][0] if shown else since) if more else max(since, space.sequence),
            more=more,
            reset=space.reset > since,
        )

    def select(
        self, namespace: str, chosen: Filter, *, now: datetime | None, after: int = 0, limit: int | None = None
    ) -> list[Memory]:
        """See the port."""
        later = (memory for memory in self._space(namespace).memories.values() if memory.changed > after)
        found = (
            memory
            for memory in sorted(later, key=lambda memory: memory.changed)
            if (chosen.unmet_by(memory) if now is None else chosen.reason_against(memory, now)) is None
        )
        return list(islice(found, limit))

    def superseded(self, namespace: str) -> list[Memory]:
        """See the port."""
        held = (memory for memory in self._space(namespace).memories.values() if memory.stage is not Stage.DELETED)
        found = (memory for memory in held if memory.superseded_by is not None)
        return sorted(found, key=lambda memory: -memory.born)

    def derived(self, namespace: str, sources: Sequence[str]) -> list[Memory]:
        """See the port."""
        space = self._space(namespace)
        found = {name for source in sources for name in space.links.get(source, ())}
        return sorted((space.memories[name] for name in found), key=lambda memory: memory.born)

    def parts(self, namespace: str, texts: Sequence[str]) -> list[Memory]:
        """See the port."""
        found = (memory for memory in self._space(namespace).memories.values() if text_of(memory) in set(texts))
        return sorted(found, key=lambda memory: memory.born)

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
        self,
        namespace: str,
        session: str,
        *,
        after: int = -1,
        limit: int | None = None,
        newest: bool = False,
        shown: bool = False,
    ) -> list[Turn]:
        """See the port."""
        said = [turn for turn in self._space(namespace).turns.values() if turn.session == session]
        said = sorted((turn for turn in said if turn.position > after), key=lambda turn: turn.position)
        if shown:
            records = self._space(namespace).records
            said = [turn for turn in said if (HIDDEN, turn.id) not in records]
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

    def namespaces(
        self, matching: Iterable[str] | None = None, *, after: str = "", limit: int | None = None
    ) -> list[str]:
        """See the port."""
        self._space(SYSTEM)
        patterns = ["*"] if matching is None else list(matching)
        found = (name for name, space in self._spaces.copy().items() if name != SYSTEM and space.holds_anything())
        meant = (name for name in found if name > after and any(matches(pattern, name) for pattern in patterns))
        return sorted(meant)[:limit]

    def said(self, namespace: str, fingerprints: Sequence[str]) -> Said:
        """See the port."""
        sequence, wanted = self.sequence(namespace), set(fingerprints)
        found: dict[str, Memory] = {}
        for memory in sorted(self._space(namespace).memories.values(), key=lambda memory: memory.born):
            if memory.kind is Kind.PASSAGE or memory.stage is Stage.DELETED or memory.superseded_by is not None:
                continue
            mark = fingerprint(memory.kind, memory.content)
            if mark in wanted:
                found[mark] = memory
        return Said(sequence=sequence, memories=found)

    def tombstoned(self, namespace: str, fingerprints: Sequence[str]) -> set[str]:
        """See the port."""
        return {stone.fingerprint for stone in self._space(namespace).tombstones.values()} & set(fingerprints)

    def erased(self, namespace: str, ids: Sequence[str]) -> set[str]:
        """See the port."""
        space = self._space(namespace)
        return {name for name in ids if name in space.tombstones or turn_digest(name) in space.digests}

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
        self,
        namespace: str,
        collection: str,
        *,
        prefix: str = "",
        after: str = "",
        limit: int = 1_000,
        about: str | None = None,
        session: str | None = None,
        newest: bool = False,
    ) -> list[Record]:
        """See the port."""
        held = [
            record
            for record in self._space(namespace).records.values()
            if record.collection == collection
            and (about is None or (record.about is not None and matches(about, record.about)))
            and session in {None, record.session}
        ]
        held = [record for record in held if record.key.startswith(prefix) and record.key > after]
        found = sorted(held, key=lambda record: record.key)
        return found[max(0, len(found) - limit) :] if newest else found[:limit]

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

    @contextmanager
    def frozen(self) -> Generator[MemoryStore]:
        """See the port's Moves."""
        lent = MemoryStore()
        with self._writing:
            lent._spaces = self._spaces.copy()  # a batch puts a new space in place of the old one
        yield lent

    def collections(self, namespace: str) -> list[str]:
        """See the port's Moves."""
        return sorted({collection for collection, _ in self._space(namespace).records})

    def embedders(self, namespace: str) -> list[str]:
        """See the port's Moves."""
        return sorted({model for _, model in self._space(namespace).vectors})

    def graves(self, namespace: str) -> Graves:
        """See the port's Moves."""
        space = self._space(namespace)
        stones = sorted(space.tombstones.values(), key=lambda stone: stone.changed)
        return Graves(tombstones=tuple(stone[:2] for stone in stones), turns=tuple(sorted(space.digests)))

    def bury(self, namespace: str, graves: Graves) -> None:
        """See the port's Moves."""
        with self._writing:
            draft = self._space(namespace).copy()
            for name, mark in graves.tombstones:
                if name not in draft.tombstones:
                    draft.sequence += 1
                    draft.tombstones[name] = Tombstone(name, mark, draft.sequence)
            draft.digests.update(graves.turns)
            self._spaces[namespace] = draft

    def close(self) -> None:
        """See the port."""
        self._closed = True
        self._spaces = {}

    def _space(self, namespace: str) -> _Space:
        if self._closed:
            raise StoreError("this store is closed")
        return self._spaces.get(namespace) or _Space()


def _found(space: _Space, wanted: Needs) -> Found:
    if wanted.everything:
        there, turns = list(space.memories), list(space.turns)
    else:
        there = [name for name in wanted.memories if name in space.memories]
        turns = [
            turn.id
            for turn in space.turns.values()
            if turn.id in wanted.turns or turn.session in wanted.sessions or (turn.session, turn.key) in wanted.keys
        ]
    sessions = {*wanted.places, *(space.turns[name].session for name in turns)}
    return Found(
        sequence=space.sequence,
        memories={name: held(space.memories[name]) for name in there},
        numbers={name: space.memories[name].changed for name in wanted.numbers if name in space.memories},
        tombstones=space.tombstones.keys() & set(wanted.tombstones),
        turns={name: _held_turn(space.turns[name]) for name in turns},
        places={session: space.places[session] for session in sessions if session in space.places},
        digests=space.digests & set(wanted.digests),
        records={
            address: record.version
            for address in wanted.records
            if (record := space.records.get((address.collection, address.key)))
        },
        later=[] if wanted.since is None else [one for one in space.memories.values() if one.changed > wanted.since],
        buried=[]
        if wanted.since is None
        else [stone.fingerprint for stone in space.tombstones.values() if stone.changed > wanted.since],
    )


def _held_turn(turn: Turn) -> HeldTurn:
    return HeldTurn(turn.id, turn.session, turn.position, turn.key)


def _write(space: _Space, writes: Writes) -> None:
    space.sequence = writes.applied.sequence
    if writes.erased:
        _erase(space, writes)
    for source, name in writes.unlinked:
        space.links[source] = tuple(each for each in space.links.get(source, ()) if each != name)
    for source, name in writes.linked:
        space.links[source] = (*space.links.get(source, ()), name)
    space.turns.update((turn.id, turn) for turn in writes.turns)
    space.places.update(writes.places)
    for session in writes.recounted:
        space.places[session] = _recounted(space, session)
    for memory in (*writes.inserts, *writes.updates):
        space.memories[memory.id] = memory
        space.told[memory.id] = memory.changed
    _devalue(space, writes.devalued)
    for stage, number in writes.stages:
        held = space.memories.get(stage.memory)
        if held is None or held.changed != stage.changed:
            raise ConflictError("a memory was changed meanwhile; read it again")
        space.memories[stage.memory] = replace(held, stage=stage.stage, changed=number)
    space.prices.update(((one.memory, one.encoding), one.tokens) for one in writes.prices)
    space.vectors.update(((one.memory, one.model), one.data) for one in writes.vectors)
    space.records.update(((one.collection, one.key), one) for one in writes.records)
    for address in writes.dropped:
        space.records.pop((address.collection, address.key), None)


def _erase(space: _Space, writes: Writes) -> None:
    if writes.everything:
        _clear(space, graves=writes.graves)
    space.reset = space.reset if writes.reset is None else writes.reset
    for name in writes.gone:
        del space.memories[name]
    _devalue(space, writes.gone)
    space.tombstones.update((stone.id, stone) for stone in writes.buried)
    for name in writes.unsaid:
        del space.turns[name]
    space.digests.update(writes.digests)
    for session in writes.ended:
        space.places.pop(session, None)
    for collection, key in list(space.records):
        is_over = collection in BY_SESSION and key in writes.ended
        if is_over or key in writes.about or (writes.segments and collection == SEGMENT):
            del space.records[collection, key]


def _clear(space: _Space, *, graves: bool) -> None:
    held = (space.memories, space.turns, space.places, space.prices, space.vectors, space.records, space.links)
    for rows in held:
        rows.clear()
    if not graves:
        space.digests.clear()
        space.tombstones.clear()


def _recounted(space: _Space, session: str) -> SessionPlace:
    times = [turn.at for turn in space.turns.values() if turn.session == session]
    return SessionPlace(space.places[session].next, len(times), min(times), max(times))


def _devalue(space: _Space, memories: Collection[str]) -> None:
    if memories:
        space.prices = {address: price for address, price in space.prices.items() if address[0] not in memories}
        space.vectors = {address: data for address, data in space.vectors.items() if address[0] not in memories}


def _is_spared(memory: Memory, kinds: Collection[Kind]) -> bool:
    ends = memory.expires_at is not None or memory.stage is Stage.DELETED
    return not ends and (memory.pinned or memory.kind in kinds)
