"""The server in this process: every answer is checked against the OpenAPI document that the server gives of itself."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
from fastapi import FastAPI

import haversack
from haversack.engine.haversack import Haversack
from haversack.guard.settings import Limits
from haversack.server.app import create_app
from haversack.server.run import Server
from haversack.server.settings import ServerSettings

_DOCUMENT: dict[str, Any] = {}
"""The same for every application, so it is made once."""


class Http:
    """A client of one key that knows what may be answered."""

    def __init__(self, app: FastAPI, secret: str | None) -> None:
        self._app = app
        self._headers = {"authorization": f"Bearer {secret}"} if secret else {}
        self._document = _DOCUMENT or app.openapi()
        _DOCUMENT.update(self._document)
        self._paths = [
            (re.compile(re.sub(r"\{[^}]+\}", "[^/]+", path)), operations)
            for path, operations in self._document["paths"].items()
        ]

    def __call__(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {**self._headers, **more.pop("headers", {})}
        answered = asyncio.run(self._send(method, path, headers=headers, **more))
        self._check(method, path, answered)
        return answered

    async def _send(self, method: str, path: str, **more: Any) -> httpx.Response:
        transport = httpx.ASGITransport(self._app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, path, **more)

    def _check(self, method: str, path: str, answered: httpx.Response) -> None:
        bare = path.split("?", maxsplit=1)[0]
        operation = next((ops.get(method.lower()) for rule, ops in self._paths if rule.fullmatch(bare)), None)
        if operation is None:
            return
        declared = operation["responses"].get(str(answered.status_code))
        assert declared is not None, f"{method} {path}: {answered.status_code} is not declared: {answered.text}"
        content = declared.get("content", {}).get(answered.headers.get("content-type", "").split(";")[0], {})
        if "schema" in content and "json" in answered.headers["content-type"]:
            jsonschema.validate(answered.json(), {**content["schema"], "components": self._document["components"]})


@pytest.fixture
def sack(tmp_path: Path) -> Iterator[Haversack]:
    with haversack.open(tmp_path / "memory.db") as opened:
        yield opened


@pytest.fixture
def make(sack: Haversack) -> Callable[..., Http]:
    """Makes a client of a new server over the same store, with a new key of these rights."""

    def made(
        scope: str = "admin", namespaces: list[str] | None = None, *, audit_reads: bool = True, **limits: Any
    ) -> Http:
        app = create_app(sack, ServerSettings(limits=Limits(**limits), audit_reads=audit_reads))
        return Http(app, sack.keys.create(scope, scope=scope, namespaces=namespaces).secret)

    return made


@pytest.fixture
def http(make: Callable[..., Http]) -> Http:
    """A client that may do everything."""
    return make()


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[str, Haversack]]:
    """A real server on loopback: its address and its store."""
    with haversack.open(":memory:") as sack:
        settings = ServerSettings()
        server = Server(create_app(sack, settings), settings, host="127.0.0.1", port=0)
        with socket.create_server(("127.0.0.1", 0)) as listening:
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
            thread.start()
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", sack
            server.stop()
            thread.join(20)
