"""A real server on loopback against hostile connections: no hang, no leak, no acknowledged write lost."""

from __future__ import annotations

import contextlib
import gzip
import json
import resource
import socket
import struct
import threading
import time
from collections.abc import Callable, Generator, Iterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

import haversack
from haversack.clock import utc_now
from haversack.engine.haversack import Haversack
from haversack.errors import ConfigError
from haversack.guard.listening import is_loopback
from haversack.guard.settings import Limits
from haversack.server.app import create_app
from haversack.server.run import Server, serve
from haversack.server.settings import ServerSettings

LIMITS = Limits(body_seconds=1.0, head_seconds=1.0, drain_seconds=10)
WHERE = "/v1/namespaces/alice/memories"


class Served:
    """A running server and the ways to talk to it."""

    def __init__(self, sack: Haversack, limits: Limits, *, buffer: int = 0) -> None:
        settings = ServerSettings(limits=limits)
        self.sack = sack
        self.secret = sack.keys.create("ops", scope="admin").secret
        self._server = Server(create_app(sack, settings), settings, host="127.0.0.1", port=0)
        self._listening = socket.create_server(("127.0.0.1", 0))
        if buffer:  # what is accepted inherits it
            self._listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
        self.port = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listening]})
        self._thread.start()
        self.http = httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}", headers={"authorization": f"Bearer {self.secret}"}, timeout=20
        )

    def head(self, *lines: str, method: str = "POST", path: str = WHERE) -> bytes:
        given = (f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {self.secret}", *lines)
        return ("\r\n".join(given) + "\r\n\r\n").encode()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    def raw(self, *parts: bytes) -> bytes:
        """Everything that is answered until the connection closes."""
        with self.connect() as connection:
            for part in parts:
                with contextlib.suppress(OSError):
                    connection.sendall(part)
            return read_all(connection)

    def close(self) -> None:
        self.http.close()
        self._server.stop()
        self._thread.join(20)
        self._listening.close()
        assert not self._thread.is_alive()


def read_all(connection: socket.socket) -> bytes:
    data = b""
    with contextlib.suppress(ConnectionError):
        while chunk := connection.recv(65_536):
            data += chunk
    return data


def status_of(answered: bytes) -> int:
    return int(answered.split(b" ", 2)[1])


@pytest.fixture
def lone(tmp_path: Path) -> Iterator[Served]:
    with haversack.open(tmp_path / "memory.db") as sack:
        running = Served(sack, LIMITS)
        try:
            yield running
        finally:
            running.close()


@contextlib.contextmanager
def healthy(served: Served) -> Generator[list[float]]:
    """Health calls all along, each in less than a second."""
    times: list[float] = []
    over = threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=f"http://127.0.0.1:{served.port}", timeout=10) as client:
            while not (over.is_set() and times):
                begun = time.perf_counter()
                assert client.get("/health/live").status_code == 200
                times.append(time.perf_counter() - begun)
                over.wait(0.05)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield times
    finally:
        over.set()
        asking.join(20)
    assert times
    assert max(times) < 1


