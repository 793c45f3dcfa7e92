"""Errors as they are answered: problem details (RFC 9457), with a `code` for programs. One place translates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NotRequired

import msgspec
from pydantic import JsonValue
from starlette.responses import Response
from typing_extensions import TypedDict

from haversack import errors

__all__ = ["Problem", "Refused", "answer_problem", "problem_of"]


class Problem(TypedDict):
    """What went wrong."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    """For programs; it does not change."""
    error: str
    """The detail once more, where the second seed's client looks for it."""
    resource: NotRequired[str]
    """What was not found."""
    ledger: NotRequired[dict[str, JsonValue]]
    """Where the tokens went, when a budget is too small."""


class Refused(Exception):  # noqa: N818 - named for what happened
    """The door itself says no."""

    def __init__(self, status: int, code: str, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = dict(headers or {})


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

_STATUSES: tuple[tuple[type[Exception], int, str], ...] = (
    (errors.InputError, 400, "INVALID_REQUEST"),
    (errors.NotFoundError, 404, "NOT_FOUND"),
    (errors.ConflictError, 409, "CONFLICT"),
    (errors.RefusedError, 409, "REFUSED"),
    (errors.BudgetError, 422, "BUDGET_TOO_SMALL"),
    (errors.NoSpaceError, 507, "NO_SPACE"),
    (errors.ReadOnlyError, 503, "READ_ONLY"),
    (errors.StoreError, 503, "SERVICE_UNAVAILABLE"),
    (errors.ServiceError, 502, "MODEL_SERVICE_FAILED"),
    (errors.MissingExtraError, 501, "NOT_IMPLEMENTED"),
)


def problem_of(error: Exception) -> Response:
    """The answer to an error of the engine or of the door."""
    if isinstance(error, Refused):
        return answer_problem(error.status, error.code, error.detail, headers=error.headers)
    status, code = next(((status, code) for kind, status, code in _STATUSES if isinstance(error, kind)), (500, "ERROR"))
    headers = {"retry-after": "1"} if status == 503 else None  # noqa: PLR2004
    ledger = error.ledger if isinstance(error, errors.BudgetError) else None
    more = {"ledger": ledger.to_dict()} if hasattr(ledger, "to_dict") else {}  # pyright: ignore[reportAttributeAccessIssue, reportOptionalMemberAccess, reportUnknownVariableType, reportUnknownMemberType]
    if status == 404:  # noqa: PLR2004
        more = {"resource": "memory"}
    return answer_problem(status, code, str(error), headers=headers, more=more)  # pyright: ignore[reportUnknownArgumentType]


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
