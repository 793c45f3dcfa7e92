"""A stream ends with its key, and whoever waits for it leaves nothing running."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from haversack.errors import BusyError
from haversack.guard.refusal import Refused
from haversack.guard.streams import while_it_opens


class Stream:
    """An answer without an end."""

    def __init__(self, *, begins: bool = True) -> None:
        self.begins = begins
        self.was_cancelled = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive
        if self.begins:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"a", "more_body": True})
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise


def watch(app: Any, opens: Callable[[], bool]) -> list[Message]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    async def asked() -> bool:
        return opens()

    asyncio.run(while_it_opens(app, ({"type": "http"}, receive, send), asked, every=0.001))
    return sent


def test_it_ends_when_its_key_opens_no_more():
    asked = iter([True, True, False])
    stream = Stream()
    sent = watch(stream, lambda: next(asked))
    assert (stream.was_cancelled, next(asked, None)) == (True, None)
    assert sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


def test_who_cannot_be_asked_about_is_let_in_no_longer():
    def busy() -> bool:
        raise BusyError("busy")

    assert watch(Stream(), busy)[-1]["more_body"] is False


def test_what_has_not_begun_is_refused():
    with pytest.raises(Refused) as refused:
        watch(Stream(begins=False), lambda: False)
    assert refused.value.status == 401


def test_what_ends_by_itself_is_left_alone():
    async def brief(scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a"})

    assert [one["type"] for one in watch(brief, lambda: True)] == ["http.response.start", "http.response.body"]


def test_a_fault_of_the_stream_comes_through():
    async def faulty(scope: Scope, receive: Receive, send: Send) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        watch(faulty, lambda: True)


def test_a_cancelled_wait_ends_the_stream():
    stream = Stream()

    async def run() -> None:
        async def nothing(_: Message | None = None) -> Any:
            return None

        waiting = asyncio.ensure_future(while_it_opens(stream, ({}, nothing, nothing), nothing, every=60))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait({waiting})
        assert waiting.cancelled()

    asyncio.run(run())
    assert stream.was_cancelled
