"""MCP over HTTP: every tool under every scope with hostile arguments; open only as long as nobody made a key."""

from __future__ import annotations

import json
import logging
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

import haversack
from haversack.clock import utc_now
from haversack.engine.erasing import MOST_ERASED
from haversack.engine.haversack import Haversack
from haversack.engine.keys import Scope
from haversack.engine.namespace import Namespace
from haversack.errors import BusyError
from haversack.guard.listening import listener
from haversack.guard.settings import Limits
from haversack.mcp.http import HttpOptions, create_app
from haversack.mcp.tools import TOOLS, Tool

_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
_HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
_VALUES: list[Any] = [None, True, -1, 10**400, 1e308, "", "\0", "x" * 20_000, [], {}, [[]], [None], {"": []}]
_BODIES = [b"", b"null", b"[]", b'"x"', bytes(range(256)), b"[" * 20_000, b'{"a":' * 9_000, b"1" * 40_000, b"{}"]


class Door:
    """A running server and a client that speaks the protocol by hand."""

    def __init__(self, url: str, sack: Haversack, http: httpx.Client) -> None:
        self.url = url
        self.sack = sack
        self.http = http

    def post(self, message: object, secret: str | None, query: str = "", **headers: str) -> httpx.Response:
        shown = {"authorization": f"Bearer {secret}"} if secret else {}
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.http.post(self.url + query, content=body, headers={**_HEADERS, **shown, **headers})

    def begin(self, secret: str | None, query: str = "") -> dict[str, str]:
        opened = self.post(_INITIALIZE, secret, query)
        assert opened.status_code == 200
        return {"mcp-session-id": opened.headers["mcp-session-id"]}

    def ask(self, tool: str, arguments: object, secret: str | None, session: dict[str, str], query: str = "") -> Any:
        message = {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        answered = self.post(message, secret, query, **session)
        assert answered.status_code < 500
        lines = [line for line in answered.text.splitlines() if line.startswith("data: {")]
        return json.loads(lines[-1].removeprefix("data: ")) if lines else answered.json()


def serving(options: HttpOptions) -> Iterator[Door]:
    with haversack.open(":memory:", embedder="none") as sack, socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(listener(create_app(sack, namespace="a", http=options), options.limits))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            with httpx.Client(timeout=20) as http:
                yield Door(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", sack, http)
        finally:
            server.should_exit = True
            thread.join(20)


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    limits = Limits(key_per_minute=0, failures_per_minute=0, key_check_seconds=0.01, drain_seconds=1)
    yield from serving(HttpOptions(limits=limits))


@pytest.fixture
def open_door() -> Iterator[Door]:
    yield from serving(HttpOptions(open=True, limits=Limits(key_check_seconds=0.01, drain_seconds=1)))


def words(told: Any) -> str:
    return told["result"]["content"][0]["text"]


def wrong(tool: Tool[Any]) -> Iterator[object]:
    """All arguments at once in every hostile shape."""
    return (dict.fromkeys(tool.takes.__struct_fields__, value) for value in _VALUES)


def hostile(tool: Tool[Any]) -> Iterator[object]:
    """The same, and each argument alone."""
    names = tool.takes.__struct_fields__
    yield from wrong(tool)
    yield from ({name: value} for name in names for value in _VALUES)
    yield {"no such argument": 1}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_smaller_scope_is_refused_before_the_arguments(door: Door, tool: Tool[Any]) -> None:
    for scope in Scope:
        if not scope.covers(tool.scope):
            secret = door.sack.keys.create("x", scope=scope).secret
            session = door.begin(secret)
            for arguments in wrong(tool):
                told = door.ask(tool.name, arguments, secret, session)
                assert words(told) == f"this needs a key with the scope {tool.scope}; yours has {scope}"


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_foreign_namespace_is_refused_before_the_arguments(door: Door, tool: Tool[Any]) -> None:
    secret = door.sack.keys.create("x", scope="admin", namespaces=["elsewhere"]).secret
    session = door.begin(secret)
    for arguments in wrong(tool):
        assert words(door.ask(tool.name, arguments, secret, session)) == "your key does not reach the namespace 'a'"


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_no_arguments_are_our_mistake(door: Door, tool: Tool[Any]) -> None:
    secret = door.sack.keys.create("x", scope="admin").secret
    session = door.begin(secret)
    for arguments in hostile(tool):
        told = door.ask(tool.name, arguments, secret, session)
        assert "failed inside" not in json.dumps(told)


def test_who_has_no_live_key_is_refused_whatever_the_body(door: Door) -> None:
    revoked = door.sack.keys.create("x", scope="admin")
    door.sack.keys.revoke(revoked.key.id)
    expired = door.sack.keys.create("x", scope="admin", expires_at=utc_now() + timedelta(milliseconds=5)).secret
    while door.sack.keys.check(expired):
        pass
    for secret in (None, revoked.secret, expired, "hvs_nobody_nothing"):
        for body in (*_BODIES, b" " * (5 << 20)):
            assert door.post(body, secret).status_code == 401
    admin = door.sack.keys.create("x", scope="admin").secret
    for body in _BODIES:
        assert 400 <= door.post(body, admin).status_code < 500


def test_a_header_of_one_value_stands_once(door: Door) -> None:
    secret = door.sack.keys.create("x").secret
    twice = [("authorization", f"Bearer {secret}"), *_HEADERS.items()]
    for name in ("authorization", "content-type"):
        answered = httpx.post(door.url, content=b"{}", headers=[*twice, (name, "Bearer x")], timeout=20)
        assert (answered.status_code, answered.json()["code"]) == (400, "INVALID_REQUEST")


def test_erasing_much_takes_an_admin(door: Door) -> None:
    ns = door.sack.namespace("a")
    ns.session("long").extend({"role": "user", "content": f"turn {number}"} for number in range(MOST_ERASED + 1))
    ns.session("short").add("user", "one turn")
    writer, admin = (door.sack.keys.create(scope, scope=scope).secret for scope in ("write", "admin"))
    session = door.begin(writer)
    erase = {"hard": True, "execute": True}
    refused = door.ask("forget", {"session": "long", **erase}, writer, session)
    assert words(refused) == "this needs a key with the scope admin; yours has write"
    assert "would forget for good" in words(door.ask("forget", {"session": "long", "hard": True}, writer, session))
    assert words(door.ask("forget", {"session": "short", **erase}, writer, session)).startswith("forgot for good")
    assert words(door.ask("forget", {"session": "long", **erase}, admin, door.begin(admin))).startswith("forgot")


def test_denials_are_logged_and_put_into_the_audit(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    issued = door.sack.keys.create("reader", namespaces=["a"])
    with caplog.at_level(logging.WARNING, "haversack.denials"):
        door.ask("remember", {"content": "x"}, issued.secret, door.begin(issued.secret))
        query = "?namespace=secret"
        door.ask("recall", {"query": "x"}, issued.secret, door.begin(issued.secret, query), query)
        door.post(_INITIALIZE, "hvs_nobody_nothing")
    told: list[dict[str, Any]] = [vars(record)["fields"] for record in caplog.records]
    assert [(one["status"], one["code"], one["namespace"], one["key"]) for one in told] == [
        (403, "INSUFFICIENT_SCOPE", "a", issued.key.id),
        (403, "NAMESPACE_ACCESS_DENIED", "secret", issued.key.id),
        (401, None, None, None),
    ]
    assert {one["address"] for one in told} == {"127.0.0.1"}
    denied = [deed.namespace for deed in door.sack.audit.read(did="denied") if deed.who == issued.key.id]
    assert denied == ["a", "secret"]


def test_where_the_store_lies_is_not_told(
    door: Door, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def busy(*_: object, **__: object) -> None:
        raise BusyError("/home/alice/memory.db is busy")

    secret = door.sack.keys.create("reader").secret
    monkeypatch.setattr(Namespace, "recall", busy)
    told = door.ask("recall", {"query": "tea"}, secret, door.begin(secret))
    assert words(told) == "another writer holds the store for too long; try again"
    assert "/home/alice/memory.db is busy" in caplog.text


def test_the_stream_ends_with_its_key(door: Door) -> None:
    issued = door.sack.keys.create("reader", namespaces=["a"])
    headers = {**_HEADERS, "authorization": f"Bearer {issued.secret}", **door.begin(issued.secret)}
    with httpx.stream("GET", door.url, headers=headers, timeout=20) as stream:
        assert stream.status_code == 200
        door.sack.keys.revoke(issued.key.id)
        assert [line for line in stream.iter_lines() if line.startswith("data")] == []


@pytest.mark.parametrize(
    "headers",
    [
        {"x-forwarded-for": "192.0.2.1"},
        {"via": "1.1 x"},
        {"sec-fetch-site": "cross-site"},
        {"origin": "http://localhost:5"},
    ],
)
def test_an_open_server_answers_to_nobody_from_elsewhere(open_door: Door, headers: dict[str, str]) -> None:
    assert open_door.post(_INITIALIZE, None).status_code == 200
    assert open_door.post(_INITIALIZE, None, **headers).status_code == 403


def test_an_open_server_closes_when_the_first_key_is_made(open_door: Door) -> None:
    session = open_door.begin(None)
    with httpx.stream("GET", open_door.url, headers={**_HEADERS, **session}, timeout=20) as stream:
        secret = open_door.sack.keys.create("first").secret
        assert [line for line in stream.iter_lines() if line.startswith("data")] == []
    assert open_door.post(_INITIALIZE, None).status_code == 401
    assert open_door.post(_INITIALIZE, secret).status_code == 200


def test_a_store_that_had_keys_is_not_served_open(tmp_path: Path) -> None:
    with haversack.open(tmp_path / "m.db", embedder="none") as sack:
        sack.keys.revoke(sack.keys.create("x").key.id)
    program = str(Path(sys.executable).with_name("haversack"))
    command = [program, "mcp", "--http", "--open", "--port", "0", "--store", str(tmp_path / "m.db")]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert (done.returncode, "never served without one" in done.stderr) == (2, True)