def peak() -> int:
    """The most memory that this process, server included, has held so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


JSON = "Content-Type: application/json"


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ((JSON, f"Content-Length: {1 << 30}"), 413),
        ((JSON, "Content-Length: -1"), 400),
        ((JSON, "Content-Length: abc"), 400),
        ((JSON, "Content-Length: 5", "Content-Length: 6"), 400),
        ((JSON, "Content-Length: 5", "Transfer-Encoding: chunked"), 400),
        ((JSON, "Transfer-Encoding: gzip, chunked"), 400),
        ((JSON, "Content-Length: 2", "Content-Encoding: br"), 415),
        ((JSON, "X-Long: " + "a" * 70_000), 400),
        ((JSON, "Bad Header: x"), 400),
        ((JSON, "Authorization: Bearer hvs_other"), 400),
        ((JSON, "Content-Type: text/plain", "Content-Length: 2"), 400),
    ],
)
def test_heads_that_lie(lone: Served, lines: tuple[str, ...], status: int):
    with healthy(lone):
        assert status_of(lone.raw(lone.head(*lines))) == status
    assert lone.sack.namespaces() == []


def test_a_huge_body_without_a_length_is_cut_off(lone: Served):
    piece = b"10000\r\n" + b"a" * 0x10000 + b"\r\n"
    before = peak()
    with healthy(lone):
        answered = lone.raw(lone.head(JSON, "Transfer-Encoding: chunked"), *([piece] * 400))
    assert status_of(answered) == 413
    assert peak() - before < 64 << 20
    assert lone.sack.namespaces() == []


def test_a_bomb_does_not_unpack(lone: Served):
    bomb = gzip.compress(b'{"content": "' + b" " * (200 << 20) + b'"}', compresslevel=1)
    before = peak()
    with healthy(lone):
        answered = lone.http.post(
            WHERE, content=bomb, headers={"content-encoding": "gzip", "content-type": "application/json"}
        )
    assert answered.status_code == 413
    assert peak() - before < 64 << 20


_WHOLE = gzip.compress(json.dumps({"content": "half of it"}).encode())


@pytest.mark.parametrize("body", [_WHOLE[:-4], _WHOLE + _WHOLE, b""], ids=["cut short", "two", "empty"])
def test_a_gzip_body_that_is_not_one_whole_stream_is_refused(lone: Served, body: bytes):
    headers = {"content-encoding": "gzip", "content-type": "application/json"}
    answered = lone.http.post(WHERE, content=body, headers=headers)
    assert (answered.status_code, answered.json()["code"]) == (400, "INVALID_REQUEST")
    assert lone.sack.namespace("alice").stats().memories == {}


def test_a_slow_body_is_given_up_on(lone: Served):
    with healthy(lone), lone.connect() as connection:
        connection.sendall(lone.head(JSON, "Content-Length: 100") + b'{"content"')
        assert status_of(read_all(connection)) == 408


def test_slow_headers_are_given_up_on(lone: Served):
    with healthy(lone), lone.connect() as connection:
        begun = time.perf_counter()
        connection.sendall(b"POST / HTTP/1.1\r\nHost: ")
        assert read_all(connection) == b""
        assert time.perf_counter() - begun < 5


def test_slow_headers_behind_a_first_request_are_given_up_on(lone: Served):
    with lone.connect() as connection:
        connection.sendall(lone.head(method="GET", path="/health/live"))
        answered = b""
        while not answered.endswith(b"}"):
            answered += connection.recv(65_536)
        assert status_of(answered) == 200
        connection.sendall(b"GET / HT")
        assert read_all(connection) == b""


def test_a_half_closed_connection_still_gets_its_answer(lone: Served):
    body = b'{"content": "kept"}'
    with lone.connect() as connection:
        connection.sendall(lone.head(JSON, f"Content-Length: {len(body)}", "Connection: close") + body)
        connection.shutdown(socket.SHUT_WR)
        assert status_of(read_all(connection)) == 201


def test_who_goes_away_leaves_no_half_write(lone: Served):
    body = json.dumps({"memories": [{"content": f"fact {n}"} for n in range(200)]}).encode()
    head = lone.head(JSON, f"Content-Length: {len(body)}", path=f"{WHERE}/batch")
    for cut in (len(body) // 2, len(body)):
        with lone.connect() as connection:
            connection.sendall(head + body[:cut])
    deadline = time.monotonic() + 10
    while lone.sack.namespace("alice").stats().memories.get("fact", 0) not in {0, 200} and time.monotonic() < deadline:
        pass
    assert lone.sack.namespace("alice").stats().memories.get("fact", 0) in {0, 200}


def test_a_hundred_connections_that_say_nothing_hurt_nobody(lone: Served):
    idle = [lone.connect() for _ in range(100)]
    with healthy(lone):
        assert lone.http.post(WHERE, json={"content": "kept"}).status_code == 201
    for connection in idle:
        connection.close()


def test_too_many_at_once_are_told_to_wait(tmp_path: Path):
    limits = Limits(key_active=2, body_seconds=60)
    with haversack.open(tmp_path / "memory.db") as sack:
        served = Served(sack, limits)
        try:
            slow = [served.connect() for _ in range(2)]
            for connection in slow:
                connection.sendall(served.head(JSON, "Content-Length: 100", "Expect: 100-continue"))
                assert connection.recv(65_536).startswith(b"HTTP/1.1 100"), "it has its place once it is told to go on"
            answered = served.http.get("/v1/namespaces")
            assert answered.status_code == 429
            assert answered.json()["code"] == "RATE_LIMIT_EXCEEDED"
            assert answered.headers["retry-after"] == "1"
            for connection in slow:
                connection.close()
            assert _until(lambda: served.http.get("/v1/namespaces"), lambda one: one.status_code == 200)
        finally:
            served.close()


def _until(ask: Callable[[], httpx.Response], right: Callable[[httpx.Response], bool]) -> httpx.Response:
    deadline = time.monotonic() + 10
    answered = ask()
    while not right(answered) and time.monotonic() < deadline:
        answered = ask()
    assert right(answered), answered.text
    return answered


def test_events_come_as_they_happen_and_from_where_they_were_left(lone: Served):
    first = lone.http.post(WHERE, json={"content": "one"}).json()
    with lone.http.stream("GET", "/v1/namespaces/alice/events", headers={"last-event-id": "0"}) as stream:
        lines = stream.iter_lines()
        told = json.loads(next(line for line in lines if line.startswith("data:")).removeprefix("data:"))
        assert told == {
            "type": "memory", "namespace": "alice", "id": first["id"], "kind": "fact", "stage": "active"
        }  # fmt: skip
        second = lone.http.post(WHERE, json={"content": "two"}).json()
        assert second["id"] in next(line for line in lines if line.startswith("data:"))
        lone.sack.namespace("alice").forget(second["id"], hard=True)
        assert "event: erased" in list(_until_line(lines, second["id"]))


@pytest.mark.parametrize("goodbye", ["close", "half-close", "reset"])
def test_a_stream_whose_client_leaves_is_over_at_once(lone: Served, goodbye: str):
    for _ in range(4 * LIMITS.key_streams):
        with lone.connect() as connection:
            connection.sendall(lone.head(method="GET", path="/v1/namespaces/alice/events"))
            answered = connection.recv(65_536)
            if goodbye == "reset":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if goodbye == "half-close":
                connection.shutdown(socket.SHUT_WR)
                read_all(connection)
        if not answered.startswith(b"HTTP/1.1 200"):
            assert answered.startswith(b"HTTP/1.1 429")
            time.sleep(0.05)  # the loop has not turned yet
    with lone.http.stream("GET", "/v1/namespaces/alice/events") as stream:
        assert stream.status_code == 200


def _until_line(lines: Iterator[str], word: str) -> Iterator[str]:
    for line in lines:
        yield line
        if word in line:
            return


def test_stopping_ends_streams_and_keeps_what_was_acknowledged(tmp_path: Path):
    with haversack.open(tmp_path / "memory.db") as sack:
        served = Served(sack, LIMITS)
        acknowledged: list[str] = []
        refused = threading.Event()

        def write() -> None:
            address = f"http://127.0.0.1:{served.port}"
            with (
                httpx.Client(base_url=address, headers=served.http.headers) as client,
                contextlib.suppress(httpx.TransportError),
            ):
                while (kept := client.post(WHERE, json={"content": f"fact {len(acknowledged)}"})).status_code == 201:
                    acknowledged.append(kept.json()["id"])
            refused.set()

        writing = threading.Thread(target=write)
        with served.connect() as listening:
            listening.sendall(served.head(method="GET", path="/v1/namespaces/alice/events"))
            assert listening.recv(65_536).startswith(b"HTTP/1.1 200")
            writing.start()
            while len(acknowledged) < 20 and not refused.wait(0.01):
                pass
            served.close()
            writing.join(20)
            read_all(listening)
        assert len(acknowledged) >= 20
    with haversack.open(tmp_path / "memory.db") as again:
        kept = {memory.id for memory in again.namespace("alice").everything()}
        assert set(acknowledged) <= kept
        assert len(kept) - len(acknowledged) <= 1
        remembered = list(again.audit.read(did="remember"))
        assert len(remembered) == len(kept)


HOSTS = ["0.0.0.0", "::", "192.168.1.5", "example.org", ""]  # noqa: S104 - refused here


@pytest.mark.parametrize("host", ["127.0.0.1", *HOSTS])
def test_without_a_key_nothing_is_served_unless_asked_for(host: str):
    with haversack.open(":memory:", embedder="none") as sack, pytest.raises(ConfigError, match="has no key yet"):
        serve(sack, ServerSettings(), host=host)


@pytest.mark.parametrize("host", HOSTS)
def test_beyond_loopback_nothing_is_served_without_keys(host: str):
    with haversack.open(":memory:", embedder="none") as sack, pytest.raises(ConfigError, match="reached by others"):
        serve(sack, ServerSettings(open=True), host=host)


@pytest.mark.parametrize("way", ["revoked", "expired", "deleted"])
def test_a_store_that_had_keys_is_never_served_without_one(way: str):
    with haversack.open(":memory:", embedder="none") as sack:
        brief = utc_now() + timedelta(milliseconds=20)
        key = sack.keys.create("ops", scope="admin", expires_at=brief if way == "expired" else None).key
        if way == "revoked":
            sack.keys.revoke(key.id)
        elif way == "deleted":
            sack.keys.delete(key.id)
        while sack.keys.exist():
            pass
        with pytest.raises(ConfigError, match=r"revoked or expired.*haversack keys create NAME"):
            serve(sack, ServerSettings())
        with pytest.raises(ConfigError, match=r"never served without one.*leave --open out"):
            serve(sack, ServerSettings(open=True))


def test_loopback_by_its_names():
    assert [is_loopback(host) for host in ("localhost", "127.0.0.1", "127.8.8.8", "::1", "[::1]")] == [True] * 5
    assert not is_loopback("localhost.example.org")


@contextlib.contextmanager
def crowded(tmp_path: Path, **limits: int) -> Generator[Served]:
    """A server whose sockets hold little, over an export of megabytes."""
    with haversack.open(tmp_path / "memory.db") as sack:
        kept = [{"content": f"{number} x", "metadata": {"a": "b" * 40_000}} for number in range(60)]
        sack.namespace("alice").remember_many(kept)
        served = Served(sack, Limits(**limits), buffer=4_096)
        try:
            yield served
        finally:
            served.close()


def stuck_export(served: Served, secret: str) -> socket.socket:
    """An export of whose answer no more than the first bytes is read."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.connect(("127.0.0.1", served.port))
    connection.settimeout(10)
    head = f"GET /v1/namespaces/alice/export HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {secret}\r\n\r\n"
    connection.sendall(head.encode())
    assert connection.recv(12).startswith(b"HTTP/1.1 200")
    return connection


