"""What routes have in common: parts of a path that may hold any character, and the problems that may be answered."""

from __future__ import annotations

from typing import Any, TypeAlias
from urllib.parse import unquote

from starlette.convertors import Convertor, register_url_convertor

__all__ = ["PROBLEMS", "Responses", "problems"]

Responses: TypeAlias = "dict[int | str, dict[str, Any]]"

_COMMON = (400, 401, 403, 404, 408, 413, 415, 421, 429, 500, 503, 507)


def problems(*more: int) -> Responses:
    """The `responses` of a route that may also answer with these."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": "A problem", "content": content} for status in sorted((*_COMMON, *more))}


PROBLEMS = problems()


class _Label(Convertor[str]):
    """One part of a path, which may hold any character once it is decoded, a slash included."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        return unquote(value)

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("label", _Label())
