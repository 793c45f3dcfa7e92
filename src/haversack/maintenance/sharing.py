"""Proposals to share a private memory: a journal of events in the space that spans namespaces, replayed to be read.

The journal holds ids, names and a hash of what was proposed, never words. An accepted memory is copied under an id
that follows from the proposal, so carrying a decision out twice, or after an interruption, gives one copy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

import msgspec

from haversack.errors import ConflictError, InputError, NotFoundError
from haversack.lifecycle.proposals import (
    Decided,
    Event,
    Proposal,
    Proposed,
    Standing,
    copy_for_sharing,
    digest_of,
    replay,
)
from haversack.maintenance.texts import text_of
from haversack.model.identity import ENTROPY_BYTES, make_id
from haversack.model.memory import Memory, Source, Stage
from haversack.store.port import SYSTEM, Batch, Record, Store, Written
from haversack.store.records import Collection

__all__ = ["ASKED", "DECIDED", "carry_out", "decide", "proposals", "propose"]

_COLLECTION = "proposal"
ASKED = Collection(_COLLECTION, Proposed, "/asked")
DECIDED = Collection(_COLLECTION, Decided, "/decided")
_PAGE = 500


def propose(store: Store, asked: Proposed) -> Proposal:
    """Write down that somebody wants the memory shared as it is; it must be live in its private namespace."""
    parts = text_of(store, asked.private, _live(store, asked))
    if asked.private == asked.shared:
        raise InputError(f"the memory is in {asked.shared!r} already")
    bound = replace(asked, digest=digest_of(asked.proposal, parts))
    _append(store, f"{asked.proposal}/asked", bound)
    return Proposal(asked=bound)


def decide(store: Store, decided: Decided, now: datetime) -> tuple[Proposal, Memory | None]:
    """Write the decision down, then carry it out; the same decision again changes nothing, another one conflicts.

    A memory that was changed since it was proposed is not accepted: ConflictError, and the proposal stays open.
    """
    proposal = proposals(store).get(decided.proposal)
    if proposal is None:
        raise NotFoundError(f"no proposal {decided.proposal!r}")
    if decided.accepted and proposal.standing is Standing.OPEN:
        _as_proposed(store, proposal.asked, _live(store, proposal.asked))
    after = replay([proposal.asked, *_decision_of(proposal), decided])[decided.proposal]
    if proposal.standing is Standing.OPEN:
        _append(store, f"{decided.proposal}/decided", decided)
    return after, carry_out(store, after, now) if after.standing is Standing.ACCEPTED else None


def carry_out(store: Store, proposal: Proposal, now: datetime) -> Memory | None:
    """The copy in the shared namespace, made if it is missing; None when either side was forgotten since."""
    asked = proposal.asked
    digest = hashlib.sha256(asked.proposal.encode()).digest()
    copy_id = make_id(asked.at, digest[:ENTROPY_BYTES])
    there = store.memories(asked.shared, [copy_id])
    if there:
        return there[0]
    found = store.memories(asked.private, [asked.memory])
    if not found or found[0].stage is Stage.DELETED:
        return None
    parts = _as_proposed(store, asked, found[0])
    copy = copy_for_sharing(found[0], proposal, copy_id, now)
    try:
        store.apply(asked.shared, Batch(memories=tuple(_with_parts(copy, parts))))
    except ConflictError:
        return None  # the copy was erased for good, and stays so
    return store.memories(asked.shared, [copy_id])[0]


def _with_parts(copy: Memory, parts: Sequence[Memory]) -> Iterator[Memory]:
    """The copy, in as many parts as the text that it stands for."""
    if len(parts) == 1:
        yield copy
        return
    for index, part in enumerate(parts):
        digest = hashlib.sha256(f"{copy.id}/{index}".encode()).digest()
        source = Source(part=(index, len(parts)), memories=(copy.id,) if index else ())
        name = make_id(part.event_time, digest[:ENTROPY_BYTES]) if index else copy.id
        yield replace(copy, id=name, content=part.content, source=source)


def proposals(store: Store, *, private: str | None = None, shared: str | None = None) -> dict[str, Proposal]:
    """All proposals by id, or those of one private or one shared namespace."""
    events: list[Event] = []
    after = ""
    while page := store.records(SYSTEM, _COLLECTION, after=after, limit=_PAGE):
        events += (event for record in page if (event := _event(record)) is not None)
        after = page[-1].key
    return {
        name: proposal
        for name, proposal in replay(events).items()
        if private in (None, proposal.asked.private) and shared in (None, proposal.asked.shared)
    }


def _live(store: Store, asked: Proposed) -> Memory:
    found = store.memories(asked.private, [asked.memory])
    if not found or found[0].stage is Stage.DELETED or found[0].superseded_by is not None:
        raise NotFoundError(f"no live memory {asked.memory!r} in namespace {asked.private!r}")
    return found[0]


def _as_proposed(store: Store, asked: Proposed, memory: Memory) -> Sequence[Memory]:
    """All parts of the memory's text, if they say what they said when they were proposed."""
    parts = text_of(store, asked.private, memory)
    if digest_of(asked.proposal, parts) != asked.digest:
        raise ConflictError(
            f"memory {asked.memory!r} was changed since proposal {asked.proposal!r} was made: reject it, and let its "
            "author propose the memory as it is now"
        )
    return parts


def _decision_of(proposal: Proposal) -> list[Event]:
    if proposal.decided_by is None or proposal.decided_at is None:
        return []
    accepted = proposal.standing is Standing.ACCEPTED
    return [
        Decided(proposal=proposal.asked.proposal, accepted=accepted, by=proposal.decided_by, at=proposal.decided_at)
    ]


def _append(store: Store, key: str, event: Event) -> None:
    """Once only: two deciders at the same moment cannot both be first."""
    record = Written(collection=_COLLECTION, key=key, value=msgspec.json.encode(event), expected=0)
    store.apply(SYSTEM, Batch(records=(record,)))


def _event(record: Record) -> Event | None:
    return (ASKED if record.key.endswith(ASKED.ending) else DECIDED).value_of(record)
