"""`haversack mcp --http` on loopback: keys, namespaces, names of hosts, parallel calls, restart."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Awaitable, Generator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import anyio
import httpx
import httpx2
import jwt
import numpy as np
import pytest
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent, TextResourceContents

import haversack
from haversack.embed.embedder import Vectors
from haversack.engine.keys import Scope
from haversack.guard.listening import listener
from haversack.guard.settings import Limits, TokenSettings
from haversack.mcp.http import HttpOptions, create_app

_Result = TypeVar("_Result")
_PROGRAM = str(Path(sys.executable).with_name("haversack"))
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
_HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@dataclass(frozen=True)
class Served:
    url: str
    store: Path
    keys: dict[str, str]
    """Secrets: `writer` and `reader` reach a and a-*, `other` reaches b."""

    @asynccontextmanager
    async def client(self, key: str | None, *, query: str = "", mode: Any = "auto") -> AsyncGenerator[Client]:
        headers = {"authorization": f"Bearer {self.keys[key]}"} if key else {}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(self.url + query, http_client=http)
            async with Client(transport, mode=mode) as client:
                yield client

    def post(self, message: object, **headers: str) -> httpx.Response:
        return httpx.post(self.url, content=json.dumps(message), headers={**_HEADERS, **headers}, timeout=60)


def run(work: Awaitable[_Result]) -> _Result:
    async def limited() -> _Result:
        return await asyncio.wait_for(work, 100)

    return asyncio.run(limited())


def words(result: CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


@contextmanager
def serving(store: Path, *arguments: str) -> Generator[str]:
    """The address of a server process."""
    command = [_PROGRAM, "mcp", "--http", "--port", "0", "--store", str(store), "-n", "a", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.fullmatch(r"haversack: MCP at (http://127\.0\.0\.1:\d+/mcp)\n", said)
        assert found, said + process.stderr.read()
        yield found[1]
    finally:
        process.terminate()
        process.communicate(timeout=60)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    store = tmp_path_factory.mktemp("http") / "m.db"
    with haversack.open(store) as sack:
        keys = {
            "writer": sack.keys.create("writer", scope=Scope.WRITE, namespaces=["a", "a-*"]).secret,
            "reader": sack.keys.create("reader", scope=Scope.READ, namespaces=["a", "a-*"]).secret,
            "other": sack.keys.create("other", scope=Scope.ADMIN, namespaces=["b"]).secret,
        }
    with serving(store) as url:
        yield Served(url, store, keys)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_key_reads_and_writes_in_its_namespaces(served: Served, mode: str) -> None:
    async def work() -> None:
        async with served.client("writer", query="?namespace=a-child", mode=mode) as client:
            said = words(await client.call_tool("remember", {"content": "a lamp in the hall 💡"}))
            one = said.split()[1]
            assert one in words(await client.call_tool("recall", {"query": "lamp"}))
            stats = (await client.read_resource("haversack://stats")).contents[0]
            assert isinstance(stats, TextResourceContents)
            assert '"namespace":"a-child"' in stats.text
        async with served.client("reader", mode=mode) as client:
            assert one not in words(await client.call_tool("recall", {"query": "lamp"}))

    run(work())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_key_does_not_do_more_than_it_may(served: Served, mode: str) -> None:
    async def work() -> None:
        async with served.client("reader", mode=mode) as client:
            for tool, arguments in (("remember", {"content": "x"}), ("forget", {"ids": ["x"]})):
                result = await client.call_tool(tool, arguments)
                assert result.is_error
                assert words(result) == "this needs a key with the scope write; yours has read"
        for query in ("", "?namespace=c", "?namespace=a-child", "?namespace=b%00"):
            async with served.client("other", query=query, mode=mode) as client:
                for tool, arguments in (
                    ("recall", {"query": "lamp"}),
                    ("sessions", {}),
                    ("remember", {"content": "x"}),
                ):
                    result = await client.call_tool(tool, arguments)
                    assert result.is_error
                    assert "does not reach the namespace" in words(result)
                with pytest.raises(Exception, match="does not reach the namespace"):
                    await client.list_resources()
                with pytest.raises(Exception, match="does not reach the namespace"):
                    await client.read_resource("haversack://stats")
                with pytest.raises(Exception, match="does not reach the namespace"):
                    await client.get_prompt("answer_from_memory", {"question": "lamp"})

    run(work())


@pytest.mark.parametrize("shown", [None, "Bearer", "Bearer hvs_nobody_secret", "Basic {writer}", "Bearer x{writer}"])
def test_without_a_live_key_nothing_is_answered(served: Served, shown: str | None) -> None:
    headers = {} if shown is None else {"authorization": shown.format(**served.keys)}
    answered = served.post(_INITIALIZE, **headers)
    assert answered.status_code == 401
    assert answered.headers["www-authenticate"].startswith("Bearer")
    assert httpx.get(served.url, headers={**_HEADERS, **headers}).status_code == 401
    assert httpx.delete(served.url, headers=headers).status_code == 401


def test_a_revoked_key_is_refused_at_the_next_request(served: Served) -> None:
    with haversack.open(served.store) as sack:
        issued = sack.keys.create("brief", scope=Scope.READ)
        shown = {"authorization": f"Bearer {issued.secret}"}
        opened = served.post(_INITIALIZE, **shown)
        assert opened.status_code == 200
        sack.keys.revoke(issued.key.id)
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    session = {"mcp-session-id": opened.headers["mcp-session-id"]}
    assert served.post(listing, **shown, **session).status_code == 401


def test_a_protocol_session_belongs_to_its_key(served: Served) -> None:
    opened = served.post(_INITIALIZE, authorization=f"Bearer {served.keys['writer']}")
    session = {"mcp-session-id": opened.headers["mcp-session-id"]}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    assert served.post(listing, authorization=f"Bearer {served.keys['other']}", **session).status_code == 404
    assert served.post(listing, authorization=f"Bearer {served.keys['writer']}", **session).status_code == 200


def test_other_names_and_pages_are_refused(served: Served) -> None:
    shown = {"authorization": f"Bearer {served.keys['writer']}"}
    assert served.post(_INITIALIZE, **shown, host="evil.example").status_code == 421
    assert served.post(_INITIALIZE, **shown, origin="https://evil.example").status_code == 403
    assert served.post(_INITIALIZE, **shown, origin="http://localhost:3000").status_code == 200


def test_what_is_no_message_and_what_is_too_large_is_refused(served: Served) -> None:
    shown = {**_HEADERS, "authorization": f"Bearer {served.keys['writer']}"}
    for body, status in (("{", 400), ("[]", 400), ("[" * 100_000, 400), (" " * (5 << 20), 413)):
        assert httpx.post(served.url, content=body, headers=shown, timeout=60).status_code == status


def test_the_audit_names_the_key(served: Served) -> None:
    async def work() -> str:
        async with served.client("writer") as client:
            one = words(await client.call_tool("remember", {"content": "audited"})).split()[1]
            await client.call_tool("forget", {"ids": [one], "execute": True})
        return one

    one = run(work())
    with haversack.open(served.store) as sack:
        writer = next(key.id for key in sack.keys.all() if key.name == "writer")
        deeds = [(deed.who, deed.did, deed.namespace) for deed in sack.audit.read() if one in deed.memories]
    assert deeds == [(writer, "remember", "a"), (writer, "forget", "a")]


def test_fifty_calls_at_once_and_a_restart(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    made: list[str] = []

    async def fill(url: str) -> None:
        async with Client(url) as client, anyio.create_task_group() as group:
            for number in range(50):
                group.start_soon(one, client, number)

    async def one(client: Client, number: int) -> None:
        result = await client.call_tool("remember", {"content": f"fact number {number}"})
        made.append(words(result).split()[1])

    for _ in range(2):
        with serving(store, "--open") as url:
            run(fill(url))
    assert len(made) == 100
    assert sorted(made[:50]) == sorted(made[50:])
    assert len(set(made)) == 50


class _Gated:
    """An embedder that holds a slow text up until it may go on."""

    model = "gated"
    dimension = 8

    def __init__(self) -> None:
        self.go = threading.Event()

    def embed(self, texts: Sequence[str]) -> Vectors:
        if any("slow" in text for text in texts):
            assert self.go.wait(60)
        return np.eye(8, dtype=np.float32)[[0] * len(texts)]

    def embed_query(self, text: str) -> Vectors:
        return np.eye(8, dtype=np.float32)[0]


@contextmanager
def serving_here(embedder: _Gated) -> Generator[str]:
    """The address of a server in a thread of this process."""
    with haversack.open(":memory:", embedder=embedder) as sack:
        app = create_app(sack, namespace="n", http=HttpOptions(open=True))
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=5))
        listening = socket.create_server(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            embedder.go.set()
            server.should_exit = True
            thread.join(60)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_slow_call_reports_progress_and_can_be_cancelled(mode: Any) -> None:
    gated = _Gated()
    reports: list[tuple[float, str | None]] = []

    async def work(url: str) -> None:
        async with Client(url, mode=mode) as client:
            with anyio.CancelScope() as scope:

                async def watch(progress: float, total: float | None, message: str | None) -> None:
                    assert total is None
                    reports.append((progress, message))
                    scope.cancel()

                await client.call_tool("remember", {"content": "a slow one"}, progress_callback=watch)
            assert scope.cancelled_caught
            assert not (await client.call_tool("recall", {"query": "anything else"})).is_error
            gated.go.set()
            assert not (await client.call_tool("remember", {"content": "the next"})).is_error

    with serving_here(gated) as url:
        run(work(url))
    assert reports == [(1.0, "remember: at work for 1 s")]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])  # noqa: S104 - refused, not bound
def test_without_keys_only_loopback_is_served(tmp_path: Path, host: str) -> None:
    command = [_PROGRAM, "mcp", "--http", "--open", "--host", host, "--store", str(tmp_path / "m.db")]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert done.returncode == 2
    assert "only loopback is served" in done.stderr


@contextmanager
def in_process(store: Path, http: HttpOptions) -> Generator[str]:
    """The address of a server in this process."""
    with haversack.open(store, embedder="none") as sack, socket.create_server(("127.0.0.1", 0)) as listening:
        app = create_app(sack, namespace="a", http=http)
        server = uvicorn.Server(listener(app, http.limits))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            thread.join(20)


def test_keys_have_a_pace_and_wrong_ones_are_slowed_down(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    with haversack.open(store, embedder="none") as sack:
        shown = {"authorization": f"Bearer {sack.keys.create('a').secret}"}
    limits = Limits(key_per_minute=3, failures_per_minute=2, body_seconds=1)
    with in_process(store, HttpOptions(limits=limits)) as url:
        served = Served(url, store, {})
        wrong = [served.post(_INITIALIZE, authorization="Bearer hvs_nobody_nothing") for _ in range(3)]
        assert [one.status_code for one in wrong] == [401, 401, 429]
        told = [served.post(_INITIALIZE, **shown) for _ in range(4)]
        assert [one.status_code for one in told] == [200, 200, 200, 429]
        assert int(told[3].headers["retry-after"]) >= 1
        host, _, port = url.removeprefix("http://").removesuffix("/mcp").partition(":")
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            lines = ("POST /mcp HTTP/1.1", "Host: localhost", "Authorization: Bearer x", "Content-Length: 9", "", "")
            connection.sendall("\r\n".join(lines).encode())
            assert connection.recv(1000).startswith(b"HTTP/1.1 429 ")


_LISTING = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def test_a_key_has_a_share_of_the_sessions(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    with haversack.open(store, embedder="none") as sack:
        mine, other = ({"authorization": f"Bearer {sack.keys.create(name).secret}"} for name in ("a", "b"))
    with in_process(store, HttpOptions(limits=Limits(key_sessions=3))) as url:
        served = Served(url, store, {})

        def opened(shown: dict[str, str]) -> dict[str, str]:
            answered = served.post(_INITIALIZE, **shown)
            assert answered.status_code == 200
            return {**shown, "mcp-session-id": answered.headers["mcp-session-id"]}

        def status_of(session: dict[str, str]) -> int:
            return served.post(_LISTING, **session).status_code

        theirs, streaming, used, idle = opened(other), opened(mine), opened(mine), opened(mine)
        with httpx.stream("GET", url, headers={**streaming, "accept": "text/event-stream"}, timeout=60) as stream:
            assert stream.status_code == 200
            assert status_of(used) == 200
            newer = [opened(mine)]
            assert (status_of(idle), status_of(used)) == (404, 200)
            newer.append(opened(mine))
            assert [status_of(each) for each in (used, *newer)] == [200, 404, 200]
        assert [status_of(each) for each in (streaming, theirs)] == [200, 200]


def test_idle_sessions_are_kept_for_as_long_as_the_settings_say(tmp_path: Path) -> None:
    with haversack.open(tmp_path / "m.db", embedder="none") as sack:
        app = create_app(sack, namespace="a", http=HttpOptions(limits=Limits(session_seconds=77)))
        manager = app.routes[0].endpoint.session_manager  # type: ignore[attr-defined]
        assert manager.session_idle_timeout == 77


def test_tokens_of_an_identity_provider_are_taken(tmp_path: Path) -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    public = {**json.loads(ECAlgorithm.to_jwk(private.public_key())), "kid": "k1", "alg": "ES256", "use": "sig"}
    jwks = tmp_path / "jwks.json"
    jwks.write_text(json.dumps({"keys": [public]}))
    tokens = TokenSettings(issuer="https://id.example", audience="haversack", jwks=str(jwks))
    claims = {
        "iss": "https://id.example",
        "aud": "haversack",
        "sub": "svc-1",
        "exp": datetime.now(UTC) + timedelta(minutes=5),
        "scope": "haversack:write",
        "haversack_namespaces": ["a"],
    }
    headers = {"kid": "k1"}
    keys = {
        "writer": jwt.encode(claims, private, "ES256", headers),
        "stale": jwt.encode({**claims, "exp": 1}, private, "ES256", headers),
    }
    store = tmp_path / "m.db"

    async def work(served: Served) -> None:
        async with served.client("writer") as client:
            assert words(await client.call_tool("remember", {"content": "by token"})).startswith("remembered ")
        async with served.client("writer", query="?namespace=b") as client:
            assert "does not reach the namespace" in words(await client.call_tool("sessions", {}))

    with in_process(store, HttpOptions(tokens=tokens)) as url:
        served = Served(url, store, keys)
        run(work(served))
        assert served.post(_INITIALIZE, authorization=f"Bearer {keys['stale']}").status_code == 401
    with haversack.open(store, embedder="none") as sack:
        assert {deed.who for deed in sack.audit.read()} == {"token:svc-1"}
