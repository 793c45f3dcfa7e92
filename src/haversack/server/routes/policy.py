"""A namespace's policy: what is kept, for how long and how much."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field, JsonValue
from starlette.responses import Response

from haversack.server.caller import AdminNs, ReadNs
from haversack.server.requests import Body
from haversack.server.routes.declare import PROBLEMS, StrictRoute
from haversack.server.routes.upkeep import Report, report
from haversack.server.shapes import answer

router = APIRouter(route_class=StrictRoute, tags=["upkeep"], prefix="/v1/namespaces/{namespace:label}")

Names = Annotated[list[Annotated[str, Field(max_length=50)]], Field(max_length=50)]


class PolicyBody(Body):
    """Rules; those that are not given have their defaults."""

    decay: dict[str, JsonValue] | None = None
    dedup: dict[str, JsonValue] | None = None
    keep: Names | None = None
    """Kinds that extraction may write; all without it."""
    protected: Names | None = None
    """Kinds that never fade and are never evicted."""
    ttl_days: dict[str, float] | None = None
    """Days from creation after which memories of a kind end."""
    retention_days: float | None = None
    """How long softly deleted memories can be restored before they are erased."""
    max_memories: int | None = None
    max_characters: int | None = None
    eviction: Names | None = None
    """What leaves first when there is too much: `weakest`, `least_important`, `oldest`, `least_used`."""

    def settings(self) -> dict[str, JsonValue]:
        """The rules that were given."""
        return {name: value for name, value in self.given().items() if value is not None}


@router.get("/policy", response_model=Report, responses=PROBLEMS)
def get_policy(here: ReadNs) -> Response:
    """The rules in force."""
    return answer(report(here.ns.maintenance.policy()))


@router.put("/policy", response_model=Report, responses=PROBLEMS)
def set_policy(here: AdminNs, body: PolicyBody) -> Response:
    """Set the rules; what is not given has its default. Nothing happens to memories until a lifecycle run."""
    policy = here.ns.maintenance.set_policy(body.settings())
    here.note("set policy", now=True)
    return answer(report(policy))


@router.post("/policy/preview", response_model=Report, responses=PROBLEMS)
def preview_policy(here: ReadNs, body: PolicyBody) -> Response:
    """What a lifecycle run would do under these rules instead; sets and changes nothing."""
    return answer(report(here.ns.maintenance.foresee(body.settings())))
