"""Forgetting: what a request would remove, exactly, and its removal.

A soft forget keeps the rows and hides them; it can be undone. A hard forget removes the memory, the turn it was
said in, everything derived from either, their prices, vectors and index entries, from every file of the store, and
leaves a tombstone that keeps them from being extracted or imported again.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from pathlib import Path
from typing import cast

from haversack.compaction.view import View, load_view, view_write
from haversack.engine import access
from haversack.engine.core import Core
from haversack.engine.hiding import hiding, showing
from haversack.engine.unnaming import unname, unnamed
from haversack.errors import InputError, NotFoundError, StoreError
from haversack.lifecycle.policy import restored, softly_deleted
from haversack.maintenance.archive import Rewritten
from haversack.maintenance.restore import kept_copy, set_aside
from haversack.maintenance.texts import texts_of
from haversack.model.lives import DUPLICATE_OF
from haversack.model.memory import Kind, Memory, Stage
from haversack.model.query import Filter
from haversack.store.port import BYTES_WAIT, Applied, Batch, Erasure, Scrubs, Store, Written
from haversack.store.retry import persisting

__all__ = ["Forgotten", "certified", "closure", "erase", "every_memory", "forget", "plan", "restore", "scrubbed"]

_PAGE = 10_000
_TRIES = 20
"""A hard forget waits for no pause in the writing of others: each further try reads only what they wrote since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was removed, or with `preview` what would be."""

    namespace: str
    hard: bool
    preview: bool
    memories: tuple[str, ...]
    """Ids of those that were asked for."""
    derived: tuple[str, ...] = ()
    """Ids of those that go along because they came from them."""
    turns: tuple[str, ...] = ()
    """Ids of the session turns whose words go; only a hard forget touches them."""
    sessions: tuple[str, ...] = ()
    """Sessions of which nothing is left: their names go from costs and audit as well."""
    everything: bool = False
    at: datetime | None = None
    scrubbed: bool = True
    """False while a reader of an older version, or a full disk, keeps erased bytes in a file: the next write or
    opening finishes it."""
    rewritten: tuple[Rewritten, ...] | None = None
    """The snapshots that held something of it and hold it no more; None while nobody asked for that."""
    certificate: str = ""
    """SHA-256 over the namespace, the time, all ids and the hashes of rewritten snapshots: proof of what was erased,
    without its words."""

    def __str__(self) -> str:
        verb = "would forget" if self.preview else "forgot"
        how = "for good" if self.hard else "softly (can be restored)"
        waiting = "" if self.scrubbed else f"; {BYTES_WAIT}"
        beyond = f", and from {len(self.rewritten)} snapshots" if self.rewritten else ""
        return (
            f"{verb} {how}: {len(self.memories)} memories, {len(self.derived)} derived from them, "
            f"{len(self.turns)} session turns{beyond}{waiting}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What a caller wants forgotten: these ids, whatever passes the filter, or the whole namespace."""

    ids: tuple[str, ...] = ()
    filter: Filter | None = None
    everything: bool = False


def every_memory(core: Core, namespace: str) -> Iterator[Memory]:
    """All memories of a namespace, softly deleted ones included, by their last change."""
    since, more = 0, True
    while more:
        page = core.store.changes(namespace, since=since, limit=_PAGE)
        yield from page.memories
        since, more = page.upto, page.more


def plan(core: Core, namespace: str, aim: Aim, *, hard: bool) -> Forgotten:
    """Exactly what `forget` would remove, found without changing anything."""
    if not hard:
        asked = tuple(memory.id for memory in _aimed_at(core, namespace, aim, hard=False))
        return Forgotten(namespace=namespace, hard=False, preview=True, memories=asked, everything=aim.everything)
    return _planned(core, namespace, aim, list(every_memory(core, namespace)))


def _planned(core: Core, namespace: str, aim: Aim, rows: Sequence[Memory]) -> Forgotten:
    """What a hard forget removes, where the namespace holds these rows."""
    aimed = _aimed_at(core, namespace, aim, hard=True)
    asked = tuple(memory.id for memory in aimed)
    derived, turns = closure(rows, aimed)
    touched = set[str]()
    if aim.filter is not None and aim.filter.session is not None and _whole_session(aim.filter):
        touched.add(aim.filter.session)
        turns |= {turn.id for turn in core.store.turns(namespace, aim.filter.session)}
    gone = derived.union(asked)
    touched |= {one.source.session for one in rows if one.id in gone and one.source.session is not None}
    kept = {one.source.session for one in rows if one.id not in gone}
    return Forgotten(
        namespace=namespace,
        hard=True,
        preview=True,
        memories=asked,
        derived=tuple(sorted(derived)),
        turns=tuple(sorted(turns)),
        sessions=_emptied(core.store, namespace, touched - kept, turns),
        everything=aim.everything,
    )


