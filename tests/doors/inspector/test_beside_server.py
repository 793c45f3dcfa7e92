"""The pages beside the real server, on one port: each has its own way in, and neither opens the other."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import httpx
import pytest

import haversack
from haversack.engine.haversack import Haversack
from haversack.inspector.render import Defaults
from haversack.inspector.run import with_pages
from haversack.server.app import create_app
from haversack.server.run import Server
from haversack.server.settings import ServerSettings


@pytest.fixture(scope="module")
def served(filled: Callable[[Haversack], None]) -> Iterator[tuple[str, Haversack]]:
    with haversack.open(":memory:", embedder="none") as sack:
        filled(sack)
        settings = ServerSettings()
        around = with_pages(sack, Defaults(), by_key=True)
        server = Server(create_app(sack, settings), settings, host="127.0.0.1", port=0, around=around)
        with socket.create_server(("127.0.0.1", 0)) as listening:
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
            thread.start()
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", sack
            server.stop()
            thread.join(20)


def test_a_key_opens_the_pages_by_a_cookie_that_is_no_key(served: tuple[str, Haversack]) -> None:
    address, sack = served
    secret = sack.keys.create("reader", scope="read", namespaces=["harbour"]).secret
    with httpx.Client(base_url=address) as client:
        assert client.get("/inspector/memories").headers["location"] == "/inspector/enter"
        assert "Key" in client.get("/inspector/enter").text
        assert client.post("/inspector/enter", data={"key": secret}).status_code == 303
        assert "Mira prefers metric units" in client.get("/inspector/memories?namespace=harbour&q=metric").text
        assert client.get("/v1/namespaces").status_code == 401
        assert client.get("/v1/namespaces", headers={"authorization": f"Bearer {secret}"}).status_code == 200


def test_a_bearer_key_alone_opens_no_page(served: tuple[str, Haversack]) -> None:
    address, sack = served
    secret = sack.keys.create("ops", scope="admin").secret
    answered = httpx.get(f"{address}/inspector/prompt", headers={"authorization": f"Bearer {secret}"})
    assert answered.status_code == 303
    assert httpx.get(f"{address}/health/live").status_code == 200
