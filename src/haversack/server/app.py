"""The application: routes, the layers around them, and the check that none of them stands open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.metadata import version
from typing import Any

import msgspec
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp

from haversack.engine.haversack import Haversack
from haversack.engine.keys import Scope
from haversack.errors import HaversackError, StoreError
from haversack.guard.bearer import token_reader
from haversack.guard.body import BodyLimits
from haversack.guard.callers import Callers, Failures
from haversack.guard.denials import Denials
from haversack.guard.pace import Pace
from haversack.guard.refusal import Refused, answer_problem
from haversack.server.dakera import agents as dakera_agents
from haversack.server.dakera import feedback as dakera_feedback
from haversack.server.dakera import keys as dakera_keys
from haversack.server.dakera import memories as dakera_memories
from haversack.server.dakera import moving as dakera_moving
from haversack.server.dakera import sessions as dakera_sessions
from haversack.server.dakera import tidying as dakera_tidying
from haversack.server.dakera.absent import absent_call
from haversack.server.declared import Table, api_routes
from haversack.server.gate import OPEN_PATHS, Gate, Guard
from haversack.server.pages import Pages
from haversack.server.problem import Problem, problem_of
from haversack.server.routes import (
    asking,
    browsing,
    health,
    jobs,
    keys,
    knowledge,
    memories,
    namespaces,
    policy,
    reading,
    sessions,
    sharing,
    store,
    upkeep,
    window,
)
from haversack.server.settings import ServerSettings
from haversack.server.watch import Metrics, Watch

__all__ = ["create_app", "scopes_of"]

_FLUSH_EVERY = 0.5
_SCRUB_EVERY, _SCRUB_AT_LEAST_EVERY = 1.0, 60.0
"""Seconds between tries to finish erasures; each that fails doubles the wait."""
_ROUTERS = (
    health.router,
    namespaces.router,
    namespaces.inside,
    memories.router,
    browsing.router,
    knowledge.router,
    asking.router,
    sessions.router,
    window.router,
    reading.router,
    sharing.router,
    policy.router,
    upkeep.router,
    store.router,
    jobs.router,
    keys.router,
    dakera_memories.router,
    dakera_sessions.router,
    dakera_agents.router,
    dakera_tidying.router,
    dakera_feedback.router,
    dakera_keys.router,
    dakera_moving.router,
)
_TOO_LONG = frozenset({"string_too_long", "too_long"})
_ABOUT = (
    "Agent memory with exact token budgets. Every answer but the health checks and this document needs a key: "
    "`Authorization: Bearer`."
)


def create_app(
    sack: Haversack, settings: ServerSettings | None = None, pages: Mapping[str, ASGIApp] | None = None
) -> FastAPI:
    """The application over an open store; whoever made it closes the store after it has stopped.

    `pages` are applications with a way in of their own, by the paths under which they stand.
    """
    chosen = settings or ServerSettings()
    app = FastAPI(
        title="Haversack",
        version=version("haversack"),
        description=_ABOUT,
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    app.state.sack = sack
    app.state.settings = chosen
    app.state.metrics = Metrics()
    app.state.pace = Pace(chosen.limits.within(sack.threads.most), partial(sack.threads.check, sack.allowances.lend))
    app.state.stopping = asyncio.Event()
    for router in _ROUTERS:
        app.router.routes.extend(router.routes)
    _add_document(app)
    _add_handlers(app)
    _add_layers(app, sack, chosen, pages or {})
    _refuse_open_routes(app)
    return app


def scopes_of(app: FastAPI) -> dict[tuple[str, str], Scope | None]:
    """The scope that each route declares, by method and path; None for what answers without a key."""
    return {place: declared.scope for place, declared in Table(app.routes).all.items()}


def _add_layers(app: FastAPI, sack: Haversack, settings: ServerSettings, pages: Mapping[str, ASGIApp]) -> None:
    """From the inside out: pages, the body's limits, the gate, the watch. The last one added is the outermost."""
    failures = Failures(settings.limits)
    guard = Guard(
        sack=sack,
        callers=Callers(sack, failures, None if settings.tokens is None else token_reader(settings.tokens)),
        failures=failures,
        denials=Denials(sack),
        table=Table(app.routes),
        is_open=settings.open,
        key_check_seconds=settings.limits.key_check_seconds,
        notes_reads=settings.audit_reads,
        pages=tuple(pages),
    )
    app.add_middleware(Pages, pages=pages)
    app.add_middleware(BodyLimits, limits=settings.limits)
    app.add_middleware(Gate, guard=guard, pace=app.state.pace)
    app.add_middleware(Watch, counts=app.state.metrics)


