"""Memories: keep, list, read, change, forget, bring back."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query
from starlette.responses import Response
from typing_extensions import TypedDict

from haversack.engine.erasing import scope_to_forget
from haversack.engine.forgetting import Forgotten
from haversack.engine.keys import Scope
from haversack.engine.receipts import Receipt
from haversack.errors import InputError
from haversack.guard.refusal import Refused
from haversack.model.memory import Kind, Memory
from haversack.server.caller import In, ReadNs, WriteNs
from haversack.server.requests import (
    Body,
    FeedbackBody,
    ForgetBody,
    MemoriesBody,
    MemoryBody,
    MemoryChanges,
    UntilQuery,
)
from haversack.server.routes.declare import PROBLEMS, StrictRoute, problems
from haversack.server.shapes import MemoryShape, Moment, answer, memory_shape

router = APIRouter(route_class=StrictRoute, tags=["memories"], prefix="/v1/namespaces/{namespace:label}")

_FORGET_FLAGS = ("everything", "hard", "preview", "snapshots")

MemoryId = Annotated[str, Path(min_length=1, max_length=64)]
IdempotencyKey = Annotated[str | None, Header(min_length=1, max_length=255, pattern="^[!-~]+$")]


class Memories(TypedDict):
    """Memories in the order in which they were sent."""

    memories: list[MemoryShape]


class MemoryPage(TypedDict):
    """A page; ask for the next one with `cursor`."""

    memories: list[MemoryShape]
    next: str | None


class EarlierShape(TypedDict):
    """What an edit replaced."""

    at: Moment
    fields: dict[str, object]


class VoteShape(TypedDict):
    """A vote and what it did to the memory's importance."""

    signal: str
    at: Moment
    before: float
    after: float


class History(TypedDict):
    """What a memory was before its edits, and the votes on it."""

    earlier: list[EarlierShape]
    votes: list[VoteShape]


class ForgottenShape(TypedDict):
    """What was removed, or with `preview` what would be."""

    namespace: str
    hard: bool
    preview: bool
    memories: list[str]
    derived: list[str]
    turns: list[str]
    everything: bool
    at: Moment | None
    certificate: str
    scrubbed: bool
    """Whether erased bytes are gone from the store's files; the server goes on while a reader holds them."""
    snapshots: list[str]
    """The store's snapshots that may still hold what was forgotten for good."""


@router.post("/memories", response_model=MemoryShape, status_code=201, responses=problems(409))
def remember(here: WriteNs, body: MemoryBody, idempotency_key: IdempotencyKey = None) -> Response:
    """Keep one thing; durable when this answers. What is remembered already is answered as it is."""
    kept = _keep(here, idempotency_key, body, lambda: here.ns.remember_many([body.given()]))
    return answer(memory_shape(kept[0]), status=201, headers={"etag": f'"{kept[0].changed}"'})


@router.post("/memories/batch", response_model=Memories, status_code=201, responses=problems(409))
def remember_many(here: WriteNs, body: MemoriesBody, idempotency_key: IdempotencyKey = None) -> Response:
    """Keep many in one transaction."""
    drafts = [one.given() for one in body.memories]
    kept = _keep(here, idempotency_key, body, lambda: here.ns.remember_many(drafts))
    return answer(Memories(memories=[memory_shape(one) for one in kept]), status=201)


