"""Promotion from a private to a shared namespace: proposed, decided by somebody, replayable from its journal.

Nothing moves by itself. The journal is a list of events; its replay is the only truth about what was accepted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

import msgspec

from haversack.errors import ConflictError, InputError
from haversack.model.memory import Memory, Source

__all__ = ["Decided", "Event", "Proposal", "Proposed", "Standing", "copy_for_sharing", "digest_of", "replay"]

_SAID = (
    "kind",
    "content",
    "speaker",
    "trust",
    "entities",
    "tags",
    "metadata",
    "pinned",
    "event_time",
    "valid_from",
    "valid_to",
    "expires_at",
)


class Standing(StrEnum):
    """Where a proposal stands."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """Somebody asks that a private memory be shared."""

    proposal: str
    memory: str
    private: str
    shared: str
    """The two namespaces."""
    author: str
    at: datetime
    digest: str = ""
    """`digest_of` what was proposed; a memory that says something else by now is not shared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """Somebody accepts or rejects it."""

    proposal: str
    accepted: bool
    by: str
    at: datetime


Event = Proposed | Decided


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A proposal as the journal leaves it."""

    asked: Proposed
    standing: Standing = Standing.OPEN
    decided_by: str | None = None
    decided_at: datetime | None = None


def replay(journal: Iterable[Event]) -> dict[str, Proposal]:
    """All proposals by id. An event that appears twice counts once; a second, different decision is a ConflictError."""
    proposals: dict[str, Proposal] = {}
    for event in journal:
        match event:
            case Proposed():
                proposals.setdefault(event.proposal, Proposal(asked=event))
            case Decided():
                proposals[event.proposal] = _decide(proposals.get(event.proposal), event)
    return proposals


def _decide(proposal: Proposal | None, event: Decided) -> Proposal:
    if proposal is None:
        raise InputError(f"the journal decides proposal {event.proposal!r}, which nobody made")
    standing = Standing.ACCEPTED if event.accepted else Standing.REJECTED
    if proposal.standing not in (Standing.OPEN, standing):
        raise ConflictError(f"proposal {event.proposal!r} is already {proposal.standing}")
    if proposal.standing is standing:
        return proposal
    return replace(proposal, standing=standing, decided_by=event.by, decided_at=event.at)


def digest_of(proposal: str, parts: Iterable[Memory]) -> str:
    """A hash of all that a copy of these parts of one text would say, different for each proposal.

    What moves by itself (importance, confidence, stage, uses) does not count.
    """
    said = [[getattr(part, name) for name in _SAID] for part in parts]
    return hashlib.sha256(msgspec.json.encode([proposal, said], order="deterministic")).hexdigest()


def copy_for_sharing(memory: Memory, proposal: Proposal, id_: str, now: datetime) -> Memory:
    """The memory to write into the shared namespace; its metadata says who proposed and who accepted it.

    Raises ConflictError unless the proposal was accepted. Session and turn ids stay behind: they are private.
    """
    if proposal.standing is not Standing.ACCEPTED or proposal.asked.memory != memory.id:
        raise ConflictError(f"proposal {proposal.asked.proposal!r} was not accepted for memory {memory.id!r}")
    provenance = {
        "shared.from": proposal.asked.private,
        "shared.memory": memory.id,
        "shared.author": proposal.asked.author,
        "shared.accepted_by": proposal.decided_by,
        "shared.proposal": proposal.asked.proposal,
    }
    metadata = {**memory.metadata, **provenance}
    return replace(
        memory,
        id=id_,
        created_at=now,
        source=Source(),
        metadata=metadata,
        superseded_by=None,
        access_count=0,
        accessed_at=None,
    )