def _add_handlers(app: FastAPI) -> None:
    async def engine_error(_: Request, error: Exception) -> Response:
        return problem_of(error)

    async def refused(request: Request, error: Exception) -> Response:
        request.state.refused = error
        return problem_of(error)

    async def wrong_shape(_: Request, error: Exception) -> Response:
        return _shape_problem(error) if isinstance(error, RequestValidationError) else problem_of(error)

    async def no_route(request: Request, error: Exception) -> Response:
        return _http_problem(request, error) if isinstance(error, HTTPException) else problem_of(error)

    app.add_exception_handler(HaversackError, engine_error)
    app.add_exception_handler(Refused, refused)
    app.add_exception_handler(RequestValidationError, wrong_shape)
    app.add_exception_handler(HTTPException, no_route)


def _shape_problem(error: RequestValidationError) -> Response:
    """Where the request is wrong and why; what it held is not repeated."""
    faults = error.errors()
    told = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {_fault(fault)}" for fault in faults[:10])
    if faults and all(fault["type"] in _TOO_LONG and fault["loc"][0] == "body" for fault in faults):
        return answer_problem(413, "PAYLOAD_TOO_LARGE", told)
    return answer_problem(400, "INVALID_REQUEST", told)


def _fault(fault: Mapping[str, Any]) -> str:
    return fault["ctx"]["error"] if fault["type"] == "json_invalid" else fault["msg"]


def _http_problem(request: Request, error: HTTPException) -> Response:
    if name := absent_call(request.method, request.scope["path"]) if error.status_code in {404, 405} else None:
        return answer_problem(501, "NOT_IMPLEMENTED", f"{name}() of the dakera client is not offered by this server")
    codes = {404: "ROUTE_NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}
    return answer_problem(
        error.status_code, codes.get(error.status_code, "INVALID_REQUEST"), str(error.detail), headers=error.headers
    )


def _add_document(app: FastAPI) -> None:
    encoded: list[bytes] = []

    @app.get("/openapi.json", include_in_schema=False)
    def document() -> Response:  # pyright: ignore[reportUnusedFunction]
        if not encoded:
            encoded.append(msgspec.json.encode(app.openapi()))
        return Response(encoded[0], media_type="application/json")

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app)
        return app.openapi_schema

    app.openapi = described


def _described(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document: with the problem, the keys and each route's scope, without the answers we never give."""
    document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    schemas = document["components"]["schemas"]
    schemas["Problem"] = TypeAdapter(Problem).json_schema(ref_template="#/components/schemas/{model}")
    schemas |= schemas["Problem"].pop("$defs", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    document["servers"] = [{"url": "/"}]
    document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    scopes, names = scopes_of(app), _names_of(app)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            scope = scopes.get((method.upper(), path))
            if scope is not None:
                operation["security"] = [{"key": []}]
                operation["x-scope"] = scope.value
            operation["operationId"] = names[method.upper(), path]
            _without_422(operation)
    return document


def _names_of(app: FastAPI) -> dict[tuple[str, str], str]:
    """Each operation's name: its function's, after `dakera_` for those of that client."""
    names: dict[tuple[str, str], str] = {}
    for route in api_routes(app.routes):
        name = f"dakera_{route.name}" if "dakera" in route.tags else route.name
        for method in route.methods or ():
            names[method, route.path_format] = "health" if route.path_format == "/health" else name
    return names


def _without_422(operation: dict[str, Any]) -> None:
    answers: dict[str, Any] = operation["responses"]
    if "HTTPValidationError" in str(answers.get("422")):
        del answers["422"]


def _refuse_open_routes(app: FastAPI) -> None:
    """A route that declares no scope is a mistake that must not start."""
    for (method, path), scope in scopes_of(app).items():
        if scope is None and path not in OPEN_PATHS:
            raise RuntimeError(f"{method} {path} declares no scope")
    unknown = [route for route in app.routes if not isinstance(route, APIRoute)]
    if unknown:
        raise RuntimeError(f"routes that cannot be checked: {unknown}")


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None]:
    """Warm before the first request; while it runs, what gathers in memory is written every half second."""
    await app.state.sack.threads.run(app.state.sack.warm_up)
    working = [asyncio.create_task(work(app.state.sack)) for work in (_flush_often, _scrub_often)]
    try:
        yield
    finally:
        app.state.stopping.set()
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)
        await app.state.sack.threads.run(_flush, app.state.sack)


async def _flush_often(sack: Haversack) -> None:
    while True:
        await asyncio.sleep(_FLUSH_EVERY)
        await sack.threads.run(_flush, sack)


async def _scrub_often(sack: Haversack) -> None:
    """Erased bytes that a reader kept in the files go when it has ended, though nobody writes."""
    wait = _SCRUB_EVERY
    while True:
        await asyncio.sleep(wait)
        done = await sack.threads.run(_scrub, sack)
        wait = _SCRUB_EVERY if done else min(2 * wait, _SCRUB_AT_LEAST_EVERY)


def _scrub(sack: Haversack) -> bool:
    try:
        return sack.maintenance.scrub()
    except StoreError:
        return False


def _flush(sack: Haversack) -> None:
    """What cannot be written now is written next time."""
    with suppress(StoreError):
        sack.audit.flush()
        sack.keys.flush()