@router.get("/memories", response_model=MemoryPage, responses=PROBLEMS)
def list_memories(
    here: ReadNs,
    cursor: Annotated[str, Query(pattern="^[0-9]{0,18}$")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    kind: Annotated[list[Kind] | None, Query(max_length=20)] = None,
    tag: Annotated[list[str] | None, Query(max_length=50)] = None,
    session: Annotated[str | None, Query(min_length=1, max_length=1000)] = None,
    since: Annotated[str | None, Query(max_length=100)] = None,
    until: UntilQuery = None,
) -> Response:
    """Memories in the order of their last change, page by page; nothing is missed, whatever changes meanwhile."""
    found = here.ns.page(
        after=int(cursor or 0), limit=limit, kinds=kind, tags=tag, session=session, since=since, until=until
    )
    here.note("list", count=len(found.memories))
    return answer(
        MemoryPage(
            memories=[memory_shape(one) for one in found.memories], next=None if found.next is None else str(found.next)
        )
    )


@router.get("/memories/{memory_id:label}", response_model=MemoryShape, responses=problems(304))
def get_memory(
    here: ReadNs, memory_id: MemoryId, if_none_match: Annotated[str | None, Header(max_length=100)] = None
) -> Response:
    """One memory, with an ETag."""
    memory = here.ns.get(memory_id)
    etag = f'"{memory.changed}"'
    here.note("read", ids=[memory_id])
    if if_none_match == etag:
        return Response(status_code=304, headers={"etag": etag})
    return answer(memory_shape(memory), headers={"etag": etag})


@router.get("/memories/{memory_id:label}/history", response_model=History, responses=PROBLEMS)
def get_history(here: ReadNs, memory_id: MemoryId) -> Response:
    """What a memory was before its edits, and the votes on it."""
    here.ns.get(memory_id)
    here.note("read", ids=[memory_id])
    earlier = [EarlierShape(at=one.at.isoformat(), fields=dict(one.fields)) for one in here.ns.earlier(memory_id)]
    votes = [
        VoteShape(signal=one.signal, at=one.at.isoformat(), before=one.before, after=one.after)
        for one in here.ns.votes(memory_id)
    ]
    return answer(History(earlier=earlier, votes=votes))


@router.patch("/memories/{memory_id:label}", response_model=MemoryShape, responses=problems(409, 412))
def edit_memory(
    here: WriteNs,
    memory_id: MemoryId,
    body: MemoryChanges,
    if_match: Annotated[str | None, Header(max_length=100)] = None,
) -> Response:
    """Change fields; the earlier wording is kept. With If-Match, only if nobody changed it since."""
    expected = None if if_match in (None, "*") else _etag(if_match or "")
    if expected is not None and here.ns.get(memory_id).changed != expected:
        raise Refused(412, "PRECONDITION_FAILED", "the memory was changed by somebody else: read it again")
    memory = here.ns.edit(memory_id, expected=expected, **body.given())
    here.note("edit", ids=[memory_id])
    return answer(memory_shape(memory), headers={"etag": f'"{memory.changed}"'})


@router.delete("/memories/{memory_id:label}", response_model=ForgottenShape, responses=PROBLEMS)
def forget_memory(here: WriteNs, memory_id: MemoryId, *, hard: bool = False) -> Response:
    """Forget one memory: hidden until it is restored, or with `hard` gone from every file of the store."""
    done = here.ns.forget(memory_id, hard=hard)
    here.note("forget for good" if hard else "forget", ids=(*done.memories, *done.derived), now=True)
    return answer(_forgotten(here, done))


@router.post("/memories/{memory_id:label}/restore", response_model=MemoryShape, responses=PROBLEMS)
def restore_memory(here: WriteNs, memory_id: MemoryId) -> Response:
    """Undo a soft forget, a fold or a merge."""
    memory = here.ns.get(memory_id)
    memory = here.ns.unfold(memory_id) if memory.superseded_by else here.ns.restore(memory_id)[0]
    here.note("restore", ids=[memory_id])
    return answer(memory_shape(memory))


@router.post("/memories/{memory_id:label}/feedback", response_model=VoteShape, responses=problems(409))
def give_feedback(here: WriteNs, memory_id: MemoryId, body: FeedbackBody) -> Response:
    """Vote on a memory: its importance moves a little."""
    vote = here.ns.vote(memory_id, body.signal)
    here.note("vote", ids=[memory_id])
    return answer(VoteShape(signal=vote.signal, at=vote.at.isoformat(), before=vote.before, after=vote.after))


@router.post("/forget", response_model=ForgottenShape, responses=problems(409))
def forget(here: WriteNs, body: ForgetBody) -> Response:
    """Forget by ids, by filters, or everything. A preview unless `preview` is false.

    Everything takes an admin's key, and so does `hard` with a filter other than the session alone, or for more than a
    hundred memories.
    """
    chosen = {name: value for name, value in body.given().items() if name not in {"ids", *_FORGET_FLAGS}}
    if body.snapshots and not body.hard:
        raise InputError("snapshots=true goes with hard=true: a soft forget leaves snapshots as they are")
    here.caller.need(
        Scope.ADMIN
        if body.snapshots
        else scope_to_forget(
            here.ns,
            hard=body.hard,
            preview=body.preview,
            everything=body.everything,
            ids=body.ids or (),
            conditions=chosen,
        )
    )
    done = here.ns.forget(body.ids, hard=body.hard, preview=body.preview, everything=body.everything, **chosen)
    if not body.preview:
        here.note("forget for good" if body.hard else "forget", ids=(*done.memories, *done.derived), now=True)
    if body.snapshots and not body.preview:
        done = here.caller.sack.maintenance.forget_in_snapshots(done)
    return answer(_forgotten(here, done))


def _keep(here: In, key: str | None, body: Body, act: Callable[[], Sequence[Memory]]) -> Sequence[Memory]:
    """The memories of one write; with an idempotency key, of the first of its kind."""
    kept: list[Memory] = []

    def acted() -> Receipt:
        kept.extend(act())
        return Receipt(ids=tuple(memory.id for memory in kept))

    if key is None:
        acted()
    else:
        request = json.dumps([type(body).__name__, body.model_dump(mode="json")], sort_keys=True).encode()
        done = here.ns.once(f"{here.caller.key.id}:{key}", request, acted)
        if done.repeated:
            return [here.ns.get(memory_id) for memory_id in done.receipt.ids]
    here.note("remember", ids=[memory.id for memory in kept])
    return kept


def _etag(text: str) -> int:
    stripped = text.strip('"')
    if not stripped.isascii() or not stripped.isdigit():
        raise Refused(412, "PRECONDITION_FAILED", "If-Match must be an ETag that this server gave")
    return int(stripped)


def _forgotten(here: In, done: Forgotten) -> ForgottenShape:
    is_gone = done.hard and not done.preview
    holding = here.caller.sack.maintenance.still_holding(done) if is_gone else ()
    return ForgottenShape(
        namespace=done.namespace,
        hard=done.hard,
        preview=done.preview,
        memories=list(done.memories),
        derived=list(done.derived),
        turns=list(done.turns),
        everything=done.everything,
        at=None if done.at is None else done.at.isoformat(),
        certificate=done.certificate,
        scrubbed=done.scrubbed,
        snapshots=[each.path.name for each in holding],
    )
