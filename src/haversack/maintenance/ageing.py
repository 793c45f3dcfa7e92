"""The lifecycle run over a store: page by page, previewed or carried out, the same either way.

Law: running it twice at the same moment changes nothing the second time, and what a preview names is what execution
touches. Softly deleted memories whose retention is over are erased for good in one last step, with the turns whose
words they are; what was derived from them has its own life and stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from haversack.errors import ConflictError
from haversack.lifecycle.plan import carried_out, plan_pages
from haversack.lifecycle.policy import TARGET, Action, Policy, Transition
from haversack.maintenance.run import Desk, Journal, forget_old_steps, running
from haversack.model.lives import STAGES, Lives
from haversack.model.memory import Kind, Memory, Stage
from haversack.store.port import Erasure, Restage, Store
from haversack.store.retry import persisting

__all__ = ["Lifecycle", "age", "lives_of", "pages_of"]

_PAGE = 500
"""Few at a time: whoever writes waits for no more than that, and threads of this process that answer get their turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """What a run did, or with `preview` what it would do."""

    namespace: str
    preview: bool
    at: datetime
    looked_at: int
    transitions: tuple[Transition, ...]
    """One per memory, in the order in which the memories last changed."""
    turns: tuple[str, ...] = ()
    """Session turns whose words go with memories that are erased for good."""
    run: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """Transitions by action."""
    flushed: int = 0
    """Uses counted into memories before looking."""

    def __str__(self) -> str:
        verb = "would change" if self.preview else "changed"
        parts = ", ".join(f"{count} {action}" for action, count in self.counts.items()) or "nothing is due"
        return f"looked at {self.looked_at} memories, {verb} {len(self.transitions)}: {parts}"


def pages_of(store: Store, namespace: str) -> Iterator[Sequence[Memory]]:
    """All memories as they are when reached, softly deleted ones included; later writing is not waited for."""
    end, since = store.sequence(namespace), 0
    while since < end:
        page = store.changes(namespace, since=since, limit=_PAGE)
        yield [memory for memory in page.memories if memory.changed <= end]
        since = page.upto if page.more else end


def lives_of(store: Store, namespace: str, policy: Policy) -> Iterator[Lives]:
    """The same of those that the policy can ask something of, in columns."""
    spared = policy.protected - set(policy.ttl_days)
    end, since = store.sequence(namespace), 0
    while since < end:
        page = store.lives(namespace, spared=spared, since=since, limit=_PAGE, sized=policy.max_characters is not None)
        yield page.lives.upto(end)
        since = page.upto if page.more else end


def age(desk: Desk, policy: Policy, *, execute: bool) -> Lifecycle:
    """Bring every memory to the stage that the policy and the present ask for."""
    now = desk.clock()
    if not execute:
        return _preview(desk, policy, now)
    if not desk.store.namespaces([desk.namespace]):
        return _report(desk, now, 0, [], [], preview=False)  # nothing was ever here: a run would be the first thing
    with running(desk, "lifecycle") as journal:
        done = _Ageing(desk, policy, now, journal).all()
        forget_old_steps(desk)
        return done


def _preview(desk: Desk, policy: Policy, now: datetime) -> Lifecycle:
    looked_at = _count(desk)
    pages = plan_pages(lambda: lives_of(desk.store, desk.namespace, policy), policy, now)
    transitions = [transition for _, due in pages for transition in due]
    return _report(desk, now, looked_at, transitions, _words_of(_ending(desk, transitions)), preview=True)


