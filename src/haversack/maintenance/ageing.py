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
from haversack.lifecycle.policy import Action, Policy, Transition, carried_out, plan_pages
from haversack.maintenance.run import Desk, Journal, forget_old_steps, running
from haversack.model.memory import Kind, Memory
from haversack.store.port import Erasure, Store

__all__ = ["Lifecycle", "age", "pages_of"]

_PAGE = 4_000


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


def pages_of(store: Store, namespace: str, *, size: int | None = None) -> Iterator[Sequence[Memory]]:
    """All memories as they are when reached, softly deleted ones included; later writing is not waited for."""
    end, since = store.sequence(namespace), 0
    while since < end:
        page = store.changes(namespace, since=since, limit=size or _PAGE)
        yield [memory for memory in page.memories if memory.changed <= end]
        since = page.upto if page.more else end


def age(desk: Desk, policy: Policy, *, execute: bool) -> Lifecycle:
    """Bring every memory to the stage that the policy and the present ask for."""
    now = desk.clock()
    if not execute:
        return _preview(desk, policy, now)
    with running(desk, "lifecycle") as journal:
        done = _Ageing(desk, policy, now, journal).all()
        forget_old_steps(desk)
        return done


def _preview(desk: Desk, policy: Policy, now: datetime) -> Lifecycle:
    looked_at = 0
    transitions: list[Transition] = []
    turns: list[str] = []
    for page, due in plan_pages(lambda: pages_of(desk.store, desk.namespace), policy, now):
        looked_at += len(page)
        transitions += due
        turns += _words_of(page, due)
    return _report(desk, now, looked_at, transitions, turns, run=None)


class _Ageing:
    """One run being carried out."""

    def __init__(self, desk: Desk, policy: Policy, now: datetime, journal: Journal) -> None:
        self._desk = desk
        self._policy = policy
        self._now = now
        self._journal = journal
        self._done: list[Transition] = []
        self._turns: list[str] = []

    def all(self) -> Lifecycle:
        desk, looked_at = self._desk, 0
        ending: dict[str, Memory] = {}
        for page, due in plan_pages(lambda: pages_of(desk.store, desk.namespace), self._policy, self._now):
            looked_at += len(page)
            last = {each.memory for each in due if each.action is Action.ERASE}
            ending |= {memory.id: memory for memory in page if memory.id in last}
            self._page(page, due)
        self._erase(ending)
        return _report(desk, self._now, looked_at, self._done, self._turns, run=self._journal.run.id)

    def _page(self, page: Sequence[Memory], due: list[Transition]) -> None:
        """One transaction for a page; what somebody else wrote in between is left to the next run."""
        before = {memory.id: memory for memory in page}
        while due:
            written, _ = carried_out(page, due, self._now)
            try:
                if written:
                    seen = max(memory.changed for memory in page)
                    self._journal.step("age", before=before, memories=written, seen=seen)
                break
            except ConflictError:
                untouched = self._untouched(due, before)
                if len(untouched) == len(due):
                    raise
                due = untouched
        self._done += due

    def _erase(self, pages: Mapping[str, Memory]) -> None:
        due = self._untouched([each for each in self._done if each.action is Action.ERASE], pages)
        self._done = [each for each in self._done if each.action is not Action.ERASE] + due
        self._turns = _words_of(pages.values(), due)
        if due:
            ids = tuple(each.memory for each in due)
            self._journal.step("erase", before={}, erase=Erasure(memories=ids, turns=tuple(self._turns)))

    def _untouched(self, due: Sequence[Transition], before: Mapping[str, Memory]) -> list[Transition]:
        now = self._desk.store.memories(self._desk.namespace, [transition.memory for transition in due])
        changed = {memory.id: memory.changed for memory in now}
        return [each for each in due if changed.get(each.memory) == before[each.memory].changed]


def _words_of(page: Iterable[Memory], due: Sequence[Transition]) -> list[str]:
    """The turns whose words are those of passages that are erased for good."""
    erased = {each.memory for each in due if each.action is Action.ERASE}
    said = (memory.source.turns for memory in page if memory.id in erased and memory.kind is Kind.PASSAGE)
    return [turn for turns in said for turn in turns]


def _report(
    desk: Desk,
    now: datetime,
    looked_at: int,
    transitions: Sequence[Transition],
    turns: Sequence[str],
    *,
    run: str | None,
) -> Lifecycle:
    return Lifecycle(
        namespace=desk.namespace,
        preview=run is None,
        at=now,
        looked_at=looked_at,
        transitions=tuple(transitions),
        turns=tuple(dict.fromkeys(turns)),
        run=run,
        counts=dict(sorted(Counter(str(each.action) for each in transitions).items())),
    )
