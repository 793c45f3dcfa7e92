"""Reorganising a namespace: backup, analyze, dedupe, prune, synthesize, verify, in this order, in one journalled run.

Everything is decided first, on the rows in hand; the preview is that decision, and execution carries out exactly it.
Nothing is destroyed: duplicates are kept behind what they repeat, what ended is softly deleted, syntheses say what they
were made from and the originals stay. Reorganising twice changes nothing the second time.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from haversack.errors import ConflictError, StoreError
from haversack.lifecycle.plan import carried_out, plan
from haversack.lifecycle.policy import Action, Policy, Transition
from haversack.maintenance.ageing import pages_of
from haversack.maintenance.run import Desk, Journal, running
from haversack.model.identity import ENTROPY_BYTES, make_id
from haversack.model.memory import Kind, Memory, Source, Stage, Trust

__all__ = ["Decision", "Duplicate", "Means", "Part", "Reorganized", "Synthesis", "decide", "reorganize"]

_FEWEST = 5
"""Statements about one name from which a synthesis is worth its place."""
_MOST_STEP = 1_000
_ABOUT = "haversack.synthesis_of"


class Part(StrEnum):
    """The steps."""

    BACKUP = "backup"
    ANALYZE = "analyze"
    DEDUPE = "dedupe"
    PRUNE = "prune"
    SYNTHESIZE = "synthesize"
    VERIFY = "verify"


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """A statement that another one says already."""

    keep: str
    hide: str
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """Many statements about one name, said together."""

    about: str
    memory: Memory
    replaces: str | None = None
    """Id of the earlier synthesis about the name, which this one takes the place of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What reorganising needs to be told how to do."""

    duplicates: Callable[[Sequence[Memory]], Sequence[Duplicate]]
    hide: Callable[[Memory, str], Memory]
    """The first memory kept behind the one with this id."""
    synthesize: Callable[[str, Sequence[Memory]], str | None]
    """What these statements say together about the name; None: nothing worth keeping."""
    backup: Callable[[], str] | None = None
    """Takes a snapshot and says where it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What reorganising would do to a namespace as it is at a moment."""

    analysis: Mapping[str, int]
    duplicates: tuple[Duplicate, ...] = ()
    pruned: tuple[Transition, ...] = ()
    syntheses: tuple[Synthesis, ...] = ()

    @property
    def touched(self) -> tuple[str, ...]:
        """Ids of every memory that would change or be made."""
        made = [name for each in self.syntheses for name in (each.memory.id, each.replaces) if name]
        return tuple([each.hide for each in self.duplicates] + [each.memory for each in self.pruned] + made)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reorganized:
    """What a run did, or with `preview` would do."""

    namespace: str
    preview: bool
    at: datetime
    parts: tuple[Part, ...]
    decision: Decision
    run: str | None = None
    backup: str | None = None
    verified: bool = False
    """After execution: every memory that was there is there, with its own words, and every link leads somewhere."""
    left: tuple[str, ...] = ()
    """Ids of memories that somebody changed meanwhile; they are left to the next run."""

    def __str__(self) -> str:
        verb = "would hide" if self.preview else "hid"
        what = self.decision
        return (
            f"{verb} {len(what.duplicates)} duplicates, end {len(what.pruned)} memories, "
            f"write {len(what.syntheses)} syntheses"
        )


def reorganize(
    desk: Desk, policy: Policy, means: Means, *, parts: Collection[Part] = tuple(Part), execute: bool
) -> Reorganized:
    """Decide, and with `execute` carry the decision out; `parts` leaves steps out."""
    now = desk.clock()
    wanted = tuple(part for part in Part if part in parts)
    if not execute:
        decision = decide(_rows(desk), policy, now, means, wanted)
        return Reorganized(namespace=desk.namespace, preview=True, at=now, parts=wanted, decision=decision)
    if not desk.store.namespaces([desk.namespace]):  # nothing was ever here: a run would be the first thing
        decision = decide([], policy, now, means, wanted)
        return Reorganized(namespace=desk.namespace, preview=False, at=now, parts=wanted, decision=decision)
    with running(desk, "reorganize") as journal:
        backup = means.backup() if Part.BACKUP in wanted and means.backup is not None else None
        if backup is not None:
            journal.note(backup=backup)
        rows = _rows(desk)
        decision = decide(rows, policy, now, means, wanted)
        journal.count(**decision.analysis)
        left = _carry_out(journal, desk, rows, decision, means, now)
        if Part.VERIFY in wanted:
            _verify(desk, rows, set(decision.touched).difference(left), journal.sequence)
        return Reorganized(
            namespace=desk.namespace,
            preview=False,
            at=now,
            parts=wanted,
            decision=decision,
            run=journal.run.id,
            backup=backup,
            verified=Part.VERIFY in wanted,
            left=left,
        )


def decide(rows: Sequence[Memory], policy: Policy, now: datetime, means: Means, parts: Collection[Part]) -> Decision:
    """Each step decided on the rows as the steps before would leave them."""
    state = {memory.id: memory for memory in rows}
    analysis = _analyzed(rows) if Part.ANALYZE in parts else {}
    duplicates: tuple[Duplicate, ...] = ()
    pruned: tuple[Transition, ...] = ()
    if Part.DEDUPE in parts and policy.dedup.enabled:
        duplicates = tuple(_hidden_one_by_one(state, policy, now, means))
    if Part.PRUNE in parts:
        pruned = tuple(each for each in plan(state.values(), policy, now) if each.action is Action.DELETE)
        written, _ = carried_out(state.values(), pruned, now)
        state |= {memory.id: memory for memory in written}
    syntheses = _syntheses(state, means, now) if Part.SYNTHESIZE in parts else ()
    return Decision(analysis=analysis, duplicates=duplicates, pruned=pruned, syntheses=syntheses)


def _hidden_one_by_one(state: dict[str, Memory], policy: Policy, now: datetime, means: Means) -> Iterator[Duplicate]:
    """Duplicates among what stays, hidden in `state`; then again, since what is hidden may let others stay."""
    while True:
        ending = {each.memory for each in plan(state.values(), policy, now) if each.action is Action.DELETE}
        staying = [memory for memory in state.values() if _is_statement(memory) and memory.id not in ending]
        found = means.duplicates(staying)
        if not found:
            return
        state |= {each.hide: means.hide(state[each.hide], each.keep) for each in found}
        yield from found


def _rows(desk: Desk) -> list[Memory]:
    return [memory for page in pages_of(desk.store, desk.namespace) for memory in page]


def _analyzed(rows: Sequence[Memory]) -> dict[str, int]:
    stages = {f"stage_{stage}": sum(memory.stage is stage for memory in rows) for stage in Stage}
    return {
        "memories": len(rows),
        "superseded": sum(memory.superseded_by is not None for memory in rows),
        "statements": sum(map(_is_statement, rows)),
        **stages,
    }


def _is_statement(memory: Memory) -> bool:
    """What can be a duplicate or be summed up: live, and not the words of a conversation themselves."""
    said = memory.kind in {Kind.PASSAGE, Kind.SUMMARY, Kind.STATE, Kind.CORRECTION}
    return not said and memory.superseded_by is None and memory.stage is not Stage.DELETED


def _syntheses(state: Mapping[str, Memory], means: Means, now: datetime) -> tuple[Synthesis, ...]:
    about: defaultdict[str, list[Memory]] = defaultdict(list)
    for memory in state.values():
        for name in dict.fromkeys(memory.entities) if _is_statement(memory) else ():
            about[name].append(memory)
    earlier = {
        str(memory.metadata[_ABOUT]): memory
        for memory in state.values()
        if _ABOUT in memory.metadata and memory.superseded_by is None and memory.stage is not Stage.DELETED
    }
    made: list[Synthesis] = []
    for name, group in sorted(about.items()):
        parts = sorted(group, key=lambda memory: (memory.event_time, memory.id))
        old = earlier.get(name)
        if len(parts) < _FEWEST or (old is not None and old.source.memories == tuple(each.id for each in parts)):
            continue
        words = means.synthesize(name, parts)
        if words:
            memory = _synthesis(name, words, parts, now)
            if memory.id not in state:
                made.append(Synthesis(about=name, memory=memory, replaces=None if old is None else old.id))
    return tuple(made)


def _synthesis(name: str, words: str, parts: Sequence[Memory], now: datetime) -> Memory:
    ids = tuple(memory.id for memory in parts)
    digest = hashlib.sha256("\n".join((name, *ids)).encode("utf-8", "replace")).digest()
    newest = max(memory.event_time for memory in parts)
    return Memory(
        id=make_id(newest, digest[:ENTROPY_BYTES]),
        kind=Kind.SUMMARY,
        content=words,
        created_at=now,
        event_time=newest,
        importance=max(memory.importance for memory in parts),
        confidence=min(memory.confidence for memory in parts),
        trust=Trust.EXTRACTED,
        entities=(name,),
        source=Source(memories=ids),
        metadata={_ABOUT: name},
    )


def _carry_out(
    journal: Journal, desk: Desk, rows: Sequence[Memory], decision: Decision, means: Means, now: datetime
) -> tuple[str, ...]:
    before = {memory.id: memory for memory in rows}
    ended, _ = carried_out(rows, decision.pruned, now)
    hidden = [means.hide(before[each.hide], each.keep) for each in decision.duplicates]
    left = _write(journal, desk, Part.DEDUPE, before, hidden)
    left += _write(journal, desk, Part.PRUNE, before, ended)
    for each in decision.syntheses:
        written = [each.memory]
        if each.replaces is not None:
            written.append(replace(before[each.replaces], superseded_by=each.memory.id, valid_to=now))
        left += _write(journal, desk, Part.SYNTHESIZE, before, written)
    return tuple(left)


def _write(
    journal: Journal, desk: Desk, part: Part, before: Mapping[str, Memory], memories: Sequence[Memory]
) -> list[str]:
    """Step by step; memories that somebody wrote since they were read are left out and named."""
    left: list[str] = []
    seen = max((memory.changed for memory in before.values()), default=0)
    for start in range(0, len(memories), _MOST_STEP):
        batch: list[Memory] = list(memories[start : start + _MOST_STEP])
        while batch:
            needed = dict.fromkeys(name for memory in batch for name in _rests_on(memory, before))
            unwritten = tuple(needed.keys() - {memory.id for memory in batch})
            try:
                journal.step(part, before=before, memories=tuple(batch), seen=seen, made_of=unwritten)
                break
            except ConflictError:
                moved = _moved(desk, [before[name] for name in needed])
                staying = [memory for memory in batch if moved.isdisjoint(_rests_on(memory, before))]
                if len(staying) == len(batch):
                    raise
                left += [memory.id for memory in batch if memory not in staying]
                batch = staying
    return left


def _rests_on(memory: Memory, before: Mapping[str, Memory]) -> list[str]:
    """What must be as it was read: the memory itself, what it will stand behind, and what a new one sums up."""
    made_of = () if memory.id in before else memory.source.memories
    return [name for name in (memory.id, memory.superseded_by or "", *made_of) if name in before]


def _moved(desk: Desk, rows: Sequence[Memory]) -> set[str]:
    """Ids of those that are not as they were read."""
    now = {row.id: row.changed for row in desk.store.memories(desk.namespace, [row.id for row in rows])}
    return {row.id for row in rows if now.get(row.id) != row.changed}


def _verify(desk: Desk, rows: Sequence[Memory], ours: Collection[str], last: int) -> None:
    """The run's promise, checked on what the store holds now; a broken one fails the run, which can be undone."""
    now = {memory.id: memory for memory in _rows(desk)}
    unread = [memory.id for memory in rows if memory.id not in now]  # rewritten or erased while they were read
    now |= {memory.id: memory for memory in desk.store.memories(desk.namespace, unread)}
    newest = max((row.changed for row in rows), default=0)
    erased = set(desk.store.changes(desk.namespace, since=newest).erased)
    for memory in rows:
        row = now.get(memory.id)
        if row is None:
            if memory.id not in erased:
                raise StoreError(f"verify: memory {memory.id} is not there any more")
        elif row.changed <= (last if row.id in ours else newest) and row.content != memory.content:
            raise StoreError(f"verify: the words of memory {memory.id} changed")
        elif _goes_in_circles(row, now):
            raise StoreError(f"verify: memory {memory.id} stands behind itself")


def _goes_in_circles(memory: Memory, rows: Mapping[str, Memory]) -> bool:
    passed = {memory.id}
    while memory.superseded_by is not None and memory.superseded_by in rows:
        memory = rows[memory.superseded_by]
        if memory.id in passed:
            return True
        passed.add(memory.id)
    return False
