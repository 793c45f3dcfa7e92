"""Jobs: long work, its progress, and cancelling it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response, StreamingResponse
from typing_extensions import TypedDict

from haversack.engine.jobs import Job
from haversack.engine.keys import Scope
from haversack.errors import NotFoundError
from haversack.server.caller import Caller, ReadCaller, WriteCaller
from haversack.server.routes.declare import PROBLEMS, StrictRoute
from haversack.server.shapes import JobShape, answer, job_shape

router = APIRouter(route_class=StrictRoute, tags=["jobs"], prefix="/v1/jobs")

JobId = Annotated[str, Path(min_length=1, max_length=64)]
_LOOK_EVERY = 0.25


class Jobs(TypedDict):
    """Jobs, oldest first."""

    jobs: list[JobShape]


@router.get("", response_model=Jobs, responses=PROBLEMS)
def list_jobs(caller: ReadCaller, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> Response:
    """The latest jobs in namespaces that the key reaches, oldest first."""
    return answer(Jobs(jobs=[job_shape(job) for job in caller.sack.jobs.all(caller.key.namespaces, limit=limit)]))


@router.get("/{job_id:label}", response_model=JobShape, responses=PROBLEMS)
def get_job(caller: ReadCaller, job_id: JobId) -> Response:
    """One job."""
    return answer(job_shape(_job(caller, job_id, Scope.READ)))


@router.delete("/{job_id:label}", response_model=JobShape, responses=PROBLEMS)
def cancel_job(caller: WriteCaller, job_id: JobId) -> Response:
    """Ask a job to stop; what it has done so far is kept."""
    job = _job(caller, job_id, Scope.WRITE)
    caller.note("cancel job", job.namespace)
    return answer(job_shape(caller.sack.jobs.cancel(job_id)))


@router.get(
    "/{job_id:label}/events",
    responses={**PROBLEMS, 200: {"description": "Server-sent events", "content": {"text/event-stream": {}}}},
)
async def job_events(caller: ReadCaller, request: Request, job_id: JobId) -> Response:
    """A job's progress as it happens, until it is over."""
    job = await caller.sack.threads.run(_job, caller, job_id, Scope.READ)
    return StreamingResponse(
        _progress(caller, job, request.app.state.stopping),
        media_type="text/event-stream",
        headers={"cache-control": "no-cache", "x-accel-buffering": "no"},
    )


async def _progress(caller: Caller, job: Job, stopping: asyncio.Event) -> AsyncGenerator[str]:
    told: Job | None = None
    while not stopping.is_set():
        if job != told:
            yield f"event: {job.state}\ndata: {json.dumps(job_shape(job))}\n\n"
            told = job
        if job.state.is_over:
            return
        try:
            await asyncio.wait_for(stopping.wait(), _LOOK_EVERY)
        except TimeoutError:
            job = await caller.sack.threads.run(caller.sack.jobs.get, job.id)


def _job(caller: Caller, job_id: str, scope: Scope) -> Job:
    """The job; one of a namespace that the key does not reach does not exist for it."""
    caller.need(scope)
    job = caller.sack.jobs.get(job_id)
    if not caller.key.reaches(job.namespace):
        raise NotFoundError(f"no job {job_id!r}")
    return job
