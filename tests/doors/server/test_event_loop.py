"""No store is called on an event loop: every route, page and tool, the verbs to await, and what runs beside them."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import re
import socket
import threading
import traceback
from collections.abc import AsyncIterator, Generator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import httpx
import httpx2
import pytest
from fastapi import FastAPI
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp

from haversack import to_async
from haversack.clock import utc_now
from haversack.engine.asynchronous import Asynchronous
from haversack.engine.auditing import Deed
from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.engine.receipts import Receipt
from haversack.engine.settings import Settings
from haversack.errors import HaversackError, StoreError
from haversack.guard.listening import Listener, listener
from haversack.guard.settings import Limits
from haversack.inspector.app import create_pages
from haversack.inspector.entrance import Entrance, Way
from haversack.maintenance.archive import Schedule
from haversack.mcp.http import HttpOptions
from haversack.mcp.http import create_app as create_mcp
from haversack.model.memory import Kind
from haversack.recall import Recall
from haversack.server.app import create_app
from haversack.server.declared import Declared
from haversack.server.settings import ServerSettings
from haversack.store.memory import MemoryStore
from haversack.store.port import Store
from haversack.tokens import counter_for

from .test_walk import DOCUMENT, ROUTES, call, ids, sample_of, shown

LIMITS = Limits(key_check_seconds=0.01, key_per_minute=0)
SECONDS = 60
"""After which a thread that waits in vain gives up."""


class Watched(MemoryStore):
    """Notes who calls it on a thread that runs an event loop, and which of its verbs were called at all."""

    def __init__(self) -> None:
        super().__init__()
        self.blocked: list[str] = []
        self.called: set[str] = set()

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if not name.startswith("_") and callable(found):
            self.called.add(name)
            if _runs_a_loop():
                self.blocked.append("".join(traceback.format_stack(limit=16)[:-1]))
        return found


def _runs_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def engine_over(store: Store, **settings: Any) -> Haversack:
    core = Core(
        store=store,
        recall=Recall(store),
        embedder=None,
        settings=Settings(**settings),
        clock=utc_now,
        entropy=os.urandom,
        counter=counter_for,
    )
    return Haversack(core)


@pytest.fixture
def store() -> Watched:
    return Watched()


@pytest.fixture
def sack(store: Watched) -> Generator[Haversack]:
    """Its namespace `alice` holds memories and the conversation `s`."""
    with engine_over(store) as opened:
        ns = opened.namespace("alice")
        ns.remember("Mira moors the barley boat at pier four", tags=["boat"])
        ns.remember("The crane on pier four is broken")
        ns.session("s").extend({"role": "user", "content": f"Turn {number} about the boat"} for number in range(4))
        yield opened


def _request(sack: Haversack, method: str, declared: Declared) -> tuple[str, bytes]:
    """The path and the body of a request that the route may well carry out."""
    memory = sack.namespace("alice").everything()[0].id
    places = {"namespace": "alice", "session": "s", "session_id": "s", "memory_id": memory, "agent_id": "alice"}
    path = re.sub(r"\{([^}]+)\}", lambda found: places.get(found[1], "x"), declared.path)
    operation = DOCUMENT["paths"].get(declared.path, {}).get(method.lower(), {})
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    return f"{path}?agent_id=alice", b"" if schema is None else json.dumps(sample_of(schema)).encode()


@pytest.mark.parametrize(("method", "declared"), [(method, one) for (method, _), one in ROUTES.items()], ids=ids)
def test_no_route_calls_the_store_on_the_loop(store: Watched, sack: Haversack, method: str, declared: Declared):
    app = create_app(sack, ServerSettings(limits=LIMITS, open=True))
    path, body = _request(sack, method, declared)
    file = {"content-type": "multipart/form-data; boundary=b"} if declared.takes_file else {}
    part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n{"content": "x"}\r\n--b--\r\n'

    async def with_and_without_a_key() -> None:
        answered = await call(app, method, path, body=part if declared.takes_file else body, headers=file)
        assert answered.status not in {401, 500}
        key = await asyncio.to_thread(sack.keys.create, "admin", scope="admin")
        answered = await call(
            app, method, path, body=part if declared.takes_file else body, headers=file | shown(key.secret)
        )
        assert answered.status not in {401, 500}
        assert (await call(app, method, path, headers=shown("hvs_x_y"))).status == (
            200 if declared.scope is None else 401
        )

    asyncio.run(with_and_without_a_key())
    assert store.blocked == [], store.blocked[0]


@contextmanager
def serving(app: ASGIApp) -> Generator[str]:
    """The address of a server in a thread of this process."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = Listener(listener(app, LIMITS))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.stop()
            thread.join(SECONDS)


