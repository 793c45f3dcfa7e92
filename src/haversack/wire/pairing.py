"""Tool calls and their results matched up where a log left ids out: by name, then by order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from haversack.model.message import Message, Role, ToolCall

__all__ = ["pair"]


def pair(messages: Sequence[Message]) -> list[Message]:
    """The messages with an id on every call and every result; ids that are there are never changed.

    A result without an id answers the oldest open call of its name, or the oldest open call. The new ids are
    `call_1`, `call_2`, … in order, so the same messages always get the same ones.
    """
    fresh = _fresh_ids(messages)
    waiting: list[ToolCall] = []
    paired: list[Message] = []
    for message in messages:
        whole = message
        if message.tool_calls:
            calls = tuple(call if call.id else replace(call, id=next(fresh)) for call in message.tool_calls)
            waiting.extend(calls)
            whole = replace(message, tool_calls=calls)
        if message.role is Role.TOOL:
            whole = replace(message, tool_call_id=message.tool_call_id or _answered(message, waiting) or next(fresh))
            waiting = [call for call in waiting if call.id != whole.tool_call_id]
        paired.append(whole)
    return paired


def _answered(result: Message, waiting: Sequence[ToolCall]) -> str | None:
    named = [call.id for call in waiting if call.name == result.name]
    return next(iter(named or [call.id for call in waiting]), None)


def _fresh_ids(messages: Sequence[Message]) -> Iterator[str]:
    used = {call.id for message in messages for call in message.tool_calls}
    used |= {message.tool_call_id for message in messages if message.tool_call_id}
    return (name for number in count(1) if (name := f"call_{number}") not in used)
