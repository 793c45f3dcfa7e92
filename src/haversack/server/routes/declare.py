"""What routes have in common in the OpenAPI document: the problems that may come instead of an answer."""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["PROBLEMS", "Responses", "problems"]

Responses: TypeAlias = "dict[int | str, dict[str, Any]]"

_COMMON = (400, 401, 403, 404, 408, 413, 415, 421, 429, 500, 503, 507)


def problems(*more: int) -> Responses:
    """The `responses` of a route that may also answer with these."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": "A problem", "content": content} for status in sorted((*_COMMON, *more))}


PROBLEMS = problems()