def forget(core: Core, namespace: str, aim: Aim, *, hard: bool, now: datetime) -> Forgotten:
    """Remove what `plan` says and tell exactly what went."""
    if not hard:
        return persisting(lambda: _hide(core, namespace, aim, now))
    core.write_down()
    rows = _Rows(core.store, namespace)
    planned = persisting(lambda: _forget_hard(core, namespace, aim, rows), tries=_TRIES)
    access.drop(core, namespace, (*planned.memories, *planned.derived))
    return replace(certified(replace(planned, preview=False, at=now)), scrubbed=scrubbed(core.store))


def _erase_beside(core: Core, aim: Aim, planned: Forgotten) -> None:
    """Remove the same from the stores that a restore put aside; one that cannot be opened stays, as `doctor` tells."""
    site, namespace = core.site, planned.namespace
    if site is None:
        return
    for path in filter(Path.exists, (kept_copy(site), set_aside(site))):
        with suppress(StoreError), closing(site.open(path)) as store:
            there = tuple(one.id for one in store.memories(namespace, planned.memories))
            if there or not aim.ids:
                wanted = replace(aim, ids=there if aim.ids else ())
                erase(store, plan(replace(core, store=store), namespace, wanted, hard=True))


def _hide(core: Core, namespace: str, aim: Aim, now: datetime) -> Forgotten:
    seen = core.store.sequence(namespace)
    aimed = _aimed_at(core, namespace, aim, hard=False)
    rows = [one for one in aimed if one.stage is not Stage.DELETED]
    hidden = tuple(softly_deleted(one, now) for one in rows)
    core.store.apply(namespace, Batch(memories=hidden, records=hiding(hidden), seen=seen))
    ids = tuple(one.id for one in aimed)
    return certified(
        Forgotten(namespace=namespace, hard=False, preview=False, memories=ids, everything=aim.everything, at=now)
    )


class _Rows:
    """All memories of a namespace, read whole once and then only what came since."""

    def __init__(self, store: Store, namespace: str) -> None:
        self._store = store
        self._namespace = namespace
        self._found: dict[str, Memory] = {}
        self._seen = 0

    def read(self) -> tuple[list[Memory], int]:
        """Return them by their last change, and the change number that the namespace had then."""
        more = True
        while more:
            page = self._store.changes(self._namespace, since=self._seen, limit=_PAGE)
            if page.reset:
                self._found.clear()
            for name in (*page.erased, *(memory.id for memory in page.memories)):
                self._found.pop(name, None)
            self._found |= {memory.id: memory for memory in page.memories}
            self._seen, more = page.upto, page.more
        return list(self._found.values()), self._seen


def _forget_hard(core: Core, namespace: str, aim: Aim, rows: _Rows) -> Forgotten:
    """Plan and erase; ConflictError when anything was written in between, for it may come from what is erased."""
    known, seen = rows.read()
    planned = _planned(core, namespace, aim, known)
    _erase_beside(core, aim, planned)
    _unname(core.store, planned)
    whole = () if aim.filter is None or not _whole_session(aim.filter) else (str(aim.filter.session),)
    done = _erase(core.store, planned, seen, whole)
    return replace(planned, turns=tuple(sorted({*planned.turns, *done.erased_turns})))


def erase(store: Store, what: Forgotten) -> Applied:
    """Remove it from a store for good, and from its bookkeeping the names of the sessions that are over.

    What was merged with something that goes stands for itself again when the whole goes, and so do turns whose summary
    goes.
    """
    _unname(store, what)
    return persisting(lambda: _erase(store, what, store.sequence(what.namespace)))


def _unname(store: Store, what: Forgotten) -> None:
    persisting(lambda: unname(store, what.namespace, None if what.everything else what.sessions))


def _erase(store: Store, what: Forgotten, seen: int, sessions: tuple[str, ...] = ()) -> Applied:
    erasure = Erasure(
        memories=what.memories + what.derived, turns=what.turns, sessions=sessions, everything=what.everything
    )
    records = () if what.everything else (*unnamed(store, what.namespace, what.sessions), *_opened(store, what))
    rows = () if what.everything else _released(store, what)
    return store.apply(what.namespace, Batch(erase=erasure, memories=rows, records=records, sequence=seen))


def _released(store: Store, what: Forgotten) -> tuple[Memory, ...]:
    """What stays of the merged wholes that go along because a part of them goes; a summary's stay ended."""
    along = store.memories(what.namespace, what.derived)
    wholes = {one.id: one for one in along if one.kind is not Kind.SUMMARY}
    gone = {*what.memories, *what.derived}
    parts = {name for whole in wholes.values() for name in whole.source.memories} - gone
    found = store.memories(what.namespace, sorted(parts))
    return tuple(replace(one, superseded_by=None) for one in found if one.superseded_by in wholes)


