"""Moving namespaces between stores, whatever their back-ends: copied in order, resumable, compared by hash at the end.

Everything goes along: memories in the order of their birth, turns in their places (holes included), records, vectors,
and the graves that keep erased words from coming back. Prices are counted again where they are wanted. The copy's
place is written down in the destination with each transaction, so an interrupted move goes on where it stopped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

import msgspec

from haversack.errors import RefusedError, StoreError
from haversack.model.memory import Memory, Turn
from haversack.model.message import Message, Role
from haversack.store.port import LEASE, SEGMENT, SYSTEM, Batch, Erasure, Moves, Record, Store, Vector, Written
from haversack.store.records import Collection
from haversack.transfer.entries import RecordEntry
from haversack.transfer.writing import dump_memory, dump_record, dump_turn, render_line

__all__ = [
    "BOUND",
    "PROGRESS",
    "Moved",
    "copy_namespace",
    "digest_of",
    "in_order_of_birth",
    "record_pages",
    "spaces_of",
    "stand_in",
    "stand_ins_of",
]

_MARK = "moving"
BOUND = frozenset({SEGMENT, LEASE, _MARK})
"""Collections that belong to a machine or to a moment."""
_BATCH = 500
_STAND_IN = "~"
"""No turn's id begins so."""
_TURNS = 1_000

