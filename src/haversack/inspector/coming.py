"""Coming in and leaving."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from haversack.inspector.entrance import Entrance, Way
from haversack.inspector.gate import HOME, set_cookie
from haversack.inspector.render import form_of, page

__all__ = ["enter", "leave"]


def enter(request: Request) -> Response:
    """By the token in the address, or by a key that is typed in."""
    entrance: Entrance = request.app.state.entrance
    if request.method == "POST":
        cookie = entrance.enter_by_key(form_of(request).get("key", ""))
    else:
        cookie = entrance.enter_by_token(request.query_params.get("token", "")) or entrance.enter_freely()
    if cookie is not None:
        return set_cookie(RedirectResponse(f"{HOME}/", 303), entrance, cookie, request.url.scheme)
    tried = request.method == "POST" or "token" in request.query_params
    by_key = entrance.asks is Way.KEY
    return page(request, "enter.html", status=401 if tried else 200, visitor=None, by_key=by_key, tried=tried)


def leave(request: Request) -> Response:
    """End the stay."""
    entrance: Entrance = request.app.state.entrance
    entrance.leave(request.cookies.get(entrance.cookie))
    response = RedirectResponse(f"{HOME}/enter", 303)
    response.delete_cookie(entrance.cookie, path=HOME)
    return response