def _opened(store: Store, what: Forgotten) -> Iterator[Written]:
    """The views of sessions that go on, without the summaries that are erased."""
    gone = {*what.memories, *what.derived}
    summaries = (one for one in store.memories(what.namespace, sorted(gone)) if one.kind is Kind.SUMMARY)
    for session in sorted({one.source.session or "" for one in summaries}.difference(what.sessions, {""})):
        view, version = load_view(store, what.namespace, session)
        kept = reduce(View.opened, (fold.summary for fold in view.folds if fold.summary in gone), view)
        if kept != view:
            yield view_write(kept, version)


def certified(done: Forgotten) -> Forgotten:
    """With the certificate over all that it says."""
    files = [part for each in done.rewritten or () for part in (each.id, each.before, each.after)]
    at = "" if done.at is None else done.at.isoformat()
    words = (done.namespace, at, *done.memories, *done.derived, *done.turns, *files)
    return replace(done, certificate=hashlib.sha256("\n".join(words).encode("utf-8", "replace")).hexdigest())


def restore(core: Core, namespace: str, ids: Sequence[str]) -> list[Memory]:
    """Undo a soft forget; raises NotFoundError for an id that is not there any more."""
    return persisting(lambda: _restore(core, namespace, ids))


def _restore(core: Core, namespace: str, ids: Sequence[str]) -> list[Memory]:
    seen = core.store.sequence(namespace)
    found = core.store.memories(namespace, ids)
    _all_found(ids, found)
    found = texts_of(core.store, namespace, found)
    back = tuple(restored(memory) for memory in found if memory.stage is Stage.DELETED)
    core.store.apply(namespace, Batch(memories=back, records=showing(back), seen=seen))
    return core.store.memories(namespace, [memory.id for memory in found])


def _aimed_at(core: Core, namespace: str, aim: Aim, *, hard: bool) -> list[Memory]:
    if aim.ids:
        found = core.store.memories(namespace, aim.ids)
        _all_found(aim.ids, found)
        return texts_of(core.store, namespace, found)
    if aim.filter is None and not aim.everything:
        raise InputError(
            "say what to forget: an id, a filter (kinds, tags, session, since, until, where) or everything"
        )
    return [memory for memory in every_memory(core, namespace) if _falls_under(memory, aim, hard=hard)]


def _falls_under(memory: Memory, aim: Aim, *, hard: bool) -> bool:
    """Life does not matter here: what is expired or superseded is forgotten as well; soft forgets skip the hidden."""
    if memory.stage is Stage.DELETED and not hard:
        return False
    return aim.filter is None or aim.filter.unmet_by(memory) is None


def closure(memories: Iterable[Memory], aimed: Sequence[Memory]) -> tuple[set[str], set[str]]:
    """Ids of the memories that came from the aimed ones, to any depth, and of the turns whose words they hold."""
    made_of: defaultdict[str, list[str]] = defaultdict(list)
    told_in: defaultdict[str, list[str]] = defaultdict(list)
    for memory in memories:
        for origin in _origins(memory):
            made_of[origin].append(memory.id)
        for turn in memory.source.turns:
            told_in[turn].append(memory.id)
    turns = {turn for memory in aimed for turn in _said(memory)}
    asked = {memory.id for memory in aimed}
    gone = asked.union(*(told_in[turn] for turn in turns))
    waiting = list(gone)
    while waiting:
        new = set(made_of[waiting.pop()]) - gone
        gone |= new
        waiting += new
    return gone - asked, turns


def _emptied(store: Store, namespace: str, sessions: set[str], turns: set[str]) -> tuple[str, ...]:
    """Those of these sessions that have no other turns."""
    going = Counter(turn.session for turn in store.turns_by_id(namespace, list(turns)))
    there = {info.id: info.turns for info in store.sessions(namespace)}
    return tuple(sorted(name for name in sessions if going[name] == there.get(name, 0)))


def _origins(memory: Memory) -> tuple[str, ...]:
    """What it was made of, and what it repeats in other words."""
    repeats = memory.metadata.get(DUPLICATE_OF)
    return (*memory.source.memories, repeats) if isinstance(repeats, str) else memory.source.memories


def scrubbed(store: Store) -> bool:
    """Remove what erasures left in the store's files; whether nothing is left."""
    return cast("Scrubs", store).scrub() if "scrub" in store.abilities else True


def _said(memory: Memory) -> tuple[str, ...]:
    """The turns whose words a passage repeats; what was concluded from turns leaves them alone."""
    return memory.source.turns if memory.kind == "passage" else ()


def _whole_session(chosen: Filter) -> bool:
    return chosen == Filter(session=chosen.session)


def _all_found(ids: Sequence[str], found: Sequence[Memory]) -> None:
    there = {memory.id for memory in found}
    missing = [wanted for wanted in ids if wanted not in there]
    if missing:
        raise NotFoundError(f"no such memory in this namespace: {', '.join(missing[:5])}")
