"""Reading what sessions said for facts and the like, and what model calls for memory work cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response
from typing_extensions import TypedDict

from haversack.compaction.extraction.extractor import Extracted
from haversack.engine.jobs import Progress, Work
from haversack.engine.namespace import Namespace
from haversack.errors import NotFoundError
from haversack.llm.cost import GROUPINGS, total_by
from haversack.server.caller import ReadNs, WriteNs
from haversack.server.requests import Body, Label, UntilQuery
from haversack.server.routes.declare import PROBLEMS, StrictRoute, problems
from haversack.server.shapes import JobShape, answer, job_shape

router = APIRouter(route_class=StrictRoute, tags=["extraction and costs"], prefix="/v1/namespaces/{namespace:label}")


class ExtractBody(Body):
    """Which session to read; all of them without it."""

    session: Label | None = None


class UnreadShape(TypedDict):
    """A session with turns that were not read."""

    session: str
    turns: int


class Unread(TypedDict):
    """What an extraction would read, oldest session first."""

    sessions: list[UnreadShape]
    turns: int


class CostShape(TypedDict):
    """Calls of models that have something in common."""

    name: str
    calls: int
    input_tokens: int
    output_tokens: int
    dollars: float


class Costs(TypedDict):
    """What calls of models for memory work took."""

    costs: list[CostShape]
    total: CostShape
    unpriced: list[str]
    """Models without a price in the settings: they count as no dollars."""
    estimated: int
    """Calls whose service reported no usage; their tokens were counted here."""


@router.get("/extract", response_model=Unread, responses=PROBLEMS)
def preview_extraction(here: ReadNs) -> Response:
    """The turns that an extraction would read now."""
    waiting = _waiting(here.ns, None)
    rows = [UnreadShape(session=name, turns=count) for name, count in waiting.items()]
    return answer(Unread(sessions=rows, turns=sum(waiting.values())))


@router.post("/extract", response_model=JobShape, status_code=202, responses=problems(409))
def extract(here: WriteNs, body: ExtractBody) -> Response:
    """Read the unread turns for facts, preferences, decisions and the like; the answer is a job to watch."""
    sessions = list(_waiting(here.ns, body.session))
    work = _reading(here.ns, sessions)
    job = here.caller.sack.jobs.start("extract", here.ns.name, work, asked_by=here.caller.key.id)
    here.note("extract", session=body.session, count=len(sessions))
    return answer(job_shape(job), status=202, headers={"location": f"/v1/jobs/{job.id}"})


@router.get("/costs", response_model=Costs, responses=PROBLEMS)
def get_costs(
    here: ReadNs,
    by: Annotated[str, Query(pattern=f"^({'|'.join(GROUPINGS)})$")] = "purpose",
    since: Annotated[str | None, Query(max_length=100)] = None,
    until: UntilQuery = None,
) -> Response:
    """What calls of models for memory work took: tokens, and dollars where the settings have prices."""
    calls = here.ns.costs(since=since, until=until)
    rows = [_cost(name, told) for name, told in sorted(total_by(calls, GROUPINGS[by]).items())]
    whole = total_by(calls, lambda _: "all").get("all", (0, 0, 0, 0.0))
    return answer(
        Costs(
            costs=rows,
            total=_cost("all", whole),
            unpriced=sorted({call.model for call in calls if call.dollars is None}),
            estimated=sum(call.estimated for call in calls),
        )
    )


def _waiting(ns: Namespace, only: str | None) -> dict[str, int]:
    """Sessions with unread turns and how many, oldest first."""
    names = [info.id for info in reversed(ns.sessions())]
    if only is not None and only not in names:
        raise NotFoundError(f"no session {only!r} in namespace {ns.name!r}")
    counts = {name: ns.session(name).unread() for name in names if only in (None, name)}
    return {name: count for name, count in counts.items() if count}


def _reading(ns: Namespace, sessions: Sequence[str]) -> Work:
    def work(progress: Progress) -> Mapping[str, Any]:
        done, errors = Extracted(), dict[str, list[str]]()
        for place, name in enumerate(sessions):
            progress(place, len(sessions))
            read = ns.session(name).extract()
            done += read
            if read.errors:
                errors[name] = list(read.errors)
        return {
            "sessions": len(sessions),
            "turns": done.turns,
            "added": len(done.added),
            "ended": len(done.ended),
            "refused": len(done.skipped),
            "errors": errors,
        }

    return work


def _cost(name: str, told: tuple[int, int, int, float]) -> CostShape:
    calls, given, made, dollars = told
    return CostShape(name=name, calls=calls, input_tokens=given, output_tokens=made, dollars=dollars)
