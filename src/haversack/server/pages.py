"""Applications beside the routes, each below a path of its own and with its own way in."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["Pages", "is_under"]


class Pages:
    """Middleware, innermost of all."""

    def __init__(self, app: ASGIApp, pages: Mapping[str, ASGIApp]) -> None:
        self._app = app
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request to whose path it is."""
        place = is_under(scope["path"], self._pages) if scope["type"] == "http" else None
        if place is None:
            await self._app(scope, receive, send)
            return
        scope["state"]["page"] = place
        await self._pages[place](scope, receive, send)


def is_under(path: str, places: Collection[str]) -> str | None:
    """Which of these paths this one is, or is below."""
    return next((place for place in places if path == place or path.startswith(f"{place}/")), None)
