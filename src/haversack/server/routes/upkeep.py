"""Upkeep of a namespace: ageing previewed or carried out, runs, undoing them, near duplicates folded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Path
from pydantic import Field, JsonValue
from starlette.responses import Response
from typing_extensions import TypedDict

from haversack.engine.jobs import Progress, Work
from haversack.engine.namespace import Namespace
from haversack.server.caller import AdminNs, ReadNs, WriteNs
from haversack.server.routes.declare import PROBLEMS, problems
from haversack.server.shapes import Body, JobShape, answer, job_shape

router = APIRouter(tags=["upkeep"], prefix="/v1/namespaces/{namespace:label}")

RunId = Annotated[str, Path(min_length=1, max_length=64)]
Report = dict[str, JsonValue]


class LifecycleBody(Body):
    """Ageing: a preview unless `execute` is true."""

    execute: bool = False


class FoldBody(Body):
    """Near duplicates: a preview unless `preview` is false."""

    threshold: Annotated[float, Field(ge=0, le=1)] = 0.9
    preview: bool = True


class GroupShape(TypedDict):
    """Memories that say the same, the one that stays first."""

    survivor: str
    folded: list[str]


class Groups(TypedDict):
    """What folds, or with `preview` would fold."""

    preview: bool
    groups: list[GroupShape]


class Reports(TypedDict):
    """Runs of maintenance, oldest first."""

    runs: list[Report]


@router.post(
    "/lifecycle",
    response_model=Report,
    responses={**problems(409), 202: {"description": "A job that carries it out", "model": JobShape}},
)
def lifecycle(here: AdminNs, body: LifecycleBody) -> Response:
    """Preview what is due by the policy; with `execute` a job that does it, and that can be undone by its run."""
    if not body.execute:
        return answer(_report(here.ns.maintenance.lifecycle()))
    job = here.caller.sack.jobs.start("lifecycle", here.ns.name, _ageing(here.ns), asked_by=here.caller.key.id)
    here.note("lifecycle", now=True)
    return answer(job_shape(job), status=202, headers={"location": f"/v1/jobs/{job.id}"})


@router.get("/runs", response_model=Reports, responses=PROBLEMS)
def list_runs(here: ReadNs) -> Response:
    """What maintenance did here, oldest first."""
    return answer(Reports(runs=[_report(run) for run in here.ns.maintenance.runs()]))


@router.post("/runs/{run_id:label}/recover", response_model=Report, responses=problems(409))
def recover_run(here: AdminNs, run_id: RunId) -> Response:
    """Reconcile an interrupted run from its journal."""
    done = here.ns.maintenance.recover(run_id)
    here.note("recover run", now=True)
    return answer(_report(done))


@router.post("/runs/{run_id:label}/undo", response_model=Report, responses=problems(409))
def undo_run(here: AdminNs, run_id: RunId) -> Response:
    """Put back what a run changed, except what somebody changed since or what was erased for good."""
    done = here.ns.maintenance.undo(run_id)
    here.note("undo run", ids=done.restored, now=True)
    return answer(_report(done))


@router.post("/fold", response_model=Groups, responses=problems(409))
def fold(here: WriteNs, body: FoldBody) -> Response:
    """Fold near duplicates into the best of them; `restore` unfolds one."""
    found = here.ns.fold(threshold=body.threshold, preview=body.preview)
    if not body.preview:
        here.note("fold", ids=[one for group in found for one in group.folded])
    groups = [GroupShape(survivor=group.survivor, folded=list(group.folded)) for group in found]
    return answer(Groups(preview=body.preview, groups=groups))


def _ageing(ns: Namespace) -> Work:
    def work(progress: Progress) -> Mapping[str, Any]:
        progress(0)
        done = ns.maintenance.lifecycle(execute=True)
        return {"run": done.run, "looked_at": done.looked_at, "counts": dict(done.counts)}

    return work


def _report(value: object) -> Report:
    """An engine's report as JSON; it holds ids, counts and reasons."""
    return json.loads(msgspec.json.encode(value))
