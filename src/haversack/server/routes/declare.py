"""What routes have in common: strict JSON, paths whose parts hold any character, problems that may be answered."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Coroutine
from json import JSONDecodeError
from typing import Any, TypeAlias
from urllib.parse import unquote

import msgspec
from fastapi.routing import APIRoute
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response

__all__ = ["PROBLEMS", "Responses", "StrictRoute", "problems"]

Responses: TypeAlias = "dict[int | str, dict[str, Any]]"

_COMMON = (400, 401, 403, 404, 408, 413, 415, 421, 429, 500, 503, 507)


def problems(*more: int) -> Responses:
    """The `responses` of a route that may also answer with these."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": "A problem", "content": content} for status in sorted((*_COMMON, *more))}


PROBLEMS = problems()


class StrictRoute(APIRoute):
    """A route whose body is JSON as RFC 8259 has it: UTF-8, no NaN, no half of a surrogate pair."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The framework's, with a request that reads strictly."""
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            return await handle(_Strict(request.scope, request.receive))

        return strictly


class _Strict(Request):
    async def json(self) -> Any:
        body = (await self.body()).removeprefix(codecs.BOM_UTF8)
        try:
            return msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise JSONDecodeError(str(error), "", 0) from None


class _Label(Convertor[str]):
    """One part of a path, which may hold any character once it is decoded, a slash included."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        return unquote(value)

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("label", _Label())
