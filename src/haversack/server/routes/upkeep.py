"""Upkeep of a namespace: ageing previewed or carried out, runs, undoing them, near duplicates folded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Annotated, Any, cast

import msgspec
from fastapi import APIRouter, Path
from pydantic import Field, JsonValue
from starlette.responses import Response
from typing_extensions import TypedDict

from haversack.engine.jobs import Progress, Work
from haversack.engine.namespace import Namespace
from haversack.server.caller import AdminNs, ReadNs, WriteNs
from haversack.server.requests import Body
from haversack.server.routes.declare import PROBLEMS, StrictRoute, problems
from haversack.server.shapes import JobShape, answer, job_shape

__all__ = ["Report", "report", "router"]

router = APIRouter(route_class=StrictRoute, tags=["upkeep"], prefix="/v1/namespaces/{namespace:label}")

RunId = Annotated[str, Path(min_length=1, max_length=64)]
Report = dict[str, JsonValue]


class LifecycleBody(Body):
    """Ageing: a preview unless `execute` is true."""

    execute: bool = False
    flush: bool = False
    """Whether a preview counts noted uses into the memories first; carrying it out always does."""


class ReorganizeBody(Body):
    """Backup, analyze, dedupe, prune, synthesize, verify, or only some of these: a preview unless `execute` is true."""

    steps: Annotated[list[Annotated[str, Field(max_length=50)]], Field(max_length=20)] | None = None
    execute: bool = False


class ResetBody(Body):
    """Erasing a namespace for good: a preview unless `execute` is true and `confirm` is its name."""

    execute: bool = False
    confirm: Annotated[str, Field(max_length=1000)] | None = None
    snapshot: bool = True
    """Whether a snapshot is taken first."""


class TrimmedShape(TypedDict):
    """An important memory that contexts keep leaving out."""

    memory_id: str
    importance: float
    trimmed: int
    carried: int
    budget: int
    needed: int
    advice: str


class TrimmedList(TypedDict):
    """The worst first."""

    trimmed: list[TrimmedShape]


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


class RunSteps(TypedDict):
    """Steps of a run, in their order."""

    steps: list[Report]


@router.post(
    "/lifecycle",
    response_model=Report,
    responses={**problems(409), 202: {"description": "A job that carries it out", "model": JobShape}},
)
def lifecycle(here: AdminNs, body: LifecycleBody) -> Response:
    """Preview what is due by the policy; with `execute` a job that does it, and that can be undone by its run."""
    if not body.execute:
        return answer(report(here.ns.maintenance.lifecycle(flush=body.flush)))
    job = here.caller.sack.jobs.start("lifecycle", here.ns.name, _ageing(here.ns), asked_by=here.caller.key.id)
    here.note("lifecycle", now=True)
    return answer(job_shape(job), status=202, headers={"location": f"/v1/jobs/{job.id}"})


@router.post(
    "/reorganize",
    response_model=Report,
    responses={**problems(409), 202: {"description": "A job that carries it out", "model": JobShape}},
)
def reorganize(here: AdminNs, body: ReorganizeBody) -> Response:
    """Preview what is duplicate, outlived or worth summing up; with `execute` a job that tidies it, backup first."""
    if not body.execute:
        return answer(report(here.ns.maintenance.reorganize(steps=body.steps)))
    work = _reorganizing(here.ns, body.steps)
    job = here.caller.sack.jobs.start("reorganize", here.ns.name, work, asked_by=here.caller.key.id)
    here.note("reorganize", now=True)
    return answer(job_shape(job), status=202, headers={"location": f"/v1/jobs/{job.id}"})


@router.post("/reset", response_model=Report, responses=problems(409))
def reset(here: AdminNs, body: ResetBody) -> Response:
    """Erase the whole namespace for good, after a snapshot; a preview until its name confirms it."""
    done = here.ns.maintenance.reset(execute=body.execute, confirm=body.confirm, snapshot=body.snapshot)
    if body.execute:
        here.note("reset", now=True)
    return answer({**report(done), "snapshot": _name(done.snapshot)})


@router.get("/health", response_model=Report, responses=PROBLEMS)
def namespace_health(here: ReadNs) -> Response:
    """Growth, duplicates, what faded, what is unfinished."""
    return answer(report(here.ns.maintenance.health()))


@router.get("/trimmed", response_model=TrimmedList, responses=PROBLEMS)
def list_trimmed(here: ReadNs) -> Response:
    """Important memories that contexts keep leaving out, with the budget that would carry them."""
    rows = [
        TrimmedShape(
            memory_id=row.memory_id,
            importance=row.importance,
            trimmed=row.trimmed,
            carried=row.carried,
            budget=row.budget,
            needed=row.needed,
            advice=row.advice,
        )
        for row in here.ns.trimmed()
    ]
    return answer(TrimmedList(trimmed=rows))


@router.get("/runs", response_model=Reports, responses=PROBLEMS)
def list_runs(here: ReadNs) -> Response:
    """What maintenance did here, oldest first."""
    return answer(Reports(runs=[report(run) for run in here.ns.maintenance.runs()]))


@router.get("/runs/{run_id:label}", response_model=RunSteps, responses=PROBLEMS)
def get_run(here: ReadNs, run_id: RunId) -> Response:
    """The journal of a run: what each step did to which memory."""
    return answer(RunSteps(steps=[report(step) for step in here.ns.maintenance.steps(run_id)]))


@router.post("/runs/{run_id:label}/recover", response_model=Report, responses=problems(409))
def recover_run(here: AdminNs, run_id: RunId) -> Response:
    """Reconcile an interrupted run from its journal."""
    done = here.ns.maintenance.recover(run_id)
    here.note("recover run", now=True)
    return answer(report(done))


@router.post("/runs/{run_id:label}/undo", response_model=Report, responses=problems(409))
def undo_run(here: AdminNs, run_id: RunId) -> Response:
    """Put back what a run changed, except what somebody changed since or what was erased for good."""
    done = here.ns.maintenance.undo(run_id)
    here.note("undo run", ids=done.restored, now=True)
    return answer(report(done))


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


def _reorganizing(ns: Namespace, steps: list[str] | None) -> Work:
    def work(progress: Progress) -> Mapping[str, Any]:
        progress(0)
        done = ns.maintenance.reorganize(steps=steps, execute=True)
        return {"run": done.run, "told": str(done), "verified": done.verified, "backup": _name(done.backup)}

    return work


def _name(path: str | None) -> str | None:
    """A file's name without the folders above it: where the server keeps its files is not for callers."""
    return None if path is None else PurePath(path).name


def report(value: object) -> Report:
    """An engine's report as JSON; it holds ids, counts and reasons."""
    return json.loads(msgspec.json.encode(value, enc_hook=_plain, order="deterministic"))


def _plain(value: object) -> object:
    """What msgspec does not know by itself: mappings that cannot be changed."""
    if isinstance(value, MappingProxyType):
        return dict(cast("Mapping[str, Any]", value))
    raise TypeError(type(value).__name__)
