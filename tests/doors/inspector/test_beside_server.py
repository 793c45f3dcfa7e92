"""The pages beside the real server, on one port: each has its own way in, and neither opens the other."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import httpx
import pytest

import haversack
from haversack.engine.haversack import Haversack
from haversack.guard.settings import Limits
from haversack.inspector.render import Defaults
from haversack.inspector.run import pages_of
from haversack.server.app import create_app
from haversack.server.run import Server
from haversack.server.settings import ServerSettings


@pytest.fixture(scope="module")
def served(filled: Callable[[Haversack], None]) -> Iterator[tuple[str, Haversack]]:
    with haversack.open(":memory:", embedder="none") as sack:
        filled(sack)
        settings = ServerSettings(limits=Limits(failures_per_minute=2, body_seconds=1))
        pages = pages_of(sack, Defaults(), by_key=True)
        server = Server(create_app(sack, settings, pages), settings, host="127.0.0.1", port=0)
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


def test_pages_are_within_the_limits_of_the_server(served: tuple[str, Haversack]) -> None:
    address, sack = served
    secret = sack.keys.create("late", scope="read").secret
    with httpx.Client(base_url=address) as client:
        told = [client.post("/inspector/enter", data={"key": "hvs_nobody_nothing"}) for _ in range(3)]
        assert [one.status_code for one in told] == [401, 401, 429]
        assert int(told[2].headers["retry-after"]) >= 1
        assert client.get("/v1/namespaces", headers={"authorization": "Bearer wrong"}).status_code == 429
        assert client.post("/inspector/enter", data={"key": secret}).status_code == 303
        page = client.get("/inspector/memories?namespace=harbour")
        assert (page.status_code, int(page.headers["x-ratelimit-remaining"]) > 0) == (200, True)
        assert client.post("/inspector/memory/change", content=b"x" * (5 << 20)).status_code == 413
        shown = {"authorization": f"Bearer {sack.keys.create('ops', scope='admin').secret}"}
        assert 'route="/inspector"' in client.get("/metrics", headers=shown).text


def test_a_slow_form_is_given_up_on(served: tuple[str, Haversack]) -> None:
    port = int(served[0].rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        lines = ("POST /inspector/enter HTTP/1.1", "Host: localhost", "Content-Length: 100", "", "key=")
        connection.sendall("\r\n".join(lines).encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 408 ")