def test_receivers_that_do_not_read_stop_nobody(tmp_path: Path):
    with crowded(tmp_path, active=4, key_active=2, waiting=1, wait_seconds=1) as served:
        readers = [served.sack.keys.create("reader", scope="read").secret for _ in range(2)]
        stuck = [stuck_export(served, secret) for secret in readers for _ in range(2)]
        answered = served.http.get("/v1/namespaces")
        assert (answered.status_code, answered.json()["namespaces"]) == (200, [{"name": "alice"}])
        assert served.http.get("/health/ready").status_code == 200
        again = served.http.get("/v1/namespaces/alice/export", headers={"authorization": f"Bearer {readers[0]}"})
        assert (again.status_code, again.json()["detail"]) == (
            429, "this key may have 2 exports at once; try again in 5 s"
        )  # fmt: skip
        for connection in stuck:
            connection.close()


def test_who_takes_nothing_of_an_answer_is_cut_off(tmp_path: Path):
    limits = {"key_exports": 1, "exports": 1, "send_seconds": 1}
    with crowded(tmp_path, **limits) as served, stuck_export(served, served.secret) as stuck:
        # The only place is free again once the first receiver is cut off.
        whole = _until(lambda: served.http.get("/v1/namespaces/alice/export"), lambda one: one.status_code == 200)
        assert len(whole.text.splitlines()) == 61
        assert len(read_all(stuck)) < len(whole.content) / 2