def test_nothing_beside_the_routes_calls_it_on_the_loop_either(store: Watched, sack: Haversack):
    """Beginning and ending, what is written now and then, and the keys of open streams."""
    begun, go = threading.Event(), threading.Event()

    def work(_: object) -> dict[str, Any]:
        begun.set()
        assert go.wait(SECONDS)
        return {}

    job = sack.jobs.start("wait", "alice", work, asked_by="test")
    assert begun.wait(SECONDS)
    with serving(create_app(sack, ServerSettings(limits=LIMITS))) as url:
        for path in ("/v1/namespaces/alice/events", f"/v1/jobs/{job.id}/events"):
            key = sack.keys.create("reader")
            with httpx.stream("GET", url + path, headers=shown(key.secret), timeout=SECONDS) as stream:
                lines = stream.iter_lines()
                next(lines)
                sack.keys.revoke(key.key.id)
                assert list(lines)[-1:] == [""]
    go.set()
    assert store.blocked == [], store.blocked[0]


TOOLS: Mapping[str, Mapping[str, Any]] = {
    "remember": {"content": "The boat is blue"},
    "recall": {"query": "boat"},
    "context": {"query": "boat"},
    "forget": {"session": "s", "execute": True, "hard": True},
    "why": {"query": "boat", "id": "x"},
    "history": {"subject": "boat/place"},
    "sessions": {"session": "s"},
}


@pytest.mark.parametrize("keyed", [False, True])
def test_no_tool_calls_the_store_on_the_loop(store: Watched, sack: Haversack, *, keyed: bool):
    app = create_mcp(sack, namespace="alice", http=HttpOptions(open=not keyed, limits=LIMITS))
    headers = shown(sack.keys.create("admin", scope="admin").secret) if keyed else {}

    async def use(url: str) -> set[str]:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=SECONDS) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            for name, arguments in TOOLS.items():
                await client.call_tool(name, dict(arguments))
            for resource in (await client.list_resources()).resources:
                await client.read_resource(resource.uri)
            for prompt in (await client.list_prompts()).prompts:
                await client.get_prompt(prompt.name, {"question": "boat"})
            return {tool.name for tool in (await client.list_tools()).tools}

    with serving(app) as url:
        assert asyncio.run(asyncio.wait_for(use(url), SECONDS)) == set(TOOLS)
    assert {"turns", "census", "sessions", "apply"} <= store.called
    assert store.blocked == [], store.blocked[0]


@pytest.mark.parametrize("way", list(Way))
def test_no_page_calls_the_store_on_the_loop(store: Watched, sack: Haversack, way: Way):
    entrance = Entrance(sack=sack, way=way, clock=utc_now)
    pages = create_pages(entrance)
    assert isinstance(pages, Starlette)
    places = [(method, one.path) for one in pages.routes if isinstance(one, Route) for method in one.methods or ()]
    assert len(places) > 20
    query = urlencode(
        {"namespace": "alice", "id": sack.namespace("alice").everything()[0].id, "session": "s", "q": "b"}
    )

    def came_in() -> dict[str, str]:
        match way:
            case Way.TOKEN:
                entrance.token = "again"  # noqa: S105 - one of a test
                cookie = entrance.enter_by_token("again")
            case Way.KEY:
                cookie = entrance.enter_by_key(secret)
            case Way.OPEN:
                cookie = entrance.enter_freely()
        visitor = entrance.visitor(cookie)
        assert visitor is not None
        return {"cookie": f"{entrance.cookie}={cookie}", "proof": visitor.proof}

    async def visit() -> None:
        for method, path in places:
            headers = await asyncio.to_thread(came_in)
            form = urlencode({"proof": headers.pop("proof"), "namespace": "alice", "content": "b"}).encode()
            for given in (headers, {}):
                body = form if method == "POST" else b""
                assert (await call(pages, method, f"{path}?{query}", body=body, headers=given)).status < 500

    secret = sack.keys.create("admin", scope="admin").secret if way is Way.KEY else ""
    asyncio.run(visit())
    assert store.blocked == [], store.blocked[0]


