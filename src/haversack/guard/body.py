"""Limits on a request's body, enforced while it is read: size, time, compression, nesting. Plain ASGI.

A body is refused before it is read when its length is announced, and after at most the limit when it is not. Bodies
of imports are passed on as they arrive; all others are gathered first, since they are small.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import AsyncIterator

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from haversack.guard.refusal import Refused
from haversack.guard.settings import Limits

__all__ = ["BodyLimits", "shape_fault"]

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}]")
_DRAINED = 1 << 20
_DRAIN_SECONDS = 1.0


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
        headers = _headers(scope)
        is_import = scope["path"].endswith("/import")
        most = self._limits.import_bytes if is_import else self._limits.body_bytes
        try:
            chunks = _chunks(receive, headers, most, self._limits.body_seconds)
            if is_import:
                await self._app(scope, _streamed(chunks), send)
                return
            body = b"".join([chunk async for chunk in chunks])
            _check_shape(body, headers, self._limits)
        except Refused as refused:
            await refused.turn_away(scope, receive, _lingering(receive, send))
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
    if b"json" in headers.get(b"content-type", b"").lower() and (fault := shape_fault(body, limits)):
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


def _headers(scope: Scope) -> dict[bytes, bytes]:
    return dict(scope["headers"])


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


def _lingering(receive: Receive, send: Send) -> Send:
    """A `send` that, before it ends the answer, takes in a little of what the client still sends.

    Closing at once would reset the connection, and the client would see that instead of the answer.
    """

    async def sent(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
            return
        await send({**message, "more_body": True})
        try:
            async with asyncio.timeout(_DRAIN_SECONDS):
                await _drain(receive)
        except TimeoutError:
            pass
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return sent


async def _drain(receive: Receive) -> None:
    size = 0
    while size < _DRAINED:
        message = await receive()
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            return
        size += len(message.get("body", b""))
