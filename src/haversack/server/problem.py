"""Errors as they are answered: problem details (RFC 9457), with a `code` for programs. One place translates."""

from __future__ import annotations

import logging
from typing import NotRequired

from pydantic import JsonValue
from starlette.responses import Response
from typing_extensions import TypedDict

from haversack import errors
from haversack.guard.refusal import Refused, answer_problem

__all__ = ["Problem", "problem_of"]


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


_LOG = logging.getLogger("haversack.server")
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
        return error.answer()
    status, code = next(((status, code) for kind, status, code in _STATUSES if isinstance(error, kind)), (500, "ERROR"))
    headers = {"retry-after": "1"} if status == 503 else None  # noqa: PLR2004
    if isinstance(error, errors.StoreError) and not isinstance(error, errors.CrowdedError):
        _LOG.warning("the store refused", exc_info=error)
    ledger = error.ledger if isinstance(error, errors.BudgetError) else None
    more = {"ledger": ledger.to_dict()} if hasattr(ledger, "to_dict") else {}  # pyright: ignore[reportAttributeAccessIssue, reportOptionalMemberAccess, reportUnknownVariableType, reportUnknownMemberType]
    if status == 404:  # noqa: PLR2004
        more = {"resource": "memory"}
    return answer_problem(status, code, errors.outward(error), headers=headers, more=more)  # pyright: ignore[reportUnknownArgumentType]
