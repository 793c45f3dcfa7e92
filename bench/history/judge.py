"""What a provider would say of a message list: how many tokens, and which messages it would refuse."""

from __future__ import annotations

from collections.abc import Sequence

from bench.history.histories import Message
from bench.recount import recount

__all__ = ["orphans", "tokens"]

_PER_MESSAGE = 3
_PER_REPLY = 3


def tokens(messages: Sequence[Message]) -> int:
    """The published framing of chat messages: three a message, three for the reply, every field's words."""
    return _PER_REPLY + sum(_PER_MESSAGE + sum(map(recount, _fields(message))) for message in messages)


def _fields(message: Message) -> list[str]:
    called = [call["function"] for call in message.get("tool_calls") or []]
    words = [part for function in called for part in (function["name"], function["arguments"])]
    return [message["role"], message["content"] or "", *words]


def orphans(messages: Sequence[Message]) -> int:
    """Results without their call before them, calls without their results, a first message that is not the user's."""
    faults = 0
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            key = message.get("tool_call_id", "")
            faults += key not in waiting
            waiting.discard(key)
        else:
            faults += len(waiting)
            waiting = {call["id"] for call in message.get("tool_calls") or []}
    talk = [message for message in messages if message["role"] != "system"]
    return faults + len(waiting) + bool(talk and talk[0]["role"] != "user")
