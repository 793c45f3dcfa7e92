"""Namespaces: which there are, how much they hold, everything out and in, and what changes in them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response, StreamingResponse
from typing_extensions import TypedDict

from haversack.server.caller import In, ReadCaller, ReadNs, WriteNs
from haversack.server.routes.declare import PROBLEMS, Responses, StrictRoute, problems
from haversack.server.shapes import CensusShape, JobShape, answer, census_shape, job_shape
from haversack.server.upload import Upload
from haversack.server.work import import_upload
from haversack.transfer import FORMATS

router = APIRouter(route_class=StrictRoute, tags=["namespaces"], prefix="/v1")
inside = APIRouter(route_class=StrictRoute, tags=["namespaces"], prefix="/v1/namespaces/{namespace:label}")

_LOOK_EVERY = 0.25
_STILL_HERE_EVERY = 15.0
_EVENTS: Responses = {200: {"description": "Server-sent events", "content": {"text/event-stream": {}}}}
_LINES: Responses = {200: {"description": "Lines of JSON", "content": {"application/x-ndjson": {}}}}


class NamespaceShape(TypedDict):
    """A namespace."""

    name: str


class Namespaces(TypedDict):
    """Those that the key reaches."""

    namespaces: list[NamespaceShape]
    next: str | None


@router.get("/namespaces", response_model=Namespaces, responses=PROBLEMS)
def list_namespaces(
    caller: ReadCaller,
    cursor: Annotated[str, Query(max_length=1000)] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
) -> Response:
    """The namespaces that hold anything and that the key reaches, sorted."""
    reached = caller.sack.namespaces(caller.key.namespaces, after=cursor, limit=limit + 1)
    page = reached[:limit]
    return answer(
        Namespaces(
            namespaces=[NamespaceShape(name=name) for name in page], next=page[-1] if len(reached) > limit else None
        )
    )


@inside.get("", response_model=CensusShape, responses=PROBLEMS)
def get_namespace(here: ReadNs) -> Response:
    """Exact counts of what it holds; `unembedded` have no vector of the present embedder."""
    return answer(census_shape(here.ns.name, here.ns.stats(), here.ns.unembedded()))


@inside.get("/export", responses={**PROBLEMS, **_LINES})
def export(here: ReadNs) -> Response:
    """Everything in it as lines of JSON; importing them elsewhere gives an equal namespace."""
    here.note("export", now=True)
    return StreamingResponse(here.caller.sack.threads.each(here.ns.take_out()), media_type="application/x-ndjson")


@inside.post(
    "/import",
    response_model=JobShape,
    status_code=202,
    responses=problems(409),
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string"}}}}
    },
)
async def import_file(
    here: WriteNs,
    request: Request,
    form: Annotated[str | None, Query(alias="format", pattern=f"^({'|'.join(FORMATS)})$")] = None,
    name: Annotated[str, Query(max_length=100, pattern=r"^[A-Za-z0-9._ -]*$")] = "upload.json",
) -> Response:
    """Take in a chat export, a memory dump or a document, sent as the body; the answer is a job to watch.

    What is there already is not added again; a memory in other words replaces the one of its id, whose history keeps
    them. A policy, and more trust for a memory that is there, take an admin's key. `name` helps to find out the format;
    it is no path.
    """
    sack = here.caller.sack
    upload = Upload(sack.folder)
    try:
        async for chunk in request.stream():
            await sack.threads.run(upload.write, chunk)
        limits = request.app.state.settings.imports
        work = import_upload(here, upload, f"upload{_suffix(name)}", form, limits)
        start = partial(sack.jobs.start, asked_by=here.caller.key.id, unused=upload.close)
        job = await sack.threads.run(start, "import", here.ns.name, work)
    except BaseException:
        upload.close()
        raise
    await sack.threads.run(here.note, "import", now=True)
    return answer(job_shape(job), status=202, headers={"location": f"/v1/jobs/{job.id}"})


@inside.post("/reembed", response_model=JobShape, status_code=202, responses=problems(409))
def reembed(here: WriteNs) -> Response:
    """Embed the memories that have no vector of the present embedder; the answer is a job to watch."""
    job = here.caller.sack.jobs.start("reembed", here.ns.name, here.ns.reembed, asked_by=here.caller.key.id)
    here.note("reembed")
    return answer(job_shape(job), status=202, headers={"location": f"/v1/jobs/{job.id}"})


@inside.get("/events", responses={**PROBLEMS, **_EVENTS})
async def events(
    here: ReadNs,
    request: Request,
    last_event_id: Annotated[str, Header(pattern="^[0-9]{0,18}$")] = "",
) -> Response:
    """What changes in the namespace, as it happens: ids and what became of them, never words.

    Begins after `Last-Event-ID` (nothing is missed), or with what comes next.
    """
    start = int(last_event_id) if last_event_id else await here.caller.sack.threads.run(here.ns.sequence)
    return StreamingResponse(
        _event_lines(here, request.app.state.stopping, start),
        media_type="text/event-stream",
        headers={"cache-control": "no-cache", "x-accel-buffering": "no"},
    )


async def _event_lines(here: In, stopping: asyncio.Event, after: int) -> AsyncGenerator[str]:
    """Events from the change sequence, until the client goes or the server stops."""
    yield ": connected\n\n"
    silent = 0.0
    while not stopping.is_set():
        page = await here.caller.sack.threads.run(here.ns.changes, after)
        for change in page.memories:
            yield _event(
                "memory",
                change.changed,
                {
                    "type": "memory",
                    "namespace": here.ns.name,
                    "id": change.id,
                    "kind": change.kind,
                    "stage": change.stage,
                },
            )
        for erased in page.erased:
            yield _event("erased", page.upto, {"type": "erased", "namespace": here.ns.name, "id": erased})
        silent = 0.0 if page.upto > after else silent + _LOOK_EVERY
        after = page.upto
        if silent >= _STILL_HERE_EVERY:
            silent = 0.0
            yield ": still here\n\n"
        if not page.more and await _stopped(stopping):
            return


async def _stopped(stopping: asyncio.Event) -> bool:
    try:
        await asyncio.wait_for(stopping.wait(), _LOOK_EVERY)
    except TimeoutError:
        return False
    return True


def _event(kind: str, number: int, data: dict[str, Any]) -> str:
    return f"id: {number}\nevent: {kind}\ndata: {json.dumps(data)}\n\n"


def _suffix(name: str) -> str:
    return FilePath(name).suffix[:10] if name not in {"", ".", ".."} else ""
