"""ShareGPT conversations: {conversations: [{from, value}]}; calls and results have no ids and are paired by order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import cast

from haversack.errors import InputError, nearest
from haversack.model.memory import Json
from haversack.model.message import Message, Role, Text, ToolCall
from haversack.transfer.drafts import Said, make_session, session_name
from haversack.transfer.entries import Problem, Value
from haversack.transfer.reader import Found, Origin, Reader, Values
from haversack.wire.shape import Record, as_items, as_record, as_text, compact, optional_text

__all__ = ["SHAREGPT"]

_ROLES = {
    "human": Role.USER,
    "user": Role.USER,
    "gpt": Role.ASSISTANT,
    "chatgpt": Role.ASSISTANT,
    "bing": Role.ASSISTANT,
    "bard": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "function_call": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "observation": Role.TOOL,
    "tool": Role.TOOL,
    "function_response": Role.TOOL,
}


def _detect(sample: Sequence[Json]) -> bool:
    return any(_turns(data) is not None for data in sample)


def _turns(data: Json) -> list[Json] | None:
    match data:
        case {"conversations": [{"from": _}, *_] as turns}:
            return turns
        case {"conversation": [{"from": _}, *_] as turns}:
            return turns
        case _:
            return None


def _read(values: Values, origin: Origin) -> Iterator[Found]:
    for value in values:
        if isinstance(value, Problem):
            yield value
            continue
        try:
            record = as_record(value.data, "conversation")
            turns = as_items(record.get("conversations") or record.get("conversation"), "conversations")
        except InputError as error:
            yield value.problem(str(error))
            continue
        yield from _read_conversation(value, record, turns, origin)


def _read_conversation(value: Value, record: Record, turns: list[Json], origin: Origin) -> Iterator[Found]:
    said: list[Said] = []
    system = record.get("system")
    if isinstance(system, str) and system.strip():
        said.append(Said(message=Message(role=Role.SYSTEM, parts=(Text(as_text(system, "system")),))))
    for index, turn in enumerate(turns):
        try:
            said.append(Said(message=_load(turn, f"conversations[{index}]")))
        except InputError as error:
            yield value.problem(str(error))
    if said:
        name = session_name(record, ("id", "conversation_id"))
        yield make_session(name or origin.names.name(origin.stem, [one.message for one in said]), said)


def _load(obj: Json, path: str) -> Message:
    turn = as_record(obj, path)
    name = as_text(turn.get("from"), f"{path}.from")
    if name not in _ROLES:
        raise InputError(f"{path}.from={name!r} is not a speaker; {nearest(name, _ROLES)}")
    value = optional_text(turn, "value", path) or ""
    if name == "function_call":
        return Message(role=Role.ASSISTANT, tool_calls=_load_calls(value))
    return Message(role=_ROLES[name], parts=(Text(value),) if value else ())


def _load_calls(value: str) -> tuple[ToolCall, ...]:
    """One call or a list of them, as JSON text; text that is not JSON is kept as the arguments of a nameless call."""
    try:
        parsed = cast("Json", json.loads(value))
    except (ValueError, RecursionError):
        parsed = None
    listed = parsed if isinstance(parsed, list) else [parsed]
    calls = [call for call in listed if isinstance(call, dict)]
    if len(calls) != len(listed):
        return (ToolCall(id="", name="", arguments=value),)
    return tuple(_load_call(call) for call in calls)


def _load_call(call: Record) -> ToolCall:
    name, given = call.get("name"), call.get("arguments")
    arguments = given if isinstance(given, str) else compact({} if given is None else given)
    return ToolCall(id="", name=name if isinstance(name, str) else "", arguments=arguments)


SHAREGPT = Reader(
    name="sharegpt",
    description="ShareGPT conversations ({from, value}): a JSON array or lines",
    detect=_detect,
    read=_read,
)
