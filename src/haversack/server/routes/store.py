"""The store as a whole, for admins whose key reaches every namespace: how it is, and its snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response
from typing_extensions import TypedDict

from haversack.engine.haversack import Haversack
from haversack.engine.jobs import Progress, Work
from haversack.maintenance.snapshot import Snapshot
from haversack.server.caller import AdminCaller
from haversack.server.routes.declare import StrictRoute, problems
from haversack.server.routes.upkeep import Report, report
from haversack.server.shapes import JobShape, Moment, answer, job_shape

router = APIRouter(route_class=StrictRoute, tags=["store"], prefix="/v1")


class SnapshotShape(TypedDict):
    """A snapshot, in the store's own folder of them."""

    name: str
    taken_at: Moment
    size: int
    sha256: str
    only: str | None
    reason: str


class Snapshots(TypedDict):
    """Those that are known and there, oldest first."""

    snapshots: list[SnapshotShape]


@router.get("/store/health", response_model=Report, responses=problems(409))
def store_health(caller: AdminCaller) -> Response:
    """How the store is, and what it asks for. Reads every memory once."""
    caller.reach_all()
    return answer({**report(caller.sack.maintenance.health()), "replaced_store": None})


@router.get("/snapshots", response_model=Snapshots, responses=problems(409))
def list_snapshots(caller: AdminCaller) -> Response:
    """The snapshots in the store's own folder."""
    caller.reach_all()
    return answer(Snapshots(snapshots=[_shape(one) for one in caller.sack.maintenance.snapshots()]))


@router.post("/snapshots", response_model=JobShape, status_code=202, responses=problems(409))
def take_snapshot(caller: AdminCaller) -> Response:
    """Take a consistent, verified copy while others go on writing; the answer is a job to watch."""
    caller.reach_all()
    job = caller.sack.jobs.start("snapshot", "*", _taking(caller.sack), asked_by=caller.key.id, upkeep=True)
    caller.note("snapshot", now=True)
    return answer(job_shape(job), status=202, headers={"location": f"/v1/jobs/{job.id}"})


def _taking(sack: Haversack) -> Work:
    def work(progress: Progress) -> Mapping[str, Any]:
        progress(0)
        return dict(_shape(sack.maintenance.snapshot(reason="asked for over HTTP")))

    return work


def _shape(one: Snapshot) -> SnapshotShape:
    return SnapshotShape(
        name=one.path.name,
        taken_at=one.manifest.taken_at.isoformat(),
        size=one.size,
        sha256=one.manifest.sha256,
        only=one.manifest.only,
        reason=one.manifest.reason,
    )
