"""What routes have in common: strict JSON, paths whose parts hold any character, problems that may be answered."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from functools import wraps
from inspect import iscoroutinefunction
from json import JSONDecodeError
from typing import Any, TypeAlias
from urllib.parse import unquote

import msgspec
from fastapi.routing import APIRoute
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response

from haversack.engine.threads import Threads

__all__ = ["PROBLEMS", "Responses", "StrictRoute", "problems"]

Responses: TypeAlias = "dict[int | str, dict[str, Any]]"

_THREADS: ContextVar[Threads] = ContextVar("threads")
"""Those of the store that the present request is about."""
_COMMON = (400, 401, 403, 404, 408, 413, 415, 421, 429, 500, 503, 507)


def problems(*more: int) -> Responses:
    """The `responses` of a route that may also answer with these."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": "A problem", "content": content} for status in sorted((*_COMMON, *more))}


PROBLEMS = problems()


class StrictRoute(APIRoute):
    """A route whose body is JSON as RFC 8259 has it: UTF-8, no NaN, no half of a surrogate pair.

    Its function is called in the store's threads, unless it is `async`.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        super().__init__(path, endpoint if iscoroutinefunction(endpoint) else _in_thread(endpoint), **more)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The framework's, with a request that reads strictly."""
        handle = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            _THREADS.set(request.app.state.sack.threads)
            return await handle(_Strict(request.scope, request.receive))

        return strictly


def _in_thread(endpoint: Callable[..., Response]) -> Callable[..., Coroutine[Any, Any, Response]]:
    @wraps(endpoint)
    async def called(**values: Any) -> Response:
        return await _THREADS.get().run(endpoint, **values)

    return called


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
