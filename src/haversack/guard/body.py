"""Limits on a request's body, enforced while it is read: size, time, compression, nesting. Plain ASGI.

A body is refused before it is read when its length is announced, and after at most the limit when it is not. Files
are passed on as they arrive; all others are gathered first, since they are small.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import AsyncIterator

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from haversack.guard.headers import single_headers
from haversack.guard.lingering import Incoming, lingering
from haversack.guard.refusal import Refused
from haversack.guard.settings import Limits

__all__ = ["FILE", "BodyLimits", "shape_fault"]

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}]")
FILE = "haversack.file"
"""What stands in the `state` of a request whose route takes a file: it may be larger, and is passed on as it comes."""


class BodyLimits:
    """Middleware."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with a body that is within the limits, or answer why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        incoming = Incoming(receive)
        is_file = FILE in scope.get("state", {})
        most = self._limits.import_bytes if is_file else self._limits.body_bytes
        try:
            headers = single_headers(scope)
            chunks = _chunks(incoming, headers, most, self._limits.body_seconds)
            if is_file:
                await self._app(scope, _streamed(chunks), lingering(incoming, send))
                return
            body = b"".join([chunk async for chunk in chunks])
            _check_shape(body, headers, self._limits)
        except Refused as refused:
            await refused.turn_away(scope, incoming, send)
            return
        await self._app(scope, _whole(body, receive), send)


def shape_fault(body: bytes, limits: Limits) -> str | None:
    """What is wrong with the nesting of a JSON text, found without parsing it."""
    if body.count(b"[") + body.count(b"{") <= limits.depth:
        return None
    bare = _STRING.sub(b"", body)
    if bare.count(b"[") + bare.count(b"{") > limits.containers:
        return f"the body has more than {limits.containers:,} objects and lists"
    depth = 0
    for bracket in _BRACKETS.finditer(bare):
        depth += 1 if bracket[0] in b"[{" else -1
        if depth > limits.depth:
            return f"the body is nested deeper than {limits.depth} levels"
    return None


def _check_shape(body: bytes, headers: dict[bytes, bytes], limits: Limits) -> None:
    if b"json" in headers.get(b"content-type", b"json").lower() and (fault := shape_fault(body, limits)):
        raise Refused(400, "INVALID_REQUEST", fault)


async def _chunks(receive: Receive, headers: dict[bytes, bytes], most: int, seconds: float) -> AsyncIterator[bytes]:
    """The body's bytes, unpacked, as they arrive; Refused as soon as a limit is passed."""
    _check_framing(headers, most)
    unpack = _unpacker(headers)
    size, deadline = 0, asyncio.get_running_loop().time() + seconds
    more = True
    while more:
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise Refused(408, "REQUEST_TIMEOUT", f"the body did not arrive within {seconds:g} seconds") from None
        if message["type"] == "http.disconnect":
            raise Refused(400, "INVALID_REQUEST", "the client went away")
        more = message.get("more_body", False)
        chunk = unpack(message.get("body", b""), most + 1 - size)
        size += len(chunk)
        if size > most:
            raise _too_large(most)
        if chunk:
            yield chunk
    unpack.end()


def _check_framing(headers: dict[bytes, bytes], most: int) -> None:
    length = headers.get(b"content-length")
    if length is None:
        return
    if b"transfer-encoding" in headers:
        raise Refused(400, "INVALID_REQUEST", "a body has a Content-Length or a Transfer-Encoding, not both")
    if not length.isdigit():
        raise Refused(400, "INVALID_REQUEST", "Content-Length must be a whole number")
    if int(length) > most:
        raise _too_large(most)


class _Unpacker:
    """Gzip, bounded: no more than what is asked for is ever unpacked."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=31)

    def __call__(self, data: bytes, most: int) -> bytes:
        try:
            return self._inflate.decompress(data, max(1, most))
        except zlib.error:
            raise Refused(400, "INVALID_REQUEST", "the body is not gzip, though its Content-Encoding says so") from None

    def end(self) -> None:
        """Refuse what is cut short, or goes on behind its end: something would be lost."""
        if not self._inflate.eof or self._inflate.unused_data:
            raise Refused(400, "INVALID_REQUEST", "the body must be one whole gzip stream")


def _unpacker(headers: dict[bytes, bytes]) -> _Unpacker | _Plain:
    match headers.get(b"content-encoding", b"identity").strip().lower():
        case b"identity" | b"":
            return _Plain()
        case b"gzip" | b"x-gzip":
            return _Unpacker()
        case _:
            raise Refused(415, "UNSUPPORTED_MEDIA_TYPE", "Content-Encoding may be gzip or identity")


class _Plain:
    """Nothing to unpack."""

    def __call__(self, data: bytes, most: int) -> bytes:
        del most
        return data

    def end(self) -> None:
        """Nothing can be missing."""


def _too_large(most: int) -> Refused:
    return Refused(413, "PAYLOAD_TOO_LARGE", f"the body is larger than {most:,} bytes")


def _whole(body: bytes, receive: Receive) -> Receive:
    """A `receive` that hands over the body once and then waits for the client to go."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def handed() -> Message:
        return left.pop() if left else await receive()

    return handed


def _streamed(chunks: AsyncIterator[bytes]) -> Receive:
    async def handed() -> Message:
        async for chunk in chunks:
            return {"type": "http.request", "body": chunk, "more_body": True}
        return {"type": "http.request", "body": b"", "more_body": False}

    return handed
