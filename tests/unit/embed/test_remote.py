from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from haversack.embed.remote import RemoteEmbedder
from haversack.errors import ConfigError, ServiceError, ServiceTimeout

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

Answer = Callable[[list[str]], tuple[int, bytes]]
Serve = Callable[[Answer], tuple[str, list[dict[str, Any]]]]


def vectors(rows: list[list[float]]) -> bytes:
    return json.dumps({"data": [{"index": i, "embedding": row} for i, row in enumerate(rows)]}).encode()


@pytest.fixture
def serve(socket_enabled: None) -> Iterator[Serve]:
    """serve(answer): an endpoint on this machine that answers so; its address and the requests it got."""
    stopping: list[ThreadingHTTPServer] = []
    released = threading.Event()

    def start(answer: Answer) -> tuple[str, list[dict[str, Any]]]:
        seen: list[dict[str, Any]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                seen.append({"path": self.path, "key": self.headers["Authorization"], **body})
                status, content = answer(body["input"])
                if status == 0:
                    released.wait(10)
                    return
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        stopping.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        return f"http://127.0.0.1:{server.server_port}/v1", seen

    yield start
    released.set()
    for server in stopping:
        server.shutdown()
        server.server_close()


def test_vectors_come_back_in_the_order_of_the_texts(serve: Serve) -> None:
    def answer(texts: list[str]) -> tuple[int, bytes]:
        entries = [{"index": i, "embedding": [len(text), 0.0]} for i, text in enumerate(texts)]
        return 200, json.dumps({"data": entries[::-1]}).encode()

    url, seen = serve(answer)
    rows = RemoteEmbedder(url, "small", key="secret", dimension=2).embed(["a", " ", "bb"])
    assert rows.tolist() == [[1, 0], [0, 0], [1, 0]]
    assert seen == [{"path": "/v1/embeddings", "key": "Bearer secret", "model": "small", "input": ["a", "bb"]}]


def test_the_dimension_is_asked_once_when_not_told(serve: Serve) -> None:
    url, seen = serve(lambda texts: (200, vectors([[3.0, 0.0, 4.0]] * len(texts))))
    embedder = RemoteEmbedder(url, "small")
    assert embedder.dimension == 3
    assert np.allclose(embedder.embed_query("x"), [0.6, 0, 0.8])
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (200, vectors([[1.0, 0.0]])),
        (200, vectors([[1.0], [1.0]])),
        (200, vectors([[0.0, 0.0], [1.0, 0.0]])),
        (200, b'{"data": [{"index": 0, "embedding": [NaN, 1]}, {"index": 1, "embedding": [1, 1]}]}'),
        (200, b'{"data": [{"index": 0}, {"index": 1}]}'),
        (200, b'{"data": [{"index": 0, "embedding": [1, 1]}, {"index": 0, "embedding": [1, 1]}]}'),
        (200, b"[]"),
        (200, b"<html>"),
        (302, b""),
        (401, b"no"),
        (500, b"oops"),
    ],
)
def test_nonsense_is_a_service_error(serve: Serve, status: int, content: bytes) -> None:
    url, _ = serve(lambda _: (status, content))
    with pytest.raises(ServiceError, match=r"127\.0\.0\.1"):
        RemoteEmbedder(url, "small", dimension=2).embed(["a", "b"])


def test_a_failure_half_way_returns_nothing(serve: Serve) -> None:
    calls: list[int] = []

    def answer(texts: list[str]) -> tuple[int, bytes]:
        calls.append(len(texts))
        return (200, vectors([[1.0, 0.0]] * len(texts))) if len(calls) == 1 else (503, b"busy")

    url, _ = serve(answer)
    with pytest.raises(ServiceError, match="503"):
        RemoteEmbedder(url, "small", dimension=2).embed(["word"] * 200)
    assert calls == [128, 72]


def test_silence_is_a_time_out(serve: Serve) -> None:
    url, _ = serve(lambda _: (0, b""))
    with pytest.raises(ServiceTimeout, match=r"0\.05 s"):
        RemoteEmbedder(url, "small", dimension=2, timeout=0.05).embed(["a"])


def test_nobody_there_is_a_service_error(socket_enabled: None) -> None:
    with pytest.raises(ServiceError, match="cannot be reached"):
        RemoteEmbedder("http://127.0.0.1:9/v1", "small", dimension=2, timeout=2).embed(["a"])


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/v1", "host/v1", ""])
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="http"):
        RemoteEmbedder(url, "small")
