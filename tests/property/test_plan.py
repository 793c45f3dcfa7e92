"""The rules of a batch, told as directly as they can be: the plan of the stores must come to the same.

It alters plain dictionaries one after the other, where the plan reads first and writes at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from hypothesis import given
from hypothesis import strategies as st

from haversack.errors import ConflictError
from haversack.model.identity import claims, fingerprint
from haversack.model.memory import Memory, Stage, Turn
from haversack.store.memory import MemoryStore
from haversack.store.port import (
    BY_SESSION,
    SEGMENT,
    Applied,
    Batch,
    Erasure,
    Price,
    Record,
    Restage,
    Vector,
    Written,
)
from haversack.testing.store_machine import batches


@dataclass(frozen=True, slots=True)
class Stone:
    fingerprint: str
    changed: int


@dataclass(slots=True)
class Space:
    """All that one namespace holds."""

    sequence: int = 0
    reset: int = 0
    """The number at which the whole namespace was last erased."""
    memories: dict[str, Memory] = field(default_factory=dict[str, Memory])
    turns: dict[str, Turn] = field(default_factory=dict[str, Turn])
    next_position: dict[str, int] = field(default_factory=dict[str, int])
    taken: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """(session, key) of every turn that is or was here."""
    gone: set[str] = field(default_factory=set[str])
    """Ids of erased turns."""
    prices: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    vectors: dict[tuple[str, str], bytes] = field(default_factory=dict[tuple[str, str], bytes])
    records: dict[tuple[str, str], Record] = field(default_factory=dict[tuple[str, str], Record])
    tombstones: dict[str, Stone] = field(default_factory=dict[str, Stone])
    told: dict[str, int] = field(default_factory=dict[str, int])
    """The number at which more than its stage was last written, by memory."""

    def copy(self) -> Space:
        return Space(
            sequence=self.sequence,
            reset=self.reset,
            memories=self.memories.copy(),
            turns=self.turns.copy(),
            next_position=self.next_position.copy(),
            taken=self.taken.copy(),
            gone=self.gone.copy(),
            prices=self.prices.copy(),
            vectors=self.vectors.copy(),
            records=self.records.copy(),
            tombstones=self.tombstones.copy(),
            told=self.told.copy(),
        )

    def next_number(self) -> int:
        self.sequence += 1
        return self.sequence


def refuse_stale(space: Space, batch: Batch) -> None:
    if batch.sequence is not None and batch.sequence != space.sequence:
        raise ConflictError("changed")


def refuse_untrue(space: Space, batch: Batch) -> None:
    for name in batch.made_of:
        held = space.memories.get(name)
        if held is None and name not in space.turns:
            raise ConflictError("gone")
        if held is not None and batch.seen is not None and held.changed > batch.seen:
            raise ConflictError("changed")
    if batch.new_since is not None:
        said = {stone.fingerprint for stone in space.tombstones.values() if stone.changed > batch.new_since}
        for held in space.memories.values():
            if held.changed > batch.new_since and held.superseded_by is None and held.stage is not Stage.DELETED:
                said |= claims(held)
        if any(said & claims(memory) for memory in batch.memories if memory.id not in space.memories):
            raise ConflictError("said")


def apply(space: Space, batch: Batch) -> Applied:
    refuse_stale(space, batch)
    gone_memories: list[str] = []
    gone_turns: list[str] = []
    if batch.erase is not None:
        gone_memories, gone_turns = _erase(space, batch.erase)
    refuse_untrue(space, batch)
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


def _erase(space: Space, erasure: Erasure) -> tuple[list[str], list[str]]:
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
    if erasure.graves:
        _bury(space, memories, turns)
    else:
        space.taken -= {(turn.session, turn.key) for turn in turns if turn.key is not None}
    if erasure.everything:
        _clear(space, graves=erasure.graves)
        return gone_memories, gone_turns
    for memory in memories:
        del space.memories[memory.id]
        _devalue(space, memory.id)
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


def _bury(space: Space, memories: Iterable[Memory], turns: Iterable[Turn]) -> None:
    for memory in memories:
        space.tombstones[memory.id] = Stone(fingerprint(memory.kind, memory.content), space.next_number())
    space.gone.update(turn.id for turn in turns)


def _clear(space: Space, *, graves: bool) -> None:
    for held in (space.memories, space.turns, space.next_position, space.prices, space.vectors, space.records):
        held.clear()
    if not graves:
        for held in (space.taken, space.gone, space.tombstones):
            held.clear()
    space.reset = space.next_number()


def _append(space: Space, turns: Iterable[Turn]) -> tuple[list[Turn], list[str]]:
    appended: list[Turn] = []
    skipped: list[str] = []
    for turn in turns:
        if (
            turn.id in space.turns
            or turn.id in space.gone
            or (turn.key is not None and (turn.session, turn.key) in space.taken)
        ):
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


def _write(space: Space, memories: Iterable[Memory], seen: int | None) -> None:
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


def _restage(space: Space, stages: Iterable[Restage]) -> None:
    for name, changed, stage in stages:
        memory = space.memories.get(name)
        if memory is None or memory.changed != changed:
            raise ConflictError(f"memory {name} was changed meanwhile; read it again")
        space.memories[name] = replace(memory, stage=stage, changed=space.next_number())


def _shown(memory: Memory) -> tuple[object, ...]:
    return memory.kind, memory.content, memory.speaker, memory.event_time


def _devalue(space: Space, memory: str) -> None:
    space.prices = {address: price for address, price in space.prices.items() if address[0] != memory}
    space.vectors = {address: data for address, data in space.vectors.items() if address[0] != memory}


def _value(space: Space, ignored: set[str], prices: Iterable[Price], vectors: Iterable[Vector]) -> None:
    for price in prices:
        priced = space.memories.get(price.memory)
        if priced and price.memory not in ignored and price.changed in {None, priced.changed}:
            space.prices[price.memory, price.encoding] = price.tokens
    for vector in vectors:
        memory = space.memories.get(vector.memory)
        if memory and vector.memory not in ignored and vector.changed in {None, memory.changed}:
            space.vectors[vector.memory, vector.model] = vector.data


def _put(space: Space, written: Written) -> None:
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


def _told(applied: Applied | ConflictError) -> object:
    return "refused" if isinstance(applied, ConflictError) else applied


def _carried_out(store: MemoryStore, batch: Batch) -> Applied | ConflictError:
    try:
        return store.apply("n", batch)
    except ConflictError as error:
        return error


def _plainly(space: Space, batch: Batch) -> tuple[Space, Applied | ConflictError]:
    draft = space.copy()
    try:
        return draft, apply(draft, batch)
    except ConflictError as error:
        return space, error


@given(st.lists(batches, min_size=1, max_size=8))
def test_a_plan_comes_to_what_the_rules_say(written: list[Batch]) -> None:
    store, space = MemoryStore(), Space()
    for batch in written:
        space, expected = _plainly(space, batch)
        assert _told(_carried_out(store, batch)) == _told(expected)
        assert store.memories("n", sorted(space.memories)) == [space.memories[name] for name in sorted(space.memories)]
        assert store.turns_by_id("n", sorted(space.turns)) == [space.turns[name] for name in sorted(space.turns)]
        assert sum(store.census("n").memories.values()) + store.census("n").deleted == len(space.memories)
        assert (store.census("n").turns, store.census("n").tombstones) == (len(space.turns), len(space.tombstones))
        assert {(one.collection, one.key): one for name in ("c", "segment") for one in store.records("n", name)} == (
            space.records
        )
        for (memory, encoding), tokens in space.prices.items():
            assert store.prices("n", encoding, [memory]) == {memory: tokens}
        for (memory, model), data in space.vectors.items():
            assert store.vectors("n", model, [memory]) == {memory: data}
