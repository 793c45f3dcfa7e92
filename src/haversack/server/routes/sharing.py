"""Proposals: asking that a memory be copied into a shared namespace, and deciding it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response
from typing_extensions import TypedDict

from haversack.lifecycle.proposals import Proposal
from haversack.server.caller import In, ReadNs, WriteNs
from haversack.server.requests import Body, Id, Label
from haversack.server.routes.declare import PROBLEMS, StrictRoute, problems
from haversack.server.shapes import MemoryShape, Moment, answer, memory_shape

router = APIRouter(route_class=StrictRoute, tags=["sharing"], prefix="/v1/namespaces/{namespace:label}/proposals")

ProposalId = Annotated[str, Path(min_length=1, max_length=64)]


class ProposalBody(Body):
    """Which memory to share with whom."""

    memory_id: Id
    shared: Label
    """The namespace that it would be copied into; the key must reach it."""


class ProposalShape(TypedDict):
    """A proposal as it stands."""

    id: str
    memory_id: str
    private: str
    shared: str
    author: str
    at: Moment
    standing: str
    decided_by: str | None
    decided_at: Moment | None


class Proposals(TypedDict):
    """Oldest first."""

    proposals: list[ProposalShape]


class DecidedShape(TypedDict):
    """A decision, and the copy where it was accepted and the memory is still there."""

    proposal: ProposalShape
    memory: MemoryShape | None


@router.get("", response_model=Proposals, responses=PROBLEMS)
def list_proposals(here: ReadNs) -> Response:
    """Proposals that come from this namespace, and those that would bring something into it."""
    return answer(Proposals(proposals=[_shape(one) for one in here.ns.maintenance.proposals()]))


@router.post("", response_model=ProposalShape, status_code=201, responses=problems(409))
def propose(here: WriteNs, body: ProposalBody) -> Response:
    """Ask that a memory of this namespace be copied into a shared one."""
    here.caller.reach([body.shared])
    made = here.ns.maintenance.propose(body.memory_id, shared=body.shared, author=here.caller.key.id)
    here.note("propose", ids=[body.memory_id], now=True)
    return answer(_shape(made), status=201)


@router.post("/{proposal_id:label}/accept", response_model=DecidedShape, responses=problems(409))
def accept_proposal(here: WriteNs, proposal_id: ProposalId) -> Response:
    """Copy the memory into this namespace; the copy says where it came from, who proposed and who accepted it."""
    return _decide(here, proposal_id, accept=True)


@router.post("/{proposal_id:label}/reject", response_model=DecidedShape, responses=problems(409))
def reject_proposal(here: WriteNs, proposal_id: ProposalId) -> Response:
    """Say no to a proposal to this namespace."""
    return _decide(here, proposal_id, accept=False)


def _decide(here: In, proposal_id: str, *, accept: bool) -> Response:
    proposal, copy = here.ns.maintenance.decide(proposal_id, accept=accept, by=here.caller.key.id)
    here.note("accept proposal" if accept else "reject proposal", ids=[copy.id] if copy else (), now=True)
    return answer(DecidedShape(proposal=_shape(proposal), memory=None if copy is None else memory_shape(copy)))


def _shape(one: Proposal) -> ProposalShape:
    return ProposalShape(
        id=one.asked.proposal,
        memory_id=one.asked.memory,
        private=one.asked.private,
        shared=one.asked.shared,
        author=one.asked.author,
        at=one.asked.at.isoformat(),
        standing=one.standing,
        decided_by=one.decided_by,
        decided_at=None if one.decided_at is None else one.decided_at.isoformat(),
    )
