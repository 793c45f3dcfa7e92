from __future__ import annotations

import asyncio
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from haversack.mcp.wire import Incoming, Outgoing, Unanswered, mend


def failure(line: str) -> Exception:
    with pytest.raises(ValidationError) as caught:
        types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    return caught.value


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("not json", -32700),
        ('{"jsonrpc":"2.0","id":1,', -32700),
        ("[" * 100_000, -32700),
        ("[]", -32600),
        ('{"jsonrpc":"1.0","id":1,"method":"x"}', -32600),
        ('{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}', -32600),
    ],
)
def test_what_is_no_message_is_refused(line: str, code: int) -> None:
    refusal = mend(failure(line))
    assert isinstance(refusal, types.JSONRPCError)
    assert (refusal.id, refusal.error.code) == (None, code)


def test_half_an_emoji_is_mended() -> None:
    mended = mend(failure('{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"cut \\ud83d","b":"größer"}}'))
    assert isinstance(mended, SessionMessage)
    assert mended.message == types.JSONRPCRequest(
        jsonrpc="2.0", id=7, method="x", params={"a": "cut \ufffd", "b": "größer"}
    )


def test_a_blank_line_is_nothing() -> None:
    assert mend(failure("\n")) is None


def test_any_other_failure_is_refused() -> None:
    refusal = mend(RuntimeError("x"))
    assert isinstance(refusal, types.JSONRPCError)


def test_the_end_is_told_when_everything_is_answered() -> None:
    told: list[Any] = []

    async def work() -> None:
        send, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](10)
        outgoing, answers = anyio.create_memory_object_stream[SessionMessage](10)
        unanswered = Unanswered()
        out = Outgoing(outgoing, unanswered)
        for number in (1, 2):
            await send.send(SessionMessage(types.JSONRPCRequest(jsonrpc="2.0", id=number, method="x")))
        cancelled = types.JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params={"requestId": 1})
        await send.send(SessionMessage(cancelled))
        await send.send(failure("not json"))
        await send.aclose()

        async def answer_late() -> None:
            await anyio.wait_all_tasks_blocked()
            told.append("answered")
            await out.send(SessionMessage(types.JSONRPCResponse(jsonrpc="2.0", id=2, result={})))

        async with anyio.create_task_group() as group, Incoming(incoming, out, unanswered) as stream:
            group.start_soon(answer_late)
            async for item in stream:
                assert isinstance(item, SessionMessage)
                told.append(type(item.message).__name__)
            told.append("end")
        await out.aclose()
        async with answers:
            told.extend([type(item.message).__name__ async for item in answers])

    asyncio.run(work())
    assert told == [
        "JSONRPCRequest", "JSONRPCRequest", "JSONRPCNotification", "answered", "end", "JSONRPCError", "JSONRPCResponse",
    ]  # fmt: skip
