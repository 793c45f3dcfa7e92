"""Whether the server lives, its metrics, and who the caller is."""

from __future__ import annotations

from importlib.metadata import version

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response
from typing_extensions import TypedDict

from haversack.engine.haversack import Haversack
from haversack.engine.keys import Scope
from haversack.guard.refusal import Refused
from haversack.server.caller import AdminCaller, ReadCaller
from haversack.server.routes.declare import PROBLEMS, StrictRoute, problems
from haversack.server.shapes import KeyShape, answer, key_shape
from haversack.server.watch import Metrics

_VERSION = version("haversack")

router = APIRouter(route_class=StrictRoute, tags=["server"])


class Health(TypedDict):
    """The server's state."""

    status: str
    version: str


class WhoAmI(TypedDict):
    """The caller's key as the server reads it, in our words and in the second seed's."""

    key: KeyShape
    key_id: str
    name: str
    scope: str
    namespaces: list[str] | None
    unrestricted: bool
    auth_enabled: bool


@router.head("/health", include_in_schema=False)
@router.head("/health/live", include_in_schema=False)
@router.get("/health", responses=problems())
@router.get("/health/live", responses=problems())
async def live() -> Health:
    """Whether the process answers."""
    return Health(status="healthy", version=_VERSION)


@router.head("/health/ready", include_in_schema=False)
@router.get("/health/ready", responses=problems())
async def ready(request: Request) -> Health:
    """Whether the store answers too; 503 while the server stops, or refuses callers because all places are taken."""
    if request.app.state.stopping.is_set():
        raise Refused(503, "SERVICE_UNAVAILABLE", "the server is stopping", headers={"retry-after": "5"})
    if request.app.state.pace.is_busy:
        raise Refused(503, "SERVICE_UNAVAILABLE", "all places are taken", headers={"retry-after": "1"})
    sack: Haversack = request.app.state.sack
    await sack.threads.check(sack.namespaces)
    return Health(status="ready", version=_VERSION)


@router.get("/metrics", response_class=PlainTextResponse, responses=PROBLEMS)
def read_metrics(caller: AdminCaller, request: Request) -> Response:
    """Counts and times in Prometheus's text format."""
    caller.reach_all()
    counts: Metrics = request.app.state.metrics
    return Response(counts.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/v1/auth/whoami", response_model=WhoAmI, responses=PROBLEMS)
def whoami(caller: ReadCaller) -> Response:
    """The key that this request came with."""
    key = caller.key
    return answer(
        WhoAmI(
            key=key_shape(key),
            key_id=key.id,
            name=key.name,
            scope=key.scope,
            namespaces=None if key.namespaces is None else list(key.namespaces),
            unrestricted=key.namespaces is None and key.scope is Scope.ADMIN,
            auth_enabled=key.id != "open",
        )
    )
