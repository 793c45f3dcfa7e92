"""Bringing in what was read from files: batched into transactions, adding nothing that is there already."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from haversack.compaction.view import COLLECTION as VIEW
from haversack.compaction.view import VIEWS
from haversack.engine.core import Core
from haversack.engine.editing import kept_before
from haversack.engine.landing import Sorted, checked_record, is_about_something, sort_memories
from haversack.engine.passages import split_memory
from haversack.engine.session import Session, TurnDraft
from haversack.engine.writing import write
from haversack.errors import ConflictError, InputError
from haversack.model.identity import ENTROPY_BYTES, make_id
from haversack.model.memory import Kind, Memory, Source, Trust, Turn
from haversack.model.times import EPOCH
from haversack.store.port import Batch
from haversack.store.retry import persisting
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
    """New ones, and those of `replaced`."""
    replaced: list[str] = field(default_factory=list[str])
    """Ids of memories that were here in other words; `earlier` shows what they were."""
    records: int = 0
    known: int = 0
    """Turns, memories and records that were there already."""
    forgotten: int = 0
    """Turns and memories that were erased for good here, with what was made of them, and records about them."""
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
    may_administer: bool,
    strict: bool = False,
    watch: Callable[[Imported], None] = lambda _: None,
) -> Imported:
    """Store what a reader yields: what can be read and what the caller may write lands, even if the rest cannot.

    Only who `may_administer` the namespace sets its policy and raises the trust of a memory that is there.
    With `strict` the first bad record stops the import by InputError, and what came before it stays. `watch` is called
    after each transaction.
    """
    landing = _Landing(core, namespace, watch, may_administer=may_administer)
    for entry in found:
        landing.take(entry)
        if strict and landing.done.bad:
            break
    landing.land()
    if strict and landing.done.bad:
        raise InputError(str(next(each for each in landing.done.problems if not each.warning)))
    return landing.done


class _Landing:
    """Entries gathered until they make a transaction."""

    def __init__(self, core: Core, namespace: str, watch: Callable[[Imported], None], *, may_administer: bool) -> None:
        self.done = Imported()
        self._core = core
        self._namespace = namespace
        self._watch = watch
        self._may_administer = may_administer
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
                self.land()  # a record lands beside what it is about
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
        turns, memories = self._turns, self._memories
        self._turns, self._memories = [], []
        if turns:
            applied = self._core.store.apply(self._namespace, Batch(turns=tuple(turns)))
            gone = len(self._core.store.erased(self._namespace, applied.skipped))
            self.done.forgotten += gone
            self._count_turns(len(turns) - gone, applied.turns)
        if memories:
            self._add_memories({memory.id: memory for memory in memories}, len(memories))
        if turns or memories:
            self._watch(self.done)

    def _add_memories(self, given: Mapping[str, Memory], count: int) -> None:
        store, name = self._core.store, self._namespace

        def attempt() -> Sorted:
            seen = store.sequence(name)
            sorted_ = sort_memories(store, name, list(given.values()), may_raise_trust=self._may_administer)
            if sorted_.new or sorted_.replaced:
                records = tuple(kept_before(self._core, name, old, new) for old, new in sorted_.replaced)
                rows = (*sorted_.new, *(new for _, new in sorted_.replaced))
                said = self._said.intersection(turn for memory in rows for turn in memory.source.turns)
                write(self._core, name, Batch(memories=rows, records=records, seen=seen, made_of=tuple(said)))
            return sorted_

        done = persisting(attempt)
        written = len(done.new) + len(done.replaced)
        self.done.memories += written
        self.done.replaced += [new.id for _, new in done.replaced]
        self.done.forgotten += len(done.forgotten)
        self.done.known += count - written - len(done.forgotten) - len(done.refused)
        self.done.problems += done.refused

    def _add_session(self, entry: SessionEntry) -> None:
        session = Session(self._core, self._namespace, entry.session)
        for start in range(0, len(entry.turns), _BATCH):
            part = entry.turns[start : start + _BATCH]
            drafts = [
                TurnDraft(message=turn.message, at=turn.at, metadata=turn.metadata, key=turn.key) for turn in part
            ]
            self.done.sessions.add(entry.session)
            self._count_turns(len(part), session.append(drafts))
            self._watch(self.done)

    def _count_turns(self, given: int, added: Sequence[Turn]) -> None:
        self.done.turns += len(added)
        self.done.known += given - len(added)
        self.done.sessions.update(turn.session for turn in added)
        self._said.update(turn.id for turn in added)

    def _add_record(self, entry: RecordEntry) -> None:
        try:
            record = checked_record(entry, may_administer=self._may_administer)
            if not is_about_something(self._core.store, self._namespace, record):
                self.done.forgotten += 1
                return
            self._core.store.apply(self._namespace, Batch(records=(record,), made_of=_about(entry)))
            self.done.records += 1
        except ConflictError:
            self.done.known += 1
        except InputError as error:
            place = f"record {entry.collection}/{entry.key}"
            self.done.problems.append(Problem(file="", place=place, message=str(error)))


def _about(entry: RecordEntry) -> tuple[str, ...]:
    """Ids of memories and turns that the record tells of: it stays away where they were erased for good."""
    if entry.collection == VIEW:
        return tuple(fold.summary for fold in VIEWS.decode(entry.value).folds)
    return (entry.key,) if entry.collection in _ABOUT_ONE else ()


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
