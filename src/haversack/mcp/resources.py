"""Resources: what the namespace holds, its conversations, and the turns of one. Names are query values, never paths."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import mcp_types as types
import msgspec

from haversack.engine.guarding import Suspicion
from haversack.engine.namespace import Namespace
from haversack.errors import InputError, NotFoundError
from haversack.mcp.fence import fence_turns

__all__ = ["TEMPLATES", "list_resources", "read_resource"]

_LISTED = 50
_MOST_TURNS = 200
_JSON, _TEXT = "application/json", "text/plain"

TEMPLATES = [
    types.ResourceTemplate(
        name="session",
        uri_template="haversack://session{?id,after}",
        description=f"The turns of one conversation behind number `after`, up to {_MOST_TURNS}, as quoted data",
        mime_type=_TEXT,
    )
]


@dataclass(frozen=True, slots=True)
class _Report:
    text: str
    mime_type: str


def list_resources(ns: Namespace) -> list[types.Resource]:
    """The reports, and the latest conversations."""
    reports = [
        types.Resource(name="stats", uri="haversack://stats", description="Counts of what is held", mime_type=_JSON),
        types.Resource(name="sessions", uri="haversack://sessions", description="Conversations", mime_type=_JSON),
    ]
    latest = [
        types.Resource(
            name=f"session {one.id}", uri=f"haversack://session?{urlencode({'id': one.id})}", mime_type=_TEXT
        )
        for one in ns.sessions()[:_LISTED]
    ]
    return reports + latest


def read_resource(
    ns: Namespace, uri: str, hold_back: Collection[Suspicion] = ()
) -> list[types.TextResourceContents | types.BlobResourceContents]:
    """One of them; NotFoundError for any other address."""
    report = _report(ns, uri, hold_back)
    return [types.TextResourceContents(uri=uri, mime_type=report.mime_type, text=report.text)]


def _report(ns: Namespace, uri: str, hold_back: Collection[Suspicion]) -> _Report:
    parts = urlsplit(uri)
    asked = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    if parts.scheme == "haversack" and parts.path in ("", "/"):
        match parts.netloc:
            case "stats":
                return _Report(_json({"namespace": ns.name, **msgspec.to_builtins(ns.stats())}), _JSON)
            case "sessions":
                return _Report(_json(ns.sessions()), _JSON)
            case "session":
                return _Report(_turns(ns, asked, hold_back), _TEXT)
            case _:
                pass
    raise NotFoundError(
        f"no resource {uri!r}: there are haversack://stats, haversack://sessions, haversack://session?id=…"
    )


def _turns(ns: Namespace, asked: Mapping[str, str], hold_back: Collection[Suspicion]) -> str:
    name, after = asked.get("id", ""), asked.get("after", "-1")
    if not after.lstrip("-").isdecimal():
        raise InputError(f"after={after!r} must be the number of a turn")
    turns = ns.session(name).turns(after=int(after), limit=_MOST_TURNS)
    if not turns:
        raise NotFoundError(f"no session {name!r} with turns behind {after}")
    return fence_turns(name, turns, hold_back)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
