"""Bringing in what was read from files: batched into transactions, adding nothing that is there already."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count

from haversack.compaction.view import COLLECTION as VIEW
from haversack.compaction.view import View
from haversack.engine.core import Core
from haversack.engine.passages import split_memory
from haversack.engine.session import Session, TurnDraft
from haversack.engine.writing import write
from haversack.errors import ConflictError, InputError
from haversack.model.identity import ENTROPY_BYTES, make_id
from haversack.model.memory import Kind, Memory, Source, Trust, Turn
from haversack.model.times import EPOCH
from haversack.store.port import Batch, Written
from haversack.transfer import entries
from haversack.transfer.entries import DocumentEntry, MemoryEntry, Problem, RecordEntry, SessionEntry

__all__ = ["Imported", "bring_in"]

_ABOUT_ONE = ("feedback", "hidden")
"""Collections whose records stand under the id of the memory or turn that they tell of."""
_BATCH = 500
"""Turns or memories to a transaction: large enough to be fast, small enough that an interruption costs little."""


@dataclass(slots=True)
class Imported:
    """What an import has done so far."""

    sessions: set[str] = field(default_factory=set[str])
    turns: int = 0
    memories: int = 0
    records: int = 0
    known: int = 0
    """Turns, memories and records that were there already."""
    forgotten: int = 0
    """Memories that were erased for good here and stay away."""
    problems: list[Problem] = field(default_factory=list[Problem])

    @property
    def bad(self) -> int:
        """Records that were left out."""
        return sum(not problem.warning for problem in self.problems)


def bring_in(
    core: Core,
    namespace: str,
    found: Iterable[entries.Entry | Problem],
    *,
    strict: bool = False,
    watch: Callable[[Imported], None] = lambda _: None,
) -> Imported:
    """Store what a reader yields: what can be read lands even if the rest cannot.

    With `strict` the first bad record stops the import by InputError, and what came before it stays. `watch` is called
    after each transaction.
    """
    landing = _Landing(core, namespace, watch)
    for entry in found:
        landing.take(entry)
        if strict and isinstance(entry, Problem) and not entry.warning:
            landing.land()
            raise InputError(str(entry))
    landing.land()
    return landing.done


class _Landing:
    """Entries gathered until they make a transaction."""

    def __init__(self, core: Core, namespace: str, watch: Callable[[Imported], None]) -> None:
        self.done = Imported()
        self._core = core
        self._namespace = namespace
        self._watch = watch
        self._turns: list[Turn] = []
        self._memories: list[Memory] = []
        self._said: set[str] = set()
        """Turns that landed: what repeats their words goes with them when they are erased meanwhile."""

    def take(self, entry: entries.Entry | Problem) -> None:
        match entry:
            case Problem():
                self.done.problems.append(entry)
            case SessionEntry():
                self._add_session(entry)
            case Turn():
                self._turns.append(entry)
            case RecordEntry():
                self._add_record(entry)
            case Memory():
                self._memories.append(entry)
            case MemoryEntry():
                self._memories.append(_from_dump(self._core, entry))
            case DocumentEntry():
                self._memories += _from_document(self._core, entry)
        if len(self._turns) + len(self._memories) >= _BATCH:
            self.land()

    def land(self) -> None:
        """Write what waits: turns first, since memories come from them."""
        if self._turns:
            self._count_turns(
                self._turns, self._core.store.apply(self._namespace, Batch(turns=tuple(self._turns))).turns
            )
            self._turns = []
        ids = [memory.id for memory in self._memories]
        known = {memory.id: memory for memory in self._core.store.memories(self._namespace, ids)}
        fresh = {memory.id: memory for memory in self._memories if _says_more(memory, known.get(memory.id))}
        self.done.known += len(self._memories) - len(fresh)
        self._memories = []
        self._write(tuple(fresh.values()))
        self._watch(self.done)

    def _write(self, fresh: tuple[Memory, ...]) -> None:
        """All in one transaction; where some were erased for good here, in halves until those stand alone."""
        if not fresh:
            return
        try:
            said = self._said.intersection(turn for memory in fresh for turn in memory.source.turns)
            write(self._core, self._namespace, Batch(memories=fresh, made_of=tuple(said)))
            self.done.memories += len(fresh)
        except ConflictError:
            if len(fresh) == 1:
                self.done.forgotten += 1
                return
            half = len(fresh) // 2
            self._write(fresh[:half])
            self._write(fresh[half:])

    def _add_session(self, entry: SessionEntry) -> None:
        session = Session(self._core, self._namespace, entry.session)
        for start in range(0, len(entry.turns), _BATCH):
            part = entry.turns[start : start + _BATCH]
            drafts = [
                TurnDraft(message=turn.message, at=turn.at, metadata=turn.metadata, key=turn.key) for turn in part
            ]
            self.done.sessions.add(entry.session)
            self._count_turns(part, session.append(drafts))
            self._watch(self.done)

    def _count_turns(self, given: Iterable[object], added: Iterable[Turn]) -> None:
        landed = list(added)
        self.done.turns += len(landed)
        self.done.known += len(list(given)) - len(landed)
        self.done.sessions.update(turn.session for turn in landed)
        self._said.update(turn.id for turn in landed)

    def _add_record(self, entry: RecordEntry) -> None:
        record = Written(collection=entry.collection, key=entry.key, value=entry.value, expected=0)
        try:
            self._core.store.apply(self._namespace, Batch(records=(record,), made_of=_about(entry)))
            self.done.records += 1
        except ConflictError:
            self.done.known += 1


def _about(entry: RecordEntry) -> tuple[str, ...]:
    """Ids of memories and turns that the record tells of: it stays away where they were erased for good."""
    if entry.collection == VIEW:
        return tuple(fold.summary for fold in View.decode(entry.value).folds)
    return (entry.key,) if entry.collection in _ABOUT_ONE else ()


def _says_more(memory: Memory, known: Memory | None) -> bool:
    """Whether it is new, or the same memory in other words: another system's dump after an edit there."""
    return known is None or known.content != memory.content


def _from_dump(core: Core, entry: MemoryEntry) -> Memory:
    now = core.clock()
    return Memory(
        id=entry.id,
        kind=entry.kind,
        content=entry.content,
        created_at=now,
        event_time=entry.at or now,
        trust=Trust.VERIFIED,
        entities=entry.entities,
        tags=entry.tags,
        metadata=entry.metadata,
        valid_from=entry.valid_from,
        valid_to=entry.valid_to,
        expires_at=entry.expires_at,
        importance=entry.importance,
        confidence=entry.confidence,
        pinned=entry.pinned,
    )


def _from_document(core: Core, entry: DocumentEntry) -> list[Memory]:
    """Passages whose ids follow from the document's key, so that the same document adds nothing twice."""
    now = core.clock()
    ids = (make_id(EPOCH, _digest(entry.key, str(index))) for index in count())
    whole = Memory(
        id=next(ids),
        kind=Kind.PASSAGE,
        content=entry.text,
        created_at=now,
        event_time=now,
        source=Source(document=entry.title),
        metadata={"source": entry.source},
    )
    return split_memory(core, whole, ids)


def _digest(*words: str) -> bytes:
    return hashlib.sha256("\x1f".join(words).encode()).digest()[:ENTROPY_BYTES]
