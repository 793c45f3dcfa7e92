"""Sessions: conversations and their turns."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.responses import Response
from typing_extensions import TypedDict

from haversack.engine.receipts import Receipt
from haversack.errors import InputError
from haversack.guard.refusal import Refused
from haversack.model.memory import Turn
from haversack.server.caller import ReadNs, WriteNs
from haversack.server.requests import TurnBody, TurnsBody
from haversack.server.routes.declare import PROBLEMS, StrictRoute, problems
from haversack.server.routes.memories import IdempotencyKey
from haversack.server.settings import MOST_TEXT
from haversack.server.shapes import SessionShape, TurnShape, answer, session_shape, turn_shape

router = APIRouter(route_class=StrictRoute, tags=["sessions"], prefix="/v1/namespaces/{namespace:label}/sessions")

SessionId = Annotated[str, Path(min_length=1, max_length=1000)]


class Sessions(TypedDict):
    """Conversations, the most recent first."""

    sessions: list[SessionShape]
    next: str | None


class Turns(TypedDict):
    """Turns in the order in which they were said; ask for more with `after`."""

    turns: list[TurnShape]
    next: str | None


@router.get("", response_model=Sessions, responses=PROBLEMS)
def list_sessions(
    here: ReadNs,
    cursor: Annotated[str, Query(max_length=1000)] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """Conversations, the most recent first."""
    found = here.ns.sessions()
    start = next((index + 1 for index, info in enumerate(found) if info.id == cursor), 0)
    if cursor and not start:
        raise InputError("the cursor names no session here: begin again without one")
    page = found[start : start + limit]
    here.note("list sessions", count=len(page))
    more = start + limit < len(found)
    return answer(Sessions(sessions=[session_shape(one) for one in page], next=page[-1].id if more else None))


@router.get("/{session:label}/turns", response_model=Turns, responses=PROBLEMS)
def list_turns(
    here: ReadNs,
    session: SessionId,
    after: Annotated[int, Query(ge=-1, le=2**53)] = -1,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """The turns of a conversation."""
    found = here.ns.session(session).turns(after=after, limit=limit + 1)
    page = found[:limit]
    here.note("read turns", session=session, count=len(page))
    more = len(found) > limit
    return answer(Turns(turns=[turn_shape(one) for one in page], next=str(page[-1].position) if more else None))


@router.post("/{session:label}/turns", response_model=Turns, status_code=201, responses=problems(409))
def add_turns(here: WriteNs, session: SessionId, body: TurnsBody, idempotency_key: IdempotencyKey = None) -> Response:
    """Append turns in one transaction; they are recallable when this answers."""
    said = [_message(one) for one in body.turns]
    conversation = here.ns.session(session)
    added: list[Turn] = []

    def act() -> Receipt:
        added.extend(conversation.extend(said))
        return Receipt(ids=tuple(str(turn.position) for turn in added))

    if idempotency_key is None:
        act()
    else:
        request = json.dumps([session, body.model_dump(mode="json")], sort_keys=True).encode()
        done = here.ns.once(f"{here.caller.key.id}:{idempotency_key}", request, act)
        if done.repeated and done.receipt.ids:
            places = [int(place) for place in done.receipt.ids]
            added = conversation.turns(after=places[0] - 1, limit=len(places))
    here.note("add turns", session=session, count=len(added))
    return answer(Turns(turns=[turn_shape(one) for one in added], next=None), status=201)


def _message(turn: TurnBody) -> dict[str, Any]:
    """The turn in the shape of chat APIs; its words have a limit."""
    given = {name: value for name, value in turn.model_dump().items() if value is not None or name == "content"}
    if len(json.dumps(given.get("content"), ensure_ascii=False)) > MOST_TEXT * 4:
        raise Refused(413, "PAYLOAD_TOO_LARGE", f"a turn may have about {MOST_TEXT * 4:,} characters")
    return given