GIVEN: Mapping[str, Any] = {
    "query": "boat",
    "content": "The boat is green",
    "session_id": "s",
    "namespace": "alice",
    "field": "tags",
    "value": "boat",
    "key": "k",
    "request": b"r",
    "act": Receipt,
    "items": ["The mast is new"],
    "said": [(Kind.FACT, "The mast is new")],
    "found": [],
    "signal": "up",
    "messages": [{"role": "user", "content": "Hello boat"}],
    "role": "user",
    "drafts": [],
    "name": "n",
    "deed": Deed(who="x", did="test"),
    "before": datetime(2020, 1, 1, tzinfo=UTC),
    "job_id": "x",
    "job": None,
    "done": 1,
    "total": 1,
    "message": "",
    "kind": "test",
    "work": lambda _: {},  # pyright: ignore[reportUnknownLambdaType]
    "asked_by": "x",
    "key_id": "x",
    "secret": "hvs_x_y",
    "outcome": "good",
    "worked": True,
    "entity": "Mira",
    "subject": "Mira",
    "predicate": "owns",
    "object_": "boat",
    "proposal_id": "x",
    "accept": True,
    "by": "x",
    "policy": {},
    "shared": "shared",
    "author": "x",
    "run_id": "x",
    "lines": [],
    "path": "x",
    "schedule": Schedule(),
    "visit_id": "x",
    "model": "gpt-4o",
    "counted": 1,
    "reported": 1,
}
"""What verbs that cannot do without it are given, by the parameter's name."""
LEFT_OUT = {"close", "report", "still_opens", "copy_to", "still_holding", "forget_in_snapshots", "submit"}
"""Ended last, or fed by what other verbs give: each of them is called in a thread like the rest."""


def test_no_verb_that_is_awaited_calls_the_store_on_the_loop(store: Watched, sack: Haversack):
    one = sack.namespace("alice").everything()[0].id
    given = {**GIVEN, "memory_id": one, "memory_ids": [one, one], "key": "k"}

    async def call_all(handle: Asynchronous[Any]) -> int:
        called = 0
        for name in dir(handle):
            verb = None if name.startswith("_") or name in LEFT_OUT else getattr(handle, name)
            if isinstance(verb, Asynchronous):
                called += await call_all(verb)
            elif inspect.iscoroutinefunction(verb):
                called += 1
                needed = {
                    each.name: given[each.name]
                    for each in inspect.signature(verb).parameters.values()
                    if _is_needed(each)
                }
                with suppress(HaversackError):
                    result = await verb(**needed)
                    if isinstance(result, AsyncIterator):
                        async for _ in result:
                            pass
        return called

    async def use() -> int:
        async with to_async(sack) as shared:
            ns = shared.namespace("alice")
            return await call_all(ns.session("s")) + await call_all(ns) + await call_all(shared)

    assert asyncio.run(use()) > 100
    assert {"apply", "changes", "records", "said", "frozen", "close"} <= store.called
    assert store.blocked == [], store.blocked[0]


