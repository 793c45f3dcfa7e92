"""The gate before every page: hosts, cookies, forms from elsewhere, and the headers that keep stored text inert."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from haversack.guard.listening import names_loopback
from haversack.guard.local import check_local
from haversack.guard.refusal import Refused
from haversack.inspector.entrance import Entrance, Visitor, Way

__all__ = ["HEADERS", "HOME", "Gate", "set_cookie"]

HOME = "/inspector"
"""Where all pages are."""

HEADERS: Mapping[str, str] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # stricter ones make browsers hide where our own forms come from
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
"""On every answer."""

_ENTER = f"{HOME}/enter"
_MOST_BYTES = 1 << 20
_MOST_FIELDS = 100


class Gate:
    """Middleware. Behind it, `scope["state"]` holds `visitor`, and for a POST `form`."""

    def __init__(self, app: ASGIApp, entrance: Entrance) -> None:
        self._app = app
        self._entrance = entrance
        self._threads = entrance.sack.threads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through with its visitor, or answer why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        refused = await self._check(scope, receive)
        send = _guarded(send)
        await (refused or self._app)(scope, receive, send)

    async def _check(self, scope: Scope, receive: Receive) -> Response | None:
        """The refusal, if any."""
        headers, path = Headers(scope=scope), scope["path"]
        way = await self._threads.check(lambda: self._entrance.asks)
        if way is not Way.KEY and not names_loopback(f"//{headers.get('host', '')}"):
            return PlainTextResponse("this inspector answers only to localhost\n", 421)
        if way is Way.OPEN:
            try:
                check_local(headers)
            except Refused as refused:
                return PlainTextResponse(f"{refused.detail}\n", refused.status)
        if scope["method"] == "POST":
            return await self._check_form(scope, receive, headers)
        if scope["method"] not in {"GET", "HEAD"}:
            return PlainTextResponse("only GET and POST\n", 405)
        if path == _ENTER or path.startswith(f"{HOME}/static/"):
            return None
        return None if await self._knows(scope) else await self._welcome(scope)

    async def _check_form(self, scope: Scope, receive: Receive, headers: Headers) -> Response | None:
        """Forms come from pages of this inspector: same origin, and with the visitor's proof."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
        foreign = origin is not None and _place(origin) != headers.get("host")
        if foreign or site not in {"same-origin", "none"}:
            return PlainTextResponse("forms of other sites are refused\n", 403)
        form = await _read_form(receive)
        if form is None:
            return PlainTextResponse("the form is too large or cannot be read\n", 413)
        scope["state"]["form"] = form
        if scope["path"] == _ENTER:
            return None
        visitor = await self._knows(scope)
        if visitor is None:
            return PlainTextResponse("you have been away for long: open the inspector again\n", 403)
        if not hmac.compare_digest(form.get("proof", "").encode(), visitor.proof.encode()):
            return PlainTextResponse("this form did not come from a page of this inspector\n", 403)
        return None

    async def _knows(self, scope: Scope) -> Visitor | None:
        """Who asks, noted for the page."""
        cookie = HTTPConnection(scope).cookies.get(self._entrance.cookie)
        visitor = await self._threads.check(self._entrance.visitor, cookie)
        if visitor is not None:
            scope["state"]["visitor"] = visitor
        return visitor

    async def _welcome(self, scope: Scope) -> Response:
        """Who is not known: let in where anybody may, else sent to the entrance."""
        cookie = await self._threads.check(self._entrance.enter_freely)
        if cookie is None:
            return RedirectResponse(_ENTER, 303)
        query: bytes = scope.get("query_string", b"")
        where = scope["path"] + (f"?{query.decode('latin-1')}" if query else "")
        return set_cookie(RedirectResponse(where, 303), self._entrance, cookie, scope["scheme"])


def set_cookie(response: Response, entrance: Entrance, value: str, scheme: str) -> Response:
    """The response, with the cookie of a stay."""
    response.set_cookie(entrance.cookie, value, path=HOME, httponly=True, samesite="strict", secure=scheme == "https")
    return response


async def _read_form(receive: Receive) -> dict[str, str] | None:
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > _MOST_BYTES:
            return None
        more = message.get("more_body", False)
    try:
        return dict(parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except (UnicodeDecodeError, ValueError):
        return None


def _place(origin: str) -> str | None:
    """The host and port that an Origin names."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _guarded(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sent