def test_a_slow_receiver_that_goes_on_reading_gets_everything(tmp_path: Path):
    with crowded(tmp_path, send_seconds=1) as served, stuck_export(served, served.secret) as slow:
        begun, size, ended = time.monotonic(), 0, False
        while not ended:
            chunk = slow.recv(4_096)
            size, ended = size + len(chunk), chunk.endswith(b"0\r\n\r\n") or not chunk
            time.sleep(0.003)
        assert size > 60 * 40_000
        assert time.monotonic() - begun > 1


def test_ready_is_not_said_while_callers_are_refused(tmp_path: Path):
    with crowded(tmp_path, active=1, waiting=0, body_seconds=60) as served, served.connect() as slow:
        assert served.http.get("/health/ready").status_code == 200
        slow.sendall(served.head(JSON, "Content-Length: 100", "Expect: 100-continue"))
        assert slow.recv(65_536).startswith(b"HTTP/1.1 100")
        assert served.http.get("/health/ready").status_code == 200, "nobody was refused yet"
        assert served.http.get("/v1/namespaces").status_code == 429
        assert served.http.get("/health/ready").json()["detail"] == "all places are taken"
        slow.close()
        assert _until(lambda: served.http.get("/health/ready"), lambda one: one.status_code == 200)


def test_one_address_does_not_take_every_connection(tmp_path: Path):
    with haversack.open(tmp_path / "memory.db") as sack:
        served = Served(sack, Limits(connections=20, address_connections=10))
        idle = [served.connect() for _ in range(9)]
        beyond: list[socket.socket] = []
        try:
            assert served.http.get("/health/live").status_code == 200
            beyond += [served.connect() for _ in range(30)]
            assert {status_of(read_all(connection)) for connection in beyond} == {503}
            elsewhere = httpx.HTTPTransport(local_address="127.0.0.2")
            with httpx.Client(transport=elsewhere, base_url=f"http://127.0.0.1:{served.port}") as other:
                assert other.get("/health/live").status_code == 200
            idle.pop().close()
            asked = httpx.Client(base_url=served.http.base_url)
            with asked:
                assert _until(lambda: asked.get("/health/live"), lambda one: one.status_code == 200)
        finally:
            for connection in (*idle, *beyond):
                connection.close()
            served.close()