class _Ageing:
    """One run being carried out."""

    def __init__(self, desk: Desk, policy: Policy, now: datetime, journal: Journal) -> None:
        self._desk = desk
        self._policy = policy
        self._now = now
        self._journal = journal
        self._done: list[Transition] = []

    def all(self) -> Lifecycle:
        desk, looked_at = self._desk, _count(self._desk)
        last: dict[str, int] = {}
        for page, due in plan_pages(
            lambda: lives_of(desk.store, desk.namespace, self._policy), self._policy, self._now
        ):
            read = dict(zip(page.ids, page.changed.tolist(), strict=True)) if due else {}
            last |= {each.memory: read[each.memory] for each in due if each.action is Action.ERASE}
            self._page(page, due, read)
        turns = self._erase(last)
        return _report(desk, self._now, looked_at, self._done, turns, preview=False, run=self._journal.run.id)

    def _page(self, page: Lives, due: list[Transition], read: Mapping[str, int]) -> None:
        """One transaction for a page; what somebody else wrote in between is left to the next run."""
        before: dict[str, int] = dict(zip(page.ids, page.stage.tolist(), strict=True)) if due else {}
        while due:
            restaged = [
                (Restage(each.memory, read[each.memory], TARGET[each.action]), STAGES[before[each.memory]])
                for each in due
                if each.action not in {Action.DELETE, Action.ERASE}
            ]
            try:
                self._write(restaged, [each for each in due if each.action is Action.DELETE], read)
                break
            except ConflictError:
                untouched = self._untouched(due, read)
                if len(untouched) == len(due):
                    raise
                due = untouched
        self._done += due

    def _write(
        self, restaged: Sequence[tuple[Restage, Stage]], ending: Sequence[Transition], read: Mapping[str, int]
    ) -> None:
        """What only gets another stage, and what is softly deleted, for that is written into its metadata as well."""
        rows = self._desk.store.memories(self._desk.namespace, [each.memory for each in ending])
        deleted, _ = carried_out(rows, ending, self._now)
        if len(rows) < len(ending) or any(row.changed != read[row.id] for row in rows):
            raise ConflictError("a memory was changed meanwhile; read it again")
        if restaged or deleted:
            self._journal.step(
                "age",
                before={row.id: row for row in rows},
                memories=deleted,
                stages=restaged,
                seen=max((row.changed for row in rows), default=None),
            )

    def _erase(self, read: Mapping[str, int]) -> list[str]:
        """In one last step; returns the turns that went along."""
        return persisting(lambda: self._try_to_erase(read))

    def _try_to_erase(self, read: Mapping[str, int]) -> list[str]:
        seen = self._desk.store.sequence(self._desk.namespace)
        due = self._untouched([each for each in self._done if each.action is Action.ERASE], read)
        self._done = [each for each in self._done if each.action is not Action.ERASE] + due
        turns = _words_of(_ending(self._desk, due))
        if due:
            ids = tuple(each.memory for each in due)
            self._journal.step("erase", before={}, erase=Erasure(memories=ids, turns=tuple(turns)), sequence=seen)
        return turns

    def _untouched(self, due: Sequence[Transition], read: Mapping[str, int]) -> list[Transition]:
        now = self._desk.store.memories(self._desk.namespace, [transition.memory for transition in due])
        changed = {memory.id: memory.changed for memory in now}
        return [each for each in due if changed.get(each.memory) == read[each.memory]]


def _count(desk: Desk) -> int:
    census = desk.store.census(desk.namespace)
    return sum(census.memories.values()) + census.deleted


def _ending(desk: Desk, due: Iterable[Transition]) -> list[Memory]:
    """The memories that are to be erased for good."""
    return desk.store.memories(desk.namespace, [each.memory for each in due if each.action is Action.ERASE])


def _words_of(memories: Iterable[Memory]) -> list[str]:
    """The turns whose words are those of passages that are erased for good."""
    said = (memory.source.turns for memory in memories if memory.kind is Kind.PASSAGE)
    return [turn for turns in said for turn in turns]


def _report(
    desk: Desk,
    now: datetime,
    looked_at: int,
    transitions: Sequence[Transition],
    turns: Sequence[str],
    *,
    preview: bool,
    run: str | None = None,
) -> Lifecycle:
    return Lifecycle(
        namespace=desk.namespace,
        preview=preview,
        at=now,
        looked_at=looked_at,
        transitions=tuple(transitions),
        turns=tuple(dict.fromkeys(turns)),
        run=run,
        counts=dict(sorted(Counter(str(each.action) for each in transitions).items())),
    )
