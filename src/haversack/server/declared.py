"""What each route says of itself, and the route that a request means, found before anything of its body is read.

All of it is read from the routes: the scope from their dependencies, files and streams from the OpenAPI document that
they declare. Whoever adds a route has nothing more to say.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from haversack.engine.keys import Scope
from haversack.server.caller import Caller, Needs, NeedsNamespace

__all__ = ["Declared", "Table", "api_routes"]

_FILES = frozenset({"application/octet-stream", "multipart/form-data"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A route as it declares itself."""

    path: str
    """As in the OpenAPI document."""
    scope: Scope | None
    """None: answers without a key."""
    in_namespace: bool
    """Whether the key must reach the namespace in the path."""
    takes_file: bool
    """Whether its body is a file, larger than others and passed on as it comes."""
    is_stream: bool
    """Whether its answer goes on until the client leaves."""
    is_export: bool
    """Whether its answer is as long as what is stored, and lasts for as long as its receiver takes."""
    pattern: re.Pattern[str]

    def admit(self, caller: Caller, path: str) -> None:
        """Refuse a caller whose key does not do; the path is as it was sent."""
        if self.scope is not None:
            caller.need(self.scope)
        found = self.pattern.match(path) if self.in_namespace else None
        if found is not None:
            caller.reach([unquote(found["namespace"])])


class Table:
    """All routes by what they answer to."""

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self.all: dict[tuple[str, str], Declared] = {}
        """By method and path, in the order in which they are tried."""
        self._likely: dict[tuple[str, int], list[Declared]] = defaultdict(list)
        for route in api_routes(routes):
            declared = _declared(route)
            for method in sorted(route.methods or ()):
                self.all[method, route.path_format] = declared
                self._likely[method, route.path_format.count("/")].append(declared)

    def find(self, method: str, path: str) -> Declared | None:
        """The route of a request; one part of a path holds no slash, so the number of slashes narrows it down."""
        likely = self._likely.get((method, path.count("/")), ())
        return next((one for one in likely if one.pattern.match(path)), None)


def api_routes(routes: Iterable[BaseRoute]) -> Iterator[APIRoute]:
    """Those that can say what they need."""
    return (route for route in routes if isinstance(route, APIRoute))


def _declared(route: APIRoute) -> Declared:
    needs = [call for call in _calls(route.dependant) if isinstance(call, Needs)]
    answers: dict[str, Any] = route.responses.get(200, {}).get("content", {})
    body: dict[str, Any] = (route.openapi_extra or {}).get("requestBody", {}).get("content", {})
    return Declared(
        path=route.path_format,
        scope=needs[0].scope if needs else None,
        in_namespace=any(isinstance(call, NeedsNamespace) for call in needs),
        takes_file=not _FILES.isdisjoint(body),
        is_stream="text/event-stream" in answers,
        is_export="application/x-ndjson" in answers,
        pattern=route.path_regex,
    )


def _calls(dependant: Dependant) -> Iterator[object]:
    for part in dependant.dependencies:
        yield part.call
        yield from _calls(part)
