"""The application: its pages, and what errors look like in a browser."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from haversack import errors
from haversack.inspector import coming, health, memories, memory, prompt, sessions
from haversack.inspector.entrance import Denied, Entrance, Visitor
from haversack.inspector.gate import HOME, Gate
from haversack.inspector.render import Defaults, page

__all__ = ["create_pages"]

_LOG = logging.getLogger("haversack.inspector")
_STATUS: tuple[tuple[type[Exception], int, str], ...] = (
    (Denied, 403, "Not yours to see"),
    (errors.NotFoundError, 404, "Not there"),
    (errors.ConflictError, 409, "Somebody was quicker"),
    (errors.BudgetError, 422, "The budget is too small"),
    (errors.InputError, 400, "That makes no sense"),
    (errors.RefusedError, 409, "Refused"),
    (errors.StoreError, 503, "The store refused"),
    (errors.HaversackError, 500, "That failed"),
)


def create_pages(entrance: Entrance, defaults: Defaults | None = None) -> ASGIApp:
    """All pages under `/inspector`, over the store of the entrance; whoever opened the store closes it afterwards."""
    routes = [
        _Page(HOME, home),
        _Page(f"{HOME}/", home),
        _Page(f"{HOME}/enter", coming.enter, methods=["GET", "POST"]),
        _Page(f"{HOME}/leave", coming.leave, methods=["POST"]),
        _Page(f"{HOME}/prompt", prompt.show),
        _Page(f"{HOME}/prompt.txt", prompt.text),
        _Page(f"{HOME}/prompt.svg", prompt.picture),
        _Page(f"{HOME}/memories", memories.show),
        _Page(f"{HOME}/memories.svg", memories.picture),
        _Page(f"{HOME}/memory", memory.show),
        _Page(f"{HOME}/memory.svg", memory.picture),
        _Page(f"{HOME}/memory/change", memory.change, methods=["POST"]),
        _Page(f"{HOME}/memory/forget", memory.forget, methods=["POST"]),
        _Page(f"{HOME}/sessions", sessions.show),
        _Page(f"{HOME}/session", sessions.one),
        _Page(f"{HOME}/session.svg", sessions.picture),
        _Page(f"{HOME}/health", health.show),
        _Page(f"{HOME}/health.svg", health.picture),
        Mount(f"{HOME}/static", StaticFiles(directory=Path(__file__).parent / "static")),
    ]
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Gate, entrance=entrance)],
        exception_handlers={errors.HaversackError: _in_thread(failed), HTTPException: _in_thread(not_found)},
    )
    app.state.entrance = entrance
    app.state.defaults = defaults or Defaults()
    return app


def home(_: Request) -> Response:
    """The first page."""
    return RedirectResponse(f"{HOME}/prompt", 303)


def failed(request: Request, error: Exception) -> Response:
    """What went wrong, in words, on a page of its own."""
    status, title = next((status, title) for kind, status, title in _STATUS if isinstance(error, kind))
    if isinstance(error, errors.StoreError):
        _LOG.warning("the store refused", exc_info=error)
    return _told(request, status, title, errors.outward(error))


def not_found(request: Request, error: Exception) -> Response:
    """A path that leads nowhere, or a method that it does not take."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _told(request, status, "Not there", "This inspector has no such page.")


def _told(request: Request, status: int, title: str, words: str) -> Response:
    visitor: Visitor | None = getattr(request.state, "visitor", None)
    return page(request, "failed.html", status=status, visitor=visitor, title=title, words=words)


class _Page(Route):
    """A page that is made in the store's threads."""

    def __init__(self, path: str, endpoint: Callable[[Request], Response], **more: Any) -> None:
        super().__init__(path, _in_thread(endpoint), **more)


def _in_thread(made: Callable[..., Response]) -> Callable[..., Awaitable[Response]]:
    @wraps(made)
    async def answered(request: Request, *more: Exception) -> Response:
        entrance: Entrance = request.app.state.entrance
        return await entrance.sack.threads.run(made, request, *more)

    return answered
