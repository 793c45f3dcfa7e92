"""Forgetting: what a request would remove, exactly, and its removal.

A soft forget keeps the rows and hides them; it can be undone. A hard forget removes the memory, the turn it was
said in, everything derived from either, their prices, vectors and index entries, from every file of the store, and
leaves a tombstone that keeps them from being extracted or imported again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from typing import cast

from haversack.compaction.view import View, load_view, view_write
from haversack.engine import access
from haversack.engine.core import Core
from haversack.engine.hiding import hiding, showing
from haversack.engine.unnaming import unname, unnamed
from haversack.errors import InputError, NotFoundError, StoreError
from haversack.lifecycle.policy import restored, softly_deleted
from haversack.maintenance.archive import Rewritten
from haversack.maintenance.texts import texts_of
from haversack.model.memory import Kind, Memory, Stage
from haversack.model.query import Filter
from haversack.store.port import BYTES_WAIT, Applied, Batch, Erasure, Scrubs, Store, Written
from haversack.store.retry import persisting

__all__ = ["Forgotten", "certified", "derived_from", "erase", "every_memory", "forget", "plan", "restore", "scrubbed"]

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
    return _planned(core, namespace, aim)[0]


def _planned(core: Core, namespace: str, aim: Aim) -> tuple[Forgotten, list[Memory]]:
    """What a hard forget removes, with its memories; what comes of it is asked for level by level, not looked for."""
    aimed = _aimed_at(core, namespace, aim, hard=True)
    asked = tuple(memory.id for memory in aimed)
    turns = {turn for memory in aimed for turn in _said(memory)}
    derived = [] if aim.everything else derived_from(core.store, namespace, {*asked, *turns}, set(asked))
    touched = {one.source.session for one in (*aimed, *derived) if one.source.session is not None}
    if aim.filter is not None and aim.filter.session is not None and _whole_session(aim.filter):
        touched.add(aim.filter.session)
        turns |= {turn.id for turn in core.store.turns(namespace, aim.filter.session)}
    gone = {*asked, *(one.id for one in derived)}
    planned = Forgotten(
        namespace=namespace,
        hard=True,
        preview=True,
        memories=asked,
        derived=tuple(sorted(one.id for one in derived)),
        turns=tuple(sorted(turns)),
        sessions=_emptied(core.store, namespace, touched, turns, gone) if touched else (),
        everything=aim.everything,
    )
    return planned, [*aimed, *derived]


def forget(core: Core, namespace: str, aim: Aim, *, hard: bool, now: datetime) -> Forgotten:
    """Remove what `plan` says and tell exactly what went."""
    if not hard:
        return persisting(lambda: _hide(core, namespace, aim, now))
    core.erasers.write_down()
    with core.recall.erasing(namespace):
        planned = persisting(lambda: _forget_hard(core, namespace, aim), tries=_TRIES)
        access.drop(core, namespace, (*planned.memories, *planned.derived))
        core.erased(namespace)
        is_scrubbed = scrubbed(core.store)
    return replace(certified(replace(planned, preview=False, at=now)), scrubbed=is_scrubbed)


def _erase_beside(core: Core, aim: Aim, planned: Forgotten) -> None:
    """Remove the same from the stores that a restore put aside; one that cannot be opened stays, as `doctor` tells."""
    namespace = planned.namespace
    for store in () if core.files is None else core.files.put_aside():
        with suppress(StoreError):
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


def _forget_hard(core: Core, namespace: str, aim: Aim) -> Forgotten:
    """Plan and erase; ConflictError when anything was written in between, for it may come from what is erased."""
    seen = core.store.sequence(namespace)
    planned, going = _planned(core, namespace, aim)
    _erase_beside(core, aim, planned)
    _unname(core.store, planned)
    whole = () if aim.filter is None or not _whole_session(aim.filter) else (str(aim.filter.session),)
    done = _erase(core.store, planned, going, seen, whole)
    return replace(planned, turns=tuple(sorted({*planned.turns, *done.erased_turns})))


def erase(store: Store, what: Forgotten) -> Applied:
    """Remove it from a store for good, and from its bookkeeping the names of the sessions that are over.

    What was merged with something that goes stands for itself again when the whole goes, and so do turns whose summary
    goes.
    """
    _unname(store, what)
    return persisting(lambda: _erase_found(store, what))


def _erase_found(store: Store, what: Forgotten) -> Applied:
    seen = store.sequence(what.namespace)
    ids = () if what.everything else what.memories + what.derived
    return _erase(store, what, store.memories(what.namespace, ids) if ids else (), seen)


def _unname(store: Store, what: Forgotten) -> None:
    persisting(lambda: unname(store, what.namespace, None if what.everything else what.sessions))


def _erase(
    store: Store, what: Forgotten, going: Sequence[Memory], seen: int, sessions: tuple[str, ...] = ()
) -> Applied:
    erasure = Erasure(
        memories=what.memories + what.derived, turns=what.turns, sessions=sessions, everything=what.everything
    )
    records: tuple[Written, ...] = ()
    rows: tuple[Memory, ...] = ()
    if not what.everything:
        records = (*unnamed(store, what.namespace, what.sessions), *_opened(store, what, going))
        rows = _released(store, what, going)
    return store.apply(what.namespace, Batch(erase=erasure, memories=rows, records=records, sequence=seen))


def _released(store: Store, what: Forgotten, going: Sequence[Memory]) -> tuple[Memory, ...]:
    """What stays of the merged wholes that go along because a part of them goes; a summary's stay ended."""
    along = set(what.derived)
    wholes = {one.id: one for one in going if one.id in along and one.kind is not Kind.SUMMARY}
    parts = {name for whole in wholes.values() for name in whole.source.memories}.difference(one.id for one in going)
    found = store.memories(what.namespace, sorted(parts)) if parts else []
    return tuple(replace(one, superseded_by=None) for one in found if one.superseded_by in wholes)


def _opened(store: Store, what: Forgotten, going: Sequence[Memory]) -> Iterator[Written]:
    """The views of sessions that go on, without the summaries that are erased."""
    gone = {one.id for one in going}
    summaries = (one for one in going if one.kind is Kind.SUMMARY)
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
    # Life does not matter here: what is expired or superseded is forgotten as well; soft forgets skip the hidden.
    found = core.store.select(namespace, aim.filter or Filter(), now=None)
    return found if hard else [memory for memory in found if memory.stage is not Stage.DELETED]


def derived_from(store: Store, namespace: str, sources: set[str], known: set[str]) -> list[Memory]:
    """Return the memories that came from these turns and memories, to any depth, but those that are known."""
    found: dict[str, Memory] = {}
    while sources:
        level = store.derived(namespace, sorted(sources))
        new = {one.id: one for one in level if one.id not in known and one.id not in found}
        found |= new
        sources = set(new)
    return list(found.values())


def _emptied(store: Store, namespace: str, sessions: set[str], turns: set[str], gone: set[str]) -> tuple[str, ...]:
    """Those of these sessions that keep neither a turn nor a memory."""
    return tuple(name for name in sorted(sessions) if _has_only(store, namespace, name, turns, gone))


def _has_only(store: Store, namespace: str, session: str, turns: set[str], memories: set[str]) -> bool:
    """Whether every turn and memory of a session is among these."""
    said = store.turns(namespace, session, limit=len(turns) + 1)
    found = store.select(namespace, Filter(session=session), now=None, limit=len(memories) + 1)
    return turns.issuperset(turn.id for turn in said) and memories.issuperset(memory.id for memory in found)


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