def _is_needed(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty and parameter.kind not in {
        parameter.VAR_KEYWORD,
        parameter.VAR_POSITIONAL,
    }


class Held(MemoryStore):
    """Once `stops` is set, holds up every call of one verb until it may go on."""

    def __init__(self, verb: str) -> None:
        super().__init__()
        self.verb = verb
        self.stops, self.go = threading.Event(), threading.Event()
        self.held = threading.Semaphore(0)

    def __getattribute__(self, name: str) -> Any:
        if name in {"record", "census"} and name == self.verb and self.stops.is_set():
            self.held.release()
            assert self.go.wait(SECONDS)
        return super().__getattribute__(name)


@contextmanager
def held(verb: str, limits: Limits, **settings: Any) -> Generator[tuple[Held, Haversack, FastAPI]]:
    """An engine over such a store, and its server; everything goes on at the end."""
    store = Held(verb)
    with engine_over(store, **settings) as sack:
        try:
            yield store, sack, create_app(sack, ServerSettings(limits=limits))
        finally:
            store.go.set()


@pytest.mark.parametrize("verb", ["record", "census"])
def test_health_answers_while_the_store_holds_up_all_requests(verb: str):
    """`record` holds up the checks of keys, `census` the work; the latter leaves readiness and refusals alone."""
    with held(verb, LIMITS) as (store, sack, app):
        secret = sack.keys.create("reader").secret
        sack.namespace("alice").remember("The boat is blue")

        async def busy() -> list[int]:
            store.stops.set()
            asked = [
                asyncio.create_task(call(app, "GET", "/v1/namespaces/alice", headers=shown(secret))) for _ in range(16)
            ]
            for _ in range(8):
                assert await asyncio.to_thread(store.held.acquire, timeout=SECONDS)
            now = [(await call(app, "GET", "/health")).status, (await call(app, "GET", "/health/live")).status]
            if verb == "census":
                now += [(await call(app, "GET", "/health/ready")).status]
                now += [(await call(app, "GET", "/v1/namespaces", headers=shown("hvs_x_y"))).status]
            assert not any(task.done() for task in asked)
            store.go.set()
            assert [(await task).status for task in asked] == [200] * 16
            return now

        assert asyncio.run(busy()) == ([200, 200] if verb == "record" else [200, 200, 200, 401])


def test_who_leaves_while_they_wait_are_not_worked_for():
    """One request is at work; of two that wait, one leaves, and its work is never begun."""
    with held("census", Limits(active=8, wait_seconds=SECONDS), threads=1) as (store, sack, app), serving(app) as url:
        secret = sack.keys.create("reader").secret
        sack.namespace("alice").remember("The boat is blue")
        store.stops.set()
        host, _, port = url.removeprefix("http://").partition(":")
        asked = (
            f"GET /v1/namespaces/alice HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {secret}\r\n\r\n".encode()
        )
        first, *others = [socket.create_connection((host, int(port)), timeout=SECONDS) for _ in range(3)]
        first.sendall(asked)
        assert store.held.acquire(timeout=SECONDS)
        leaves, stays = others
        for one in others:
            one.sendall(asked)
        places = app.state.pace._places
        while places.waiting < 2:
            pass
        leaves.close()
        while places.waiting > 1:
            pass
        store.go.set()
        assert [one.recv(12) for one in (first, stays)] == [b"HTTP/1.1 200"] * 2
        assert [store.held.acquire(blocking=False) for _ in range(2)] == [True, False]
        first.close()
        stays.close()


def test_a_call_that_is_cancelled_while_it_waits_for_a_thread_never_begins():
    store = Held("census")
    with engine_over(store, threads=1) as sack:
        store.stops.set()

        async def use() -> None:
            ns = to_async(sack).namespace("alice")
            first = asyncio.create_task(ns.stats())
            assert await asyncio.to_thread(store.held.acquire, timeout=SECONDS)
            second = asyncio.create_task(ns.remember("The boat is blue"))
            await asyncio.sleep(0)
            second.cancel()
            await asyncio.wait({second})
            store.go.set()
            await first
            assert second.cancelled()
            assert (await ns.stats()).memories == {}

        asyncio.run(use())


def test_a_closed_store_takes_no_more_calls():
    async def use() -> None:
        async with to_async(engine_over(MemoryStore())) as shared:
            ns = shared.namespace("alice")
            await ns.stats()
        with pytest.raises(StoreError, match="this store is closed"):
            await ns.stats()

    asyncio.run(use())
