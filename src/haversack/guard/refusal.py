"""Saying no before anything is done: problem details (RFC 9457), with a `code` for programs."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from haversack.guard.lingering import Incoming, lingering

__all__ = ["Refused", "answer_problem", "too_many"]


class Refused(Exception):  # noqa: N818 - named for what happened
    """The door itself says no."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        namespace: str | None = None,
    ) -> None:
        """`namespace`: the one that is refused, for those who keep account of it."""
        super().__init__(detail)
        self.namespace = namespace
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = dict(headers or {})

    def answer(self) -> Response:
        """The response that says it."""
        return answer_problem(self.status, self.code, self.detail, headers=self.headers)

    async def turn_away(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer and close the connection, since the rest of the request is not looked at."""
        self.headers.setdefault("connection", "close")
        incoming = receive if isinstance(receive, Incoming) else Incoming(receive)
        await self.answer()(scope, incoming, lingering(incoming, send))


_TITLES = {
    400: "The request makes no sense",
    401: "A key is needed",
    403: "Not allowed",
    404: "Not found",
    405: "No such method here",
    408: "Too slow",
    409: "Somebody else was first",
    412: "It has changed",
    413: "Too large",
    415: "Unknown encoding",
    421: "Not this host",
    422: "The budget is too small",
    429: "Too many requests",
    500: "Our mistake",
    501: "Not offered",
    502: "A model service failed",
    503: "Not now",
    507: "The disk is full",
}


def answer_problem(
    status: int,
    code: str,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    more: Mapping[str, object] | None = None,
) -> Response:
    """A response with the problem in its body."""
    body = {
        "type": "about:blank",
        "title": _TITLES.get(status, "Refused"),
        "status": status,
        "detail": detail,
        "code": code,
        "error": detail,
        **(more or {}),
    }
    return Response(
        msgspec.json.encode(body),
        status_code=status,
        media_type="application/problem+json",
        headers=dict(headers or {}),
    )


def too_many(why: str, wait: int) -> Refused:
    """Come again in so many seconds."""
    return Refused(429, "RATE_LIMIT_EXCEEDED", f"{why}; try again in {wait} s", headers={"retry-after": str(wait)})