Watch = Callable[[str, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One namespace as it arrived."""

    namespace: str
    memories: int
    turns: int
    records: int
    tombstones: int
    sha256: str
    """Of everything that the namespace remembers; the same at both ends."""


class _Progress(msgspec.Struct, frozen=True):
    """How far a copy is."""

    source: str
    memories: int = 0
    sessions: int = 0
    after: int = -1
    done: bool = False


PROGRESS = Collection(_MARK, _Progress)


def spaces_of(store: Store) -> list[str]:
    """Every namespace, and the one that spans them."""
    return [SYSTEM, *store.namespaces()]


def copy_namespace(source: Store, target: Store, namespace: str, *, origin: str, watch: Watch | None = None) -> Moved:
    """Copy one namespace into a store where it does not exist yet, or where this same copy was interrupted.

    `origin` names the source; only an interrupted copy from the same one is gone on with.
    """
    for store in (source, target):
        if "move" not in store.abilities:
            raise RefusedError("capability", "one of the stores cannot tell or take in all that a namespace holds")
    copy = _Copy(source, target, namespace, origin, watch or (lambda _what, _count: None))
    return copy.all()


def digest_of(store: Store, namespace: str) -> tuple[str, tuple[int, int, int, int]]:
    """One hash of all that the namespace remembers, and how many memories, turns, records and tombstones it covers.

    What a store numbers by itself (`born`, `changed`) and what it keeps for speed are left out; the order is not.
    """
    digest = hashlib.sha256()
    counts = [0, 0, 0, 0]
    for place, lines in enumerate((_memory_lines, _turn_lines, _record_lines, _grave_lines)):
        for line in lines(store, namespace):
            digest.update(line)
            counts[place] += 1
    return digest.hexdigest(), (counts[0], counts[1], counts[2], counts[3])


class _Copy:
    def __init__(self, source: Store, target: Store, namespace: str, origin: str, watch: Watch) -> None:
        self._source = source
        self._target = target
        self._namespace = namespace
        self._watch = watch
        self._at = self._begin(origin)

    def _begin(self, origin: str) -> _Progress:
        target, name = self._target, self._namespace
        at = PROGRESS.value_of(target.record(name, _MARK, _MARK))
        if at is not None:
            if at.source != origin:
                raise RefusedError("target", f"namespace {name!r} is being filled from {at.source}, not {origin}")
            return at
        if name != SYSTEM and target.namespaces([name]):
            helps = "reset it there to fill it anew"
            raise RefusedError("target", f"namespace {name!r} exists there already, be it as what it erased: {helps}")
        return _Progress(source=origin)

    def all(self) -> Moved:
        self._memories()
        self._turns()
        self._records()
        name = self._namespace
        cast("Moves", self._target).bury(name, cast("Moves", self._source).graves(name))
        found, counts = digest_of(self._target, name)
        if found != digest_of(self._source, name)[0]:
            raise StoreError(
                f"namespace {name!r} arrived otherwise than it left (written meanwhile?): reset it there, copy again"
            )
        self._target.apply(name, Batch(records=(Written(collection=_MARK, key=_MARK, value=None),)))
        memories, turns, records, tombstones = counts
        return Moved(
            namespace=name, memories=memories, turns=turns, records=records, tombstones=tombstones, sha256=found
        )

    def _memories(self) -> None:
        name, models = self._namespace, cast("Moves", self._source).embedders(self._namespace)
        born = in_order_of_birth(self._source, name)
        for start in range(self._at.memories, len(born), _BATCH):
            ids = born[start : start + _BATCH]
            memories = tuple(self._source.memories(name, ids))
            vectors = tuple(
                Vector(memory=memory, model=model, data=data)
                for model in models
                for memory, data in self._source.vectors(name, model, ids).items()
            )
            self._step(Batch(memories=memories, vectors=vectors), memories=start + len(ids))
            self._watch("memories", start + len(ids))

    def _turns(self) -> None:
        sessions = sorted(info.id for info in self._source.sessions(self._namespace))
        for number, session in enumerate(sessions[self._at.sessions :], start=self._at.sessions):
            while page := self._source.turns(self._namespace, session, after=self._at.after, limit=_TURNS):
                self._page(page)
            stand_ins = stand_ins_of(self._target, self._namespace, session)
            erase = Erasure(turns=stand_ins, graves=False) if stand_ins else None
            self._step(Batch(erase=erase), sessions=number + 1, after=-1)
            self._watch("sessions", number + 1)

    def _page(self, page: Sequence[Turn]) -> None:
        """Turns of one session in their places; stand-ins hold the places of erased ones, and are erased in the end."""
        filled: list[Turn] = []
        place = self._at.after + 1
        for turn in page:
            while place < turn.position:
                filled.append(stand_in(turn, place))
                place += 1
            filled.append(turn)
            place += 1
        self._step(Batch(turns=tuple(filled)), after=page[-1].position)

    def _records(self) -> None:
        for page in record_pages(self._source, self._namespace):
            self._step(Batch(records=tuple(map(_written, page))))

    def _step(self, batch: Batch, **to: int) -> None:
        self._at = msgspec.structs.replace(self._at, **to)
        mark = Written(collection=_MARK, key=_MARK, value=msgspec.json.encode(self._at))
        self._target.apply(self._namespace, replace(batch, records=(*batch.records, mark)))


def _written(record: Record) -> Written:
    return Written(
        collection=record.collection, key=record.key, value=record.value, about=record.about, session=record.session
    )


def stand_in(turn: Turn, place: int) -> Turn:
    """Return what holds the place of an erased turn until all others are in theirs."""
    return Turn(
        id=f"{_STAND_IN}{turn.session}~{place}",
        session=turn.session,
        message=Message(role=Role.SYSTEM),
        at=turn.at,
    )


def stand_ins_of(store: Store, namespace: str, session: str) -> tuple[str, ...]:
    """Return the ids of the stand-ins in a session."""
    found: list[str] = []
    after = -1
    while page := store.turns(namespace, session, after=after, limit=_TURNS):
        found += [turn.id for turn in page if turn.id.startswith(_STAND_IN)]
        after = page[-1].position
    return tuple(found)


def in_order_of_birth(store: Store, namespace: str) -> list[str]:
    """Return the ids of all memories."""
    born: list[tuple[int, str]] = []
    since, more = 0, True
    while more:
        page = store.changes(namespace, since=since)
        born += [(memory.born, memory.id) for memory in page.memories]
        since, more = page.upto, page.more
    return [name for _, name in sorted(born)]


def _memory_lines(store: Store, namespace: str) -> Iterator[bytes]:
    born = in_order_of_birth(store, namespace)
    for start in range(0, len(born), _BATCH):
        yield from (_memory_line(memory) for memory in store.memories(namespace, born[start : start + _BATCH]))


def _memory_line(memory: Memory) -> bytes:
    return render_line(dump_memory(memory))


def _turn_lines(store: Store, namespace: str) -> Iterator[bytes]:
    for session in sorted(info.id for info in store.sessions(namespace)):
        after = -1
        while page := store.turns(namespace, session, after=after, limit=_TURNS):
            yield from (b"%d " % turn.position + render_line(dump_turn(turn)) for turn in page)
            after = page[-1].position


def _record_lines(store: Store, namespace: str) -> Iterator[bytes]:
    for page in record_pages(store, namespace):
        for record in page:
            entry = RecordEntry(collection=record.collection, key=record.key, value=record.value)
            yield render_line(dump_record(entry))


def record_pages(store: Store, namespace: str) -> Iterator[list[Record]]:
    """Yield the records that are not bound to a machine or a moment, page by page."""
    for collection in cast("Moves", store).collections(namespace):
        after = ""
        while collection not in BOUND and (page := store.records(namespace, collection, after=after, limit=_BATCH)):
            yield page
            after = page[-1].key


def _grave_lines(store: Store, namespace: str) -> Iterator[bytes]:
    graves = cast("Moves", store).graves(namespace)
    yield from (f"{name} {mark}\n".encode() for name, mark in sorted(graves.tombstones))
    yield from (f"{key}\n".encode() for key in sorted(graves.turns))
