"""Every route under every scope with every hostile body: routes and bodies are read from the application itself."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.types import ASGIApp, Message

import haversack
from haversack.clock import utc_now
from haversack.engine.haversack import Haversack
from haversack.engine.keys import Scope
from haversack.guard.settings import Limits
from haversack.server.app import create_app
from haversack.server.declared import Declared, Table
from haversack.server.settings import ServerSettings

LIMITS = Limits(body_bytes=50_000, import_bytes=60_000, key_per_minute=0, failures_per_minute=0)

with haversack.open(":memory:", embedder="none") as _sack:
    _APP = create_app(_sack)
    ROUTES = Table(_APP.routes).all
    DOCUMENT = _APP.openapi()
GUARDED = [(method, one) for (method, _), one in ROUTES.items() if one.scope is not None]

HOSTILE = [
    (b"", "application/json"),
    (b"", "text/plain"),
    (b"{}", "text/plain"),
    (b"{}", "application/json; charset=utf-16"),
    (b"null", "application/json"),
    (b"[]", "application/json"),
    (b'"x"', "application/json"),
    (bytes(range(256)), "application/json"),
    (bytes(range(256)), "multipart/form-data; boundary=x"),
    (b"--x\r\n\r\n--x--", "multipart/form-data; boundary=x"),
    (b"[" * 20_000, "application/json"),
    (b'{"a":' * 9_000, "application/json"),
    (b"{" + b'"a":1,' * 8_000 + b'"a":1}', "application/json"),
    (b"x" * 70_000, "application/json"),
    (b"1" * 40_000, "application/json"),
]
VALUES: list[Any] = [
    None,
    True,
    -1,
    2**63,
    10**400,
    1e308,
    "",
    "\0",
    " ",
    "x" * 20_000,
    "*",
    [],
    {},
    [[]],
    [{}],
    [None],
    {"": None},
    {"x": {"x": [{}]}},
]


@dataclass(slots=True)
class Answered:
    """What came back."""

    status: int = 0
    body: bytes = b""
    read_before: int = 0
    """How often the body was asked for before the answer began."""
    headers: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def code(self) -> str | None:
        try:
            return json.loads(self.body).get("code")
        except (ValueError, AttributeError):
            return None


async def call(
    app: ASGIApp, method: str, path: str, *, body: bytes = b"", headers: Mapping[str, str] | None = None
) -> Answered:
    """The answer to one request; the client leaves after its body, so streams end."""
    answered = Answered()
    bare, _, query = path.partition("?")
    given = {"host": "localhost", "content-type": "application/json", "content-length": str(len(body))}
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": bare,
        "raw_path": bare.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [
            (name.strip().lower().encode(), value.encode()) for name, value in ({**given, **(headers or {})}).items()
        ],
        "client": ("192.0.2.7", 1),
        "server": ("localhost", 80),
        "state": {},
    }
    sent: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if not answered.status:
            answered.read_before += 1
        return sent.pop() if sent else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answered.status = message["status"]
            answered.headers = {name.decode(): value.decode("latin-1") for name, value in message["headers"]}
        else:
            answered.body += message.get("body", b"")

    await app(scope, receive, send)
    return answered


@dataclass(frozen=True)
class Keys:
    """Secrets, by what they may do."""

    read: str
    write: str
    admin: str
    foreign: str
    expired: str
    revoked: str


@pytest.fixture
def walked() -> Iterator[tuple[FastAPI, Keys]]:
    with haversack.open(":memory:", embedder="none") as sack:
        yield create_app(sack, ServerSettings(limits=LIMITS)), _keys(sack)


def _keys(sack: Haversack) -> Keys:
    made = {scope.value: sack.keys.create(scope, scope=scope).secret for scope in Scope}
    expired = sack.keys.create("expired", scope="admin", expires_at=utc_now() + timedelta(milliseconds=5))
    while sack.keys.check(expired.secret):
        pass
    revoked = sack.keys.create("revoked", scope="admin")
    sack.keys.revoke(revoked.key.id)
    foreign = sack.keys.create("foreign", scope="admin", namespaces=["elsewhere"]).secret
    return Keys(**made, foreign=foreign, expired=expired.secret, revoked=revoked.secret)


def where(declared: Declared) -> str:
    path = re.sub(r"\{[^}]+\}", "x", declared.path.replace("{namespace}", "alice"))
    return f"{path}?agent_id=alice"


def shown(secret: str | None) -> dict[str, str]:
    return {} if secret is None else {"authorization": f"Bearer {secret}"}


def ids(value: object) -> str:
    return value.path if isinstance(value, Declared) else str(value)


def refused_before_the_body(
    app: FastAPI, method: str, declared: Declared, secret: str | None, expected: tuple[int, str]
) -> None:
    async def all_bodies() -> None:
        for body, kind in HOSTILE:
            extra = {"content-type": kind, "content-encoding": "gzip", **shown(secret)}
            answered = await call(app, method, where(declared), body=gzip.compress(body), headers=extra)
            assert (answered.status, answered.code, answered.read_before) == (*expected, 0), (body[:20], kind)
            answered = await call(app, method, where(declared), headers={"content-length": "99999999", **shown(secret)})
            assert (answered.status, answered.read_before) == (expected[0], 0)

    asyncio.run(all_bodies())


@pytest.mark.parametrize(("method", "declared"), GUARDED, ids=ids)
def test_who_has_no_live_key_is_refused_before_the_body(walked: tuple[FastAPI, Keys], method: str, declared: Declared):
    app, keys = walked
    refused_before_the_body(app, method, declared, None, (401, "AUTHENTICATION_REQUIRED"))
    for secret in (keys.expired, keys.revoked, "hvs_aaaa_bbbb", "x"):
        refused_before_the_body(app, method, declared, secret, (401, "INVALID_API_KEY"))


@pytest.mark.parametrize(("method", "declared"), GUARDED, ids=ids)
def test_a_smaller_scope_is_refused_before_the_body(walked: tuple[FastAPI, Keys], method: str, declared: Declared):
    app, keys = walked
    assert declared.scope is not None
    for scope in Scope:
        if not scope.covers(declared.scope):
            secret = getattr(keys, scope.value)
            refused_before_the_body(app, method, declared, secret, (403, "INSUFFICIENT_SCOPE"))


@pytest.mark.parametrize(("method", "declared"), [row for row in GUARDED if row[1].in_namespace], ids=ids)
def test_a_foreign_namespace_is_refused_before_the_body(walked: tuple[FastAPI, Keys], method: str, declared: Declared):
    app, keys = walked
    refused_before_the_body(app, method, declared, keys.foreign, (403, "NAMESPACE_ACCESS_DENIED"))


@pytest.mark.parametrize(("method", "declared"), GUARDED, ids=ids)
def test_no_body_is_our_mistake(method: str, declared: Declared):
    async def all_bodies() -> list[tuple[Answered, bytes]]:
        told: list[tuple[Answered, bytes]] = []
        for body, kind in [*HOSTILE, *((one, "application/json") for one in _wrong(method, declared.path))]:
            with haversack.open(":memory:", embedder="none") as sack:
                app = create_app(sack, ServerSettings(limits=LIMITS))
                secret = sack.keys.create("ops", scope="admin").secret
                headers = {"content-type": kind, **shown(secret)}
                told.append((await call(app, method, where(declared), body=body, headers=headers), body))
        return told

    for answered, body in asyncio.run(all_bodies()):
        assert answered.status < 500, (body[:200], answered.body)
        assert answered.status not in {401, 403}, (body[:200], answered.body)


def _wrong(method: str, path: str) -> Iterator[bytes]:
    """What the route asks for, with one field after the other in a hostile shape."""
    operation = DOCUMENT["paths"][path].get(method.lower(), {}) if path in DOCUMENT["paths"] else {}
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    sample = sample_of(schema) if schema else None
    if not isinstance(sample, dict):
        return
    yield json.dumps(sample).encode()
    for name in _resolved(schema).get("properties", {}):
        for value in VALUES:
            yield json.dumps({**sample, name: value}).encode()


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return _resolved(DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    return _resolved(schema["anyOf"][0]) if "anyOf" in schema else schema


def sample_of(schema: dict[str, Any]) -> Any:
    """Something that the schema allows, of the required fields alone."""
    known = _resolved(schema)
    if "enum" in known or "const" in known:
        return known.get("const", known.get("enum", [None])[0])
    if known.get("type") == "object":
        return {name: sample_of(known["properties"][name]) for name in known.get("required", ())}
    if known.get("type") == "array":
        return [sample_of(known["items"])]
    word = (known.get("pattern") or "x").strip("^$()").split("|")[0]
    number = max(1, known.get("minimum", 1))
    return {"integer": number, "number": number, "boolean": True}.get(known.get("type", ""), word)


def test_files_and_streams_are_what_their_routes_say():
    said = {(method, one.path): (one.takes_file, one.is_stream) for (method, _), one in ROUTES.items()}
    assert {place for place, (takes_file, _) in said.items() if takes_file} == {
        ("POST", "/v1/namespaces/{namespace}/import"),
        ("POST", "/v1/import"),
    }
    assert {place for place, (_, is_stream) in said.items() if is_stream} == {
        ("GET", "/v1/namespaces/{namespace}/events"),
        ("GET", "/v1/jobs/{job_id}/events"),
    }


@pytest.mark.parametrize("name", ["import", "events"])
@pytest.mark.parametrize(("method", "declared"), [row for row in GUARDED if row[1].path.endswith("}")], ids=ids)
def test_the_last_part_of_a_path_changes_no_limit(
    walked: tuple[FastAPI, Keys], method: str, declared: Declared, name: str
):
    app, keys = walked
    path = re.sub(r"/x(?=\?|$)", f"/{name}", where(declared))
    found = Table(app.routes).find(method, path.partition("?")[0])
    assert found is not None
    if found.path == declared.path:
        body = asyncio.run(call(app, method, path, body=b"x" * (LIMITS.body_bytes + 1), headers=shown(keys.admin)))
        assert (body.status, found.is_stream) == (413, False)


@pytest.mark.parametrize("name", ["Authorization", "Content-Type", "Content-Length", "Host", "Origin", "If-Match"])
def test_a_header_of_one_value_stands_once(walked: tuple[FastAPI, Keys], name: str):
    app, keys = walked
    given = {**shown(keys.admin), name: "1", f"{name} ": "2"}
    answered = asyncio.run(call(app, "GET", "/v1/namespaces", headers=given))
    assert (answered.status, answered.code, answered.read_before) == (400, "INVALID_REQUEST", 0)
    assert b"stands twice" in answered.body
