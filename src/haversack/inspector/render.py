"""Templates: every stored word goes through autoescape; nothing here marks a text as safe but our own pictures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from haversack.inspector.entrance import Visitor
from haversack.inspector.gate import HOME

__all__ = [
    "WINDOW",
    "Defaults",
    "defaults_of",
    "drawing",
    "form_of",
    "here",
    "link",
    "number_in",
    "one_line",
    "page",
    "saved",
    "visitor_of",
]


WINDOW = 32_000
"""Tokens against which a session's utilisation is drawn, where nothing else is said."""
_NUMBER = re.compile("[0-9]{1,9}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What the pages begin with."""

    namespace: str | None = None
    """None, or one that holds nothing: the first one that the visitor reaches."""
    model: str = "gpt-4o"
    window: int = WINDOW


def page(request: Request, template: str, *, status: int = 200, visitor: Visitor | None, **values: object) -> Response:
    """A whole page, or the part of it that a script asked for."""
    words = _ENVIRONMENT.get_template(template).render(
        home=HOME,
        link=link,
        visitor=visitor,
        path=request.url.path,
        version=version("haversack"),
        namespace=request.query_params.get("namespace", ""),
        is_part="part" in request.query_params,
        **values,
    )
    return HTMLResponse(words, status)


def saved(picture: str, name: str) -> Response:
    """A picture as a file of its own."""
    how = f'attachment; filename="{name}.svg"'
    return Response(picture, media_type="image/svg+xml", headers={"content-disposition": how})


def drawing(picture: str) -> Markup:
    """A picture of ours to stand inside a page. It escaped every word that it was given."""
    return Markup(picture)  # noqa: S704 - drawn by this package


def visitor_of(request: Request) -> Visitor:
    """Who asks; the gate let them in."""
    visitor: Visitor = request.state.visitor
    return visitor


def form_of(request: Request) -> Mapping[str, str]:
    """The fields of a POST; the gate read and checked them."""
    form: Mapping[str, str] = request.state.form
    return form


def defaults_of(request: Request) -> Defaults:
    """What the pages begin with."""
    defaults: Defaults = request.app.state.defaults
    return defaults


def here(request: Request) -> str:
    """The namespace that the request is about."""
    named = request.query_params.get("namespace")
    if named:
        return named
    chosen, known = defaults_of(request).namespace, visitor_of(request).namespaces()
    return chosen if chosen in known else next(iter(known), chosen or "default")


def number_in(request: Request, name: str, default: int) -> int:
    """A whole number from the address; the default for anything else."""
    given = request.query_params.get(name, "")
    return int(given) if _NUMBER.fullmatch(given) else default


def link(name: str, **values: object) -> str:
    """The address of a page; empty values are left out."""
    query = urlencode({key: value for key, value in values.items() if value not in {None, ""}}, errors="replace")
    return f"{HOME}/{name}?{query}" if query else f"{HOME}/{name}"


def one_line(words: str, limit: int = 160) -> str:
    """The words on one line, cut with an ellipsis."""
    line = " ".join(words[: limit * 4].split())
    return line if len(line) <= limit and len(words) <= limit * 4 else line[: limit - 1] + "…"


def _when(moment: datetime | None) -> str:
    return "never" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def _many(number: float) -> str:
    return f"{number:,}"


_ENVIRONMENT = Environment(
    loader=PackageLoader("haversack.inspector"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
    lstrip_blocks=True,
)  # fmt: skip
_ENVIRONMENT.filters |= {"when": _when, "many": _many, "line": one_line}
