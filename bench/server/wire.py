"""A client that costs next to nothing, so that the server is what is measured: prepared requests, open connections."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

__all__ = ["Line", "Request", "Timing", "drive"]


@dataclass(frozen=True, slots=True)
class Request:
    """A request ready to send."""

    data: bytes

    @classmethod
    def post(cls, path: str, body: object, key: str) -> Request:
        content = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        return cls(head.encode() + content)


@dataclass(frozen=True, slots=True)
class Timing:
    """What came of a run."""

    seconds: float
    latencies: tuple[float, ...]
    """Seconds of each request that was answered by 200 or 201, sorted."""
    refused: int

    @property
    def per_second(self) -> float:
        return len(self.latencies) / self.seconds

    def at(self, share: float) -> float:
        """Milliseconds within which this share of the requests was answered."""
        return self.latencies[min(len(self.latencies) - 1, int(share * len(self.latencies)))] * 1000


async def drive(port: int, requests: Sequence[Request], at_once: int) -> Timing:
    """Send all of them over so many connections, each sending its next when the last was answered."""
    waiting = iter(requests)
    taken: list[float] = []
    refused = [0]
    begun = time.perf_counter()
    await asyncio.gather(*(_one(port, waiting, taken, refused) for _ in range(at_once)))
    return Timing(time.perf_counter() - begun, tuple(sorted(taken)), refused[0])


async def _one(port: int, waiting: Iterator[Request], taken: list[float], refused: list[int]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for request in waiting:
        begun = time.perf_counter()
        writer.write(request.data)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n", 1)[0])
        await reader.readexactly(length)
        if head[9:12] in {b"200", b"201"}:
            taken.append(time.perf_counter() - begun)
        else:
            refused[0] += 1
    writer.close()
    await writer.wait_closed()


class Line:
    """One open connection, blocking: one request at a time."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._file = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._socket.close()

    def send(self, request: Request) -> bytes:
        """The body of the answer."""
        self._socket.sendall(request.data)
        status, length = self._file.readline(), 0
        while (line := self._file.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        body = self._file.read(length)
        assert status[9:12] in {b"200", b"201"}, body
        return body
