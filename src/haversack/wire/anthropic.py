"""Anthropic messages: https://docs.anthropic.com/en/api/messages. Tool results live in user messages there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import cast

from haversack.errors import InputError, nearest
from haversack.model.memory import Json
from haversack.model.message import Image, Message, Opaque, Part, Role, Text, ToolCall
from haversack.wire.pairing import pair
from haversack.wire.parts import load_part, load_parts, opaque_record, picture_note, safe_name, sendable
from haversack.wire.shape import Record, as_items, as_record, as_text, compact, optional_text

__all__ = ["dump", "load", "load_all"]

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}
_PICTURE = re.compile(r"data:(image/(?:png|jpeg|gif|webp));base64,(.*)", re.DOTALL)
_BLOCKS = {
    "user": frozenset({"document", "search_result", "container_upload"}),
    "assistant": frozenset(
        {
            "thinking",
            "redacted_thinking",
            "server_tool_use",
            "web_search_tool_result",
            "web_fetch_tool_result",
            "code_execution_tool_result",
            "bash_code_execution_tool_result",
            "text_editor_code_execution_tool_result",
            "tool_search_tool_result",
        }
    ),
}
"""Blocks of the interface that we keep opaque and send back as they were. https://docs.anthropic.com/en/api/messages"""
_FOREIGN_THOUGHT = "reasoning"


def load(obj: object, path: str = "message") -> list[Message]:
    """One message of theirs: tool results as messages of their own, in order, then what else it says."""
    record = as_record(obj, path)
    role = _load_role(record, path)
    calls, results, parts = _sort_blocks(record.get("content"), f"{path}.content")
    said = Message(role=role, parts=parts, tool_calls=calls, name=optional_text(record, "name", path))
    return results if results and not parts and not calls else [*results, said]


def load_all(obj: object, path: str = "messages") -> list[Message]:
    """A list of messages, or a whole request with `system` and `messages`; calls and results paired."""
    if not isinstance(obj, dict):
        return pair([message for n, item in enumerate(as_items(obj, path)) for message in load(item, f"{path}[{n}]")])
    request = as_record(cast("object", obj), path)
    system = load_parts(request.get("system"), "system")
    opening = [Message(role=Role.SYSTEM, parts=system)] if system else []
    return opening + load_all(request.get("messages"))


def dump(messages: Sequence[Message]) -> tuple[str, list[Record]]:
    """The system text, and the messages with alternating roles and tool results first, as the interface demands.

    It also demands that the first message is a user's and that every call is answered in the next one: that choice
    is the caller's. Blank texts, which it refuses, are left out; so are names, which it has no place for.
    """
    system = "\n\n".join(message.text for message in messages if message.role is Role.SYSTEM and message.text.strip())
    talk = [message for message in pair(messages) if message.role is not Role.SYSTEM]
    turns = [(role, list(_dump_group(role, list(group)))) for role, group in groupby(talk, key=_side)]
    return system, [
        {"role": role, "content": _plain(blocks)} for role, blocks in _merged((r, b) for r, b in turns if b)
    ]


def _load_role(record: Record, path: str) -> Role:
    name = as_text(record.get("role"), f"{path}.role")
    if name not in _ROLES:
        raise InputError(f"{path}.role={name!r} is not a role; {nearest(name, _ROLES)}")
    return _ROLES[name]


def _sort_blocks(content: Json, path: str) -> tuple[tuple[ToolCall, ...], list[Message], tuple[Part, ...]]:
    """Calls, results, and what else is said."""
    calls: list[ToolCall] = []
    results: list[Message] = []
    parts: list[Part] = []
    if not isinstance(content, list):
        return (), [], load_parts(content, path)
    for index, block in enumerate(content):
        place = f"{path}[{index}]"
        match block:
            case None:
                continue
            case {"type": "tool_use"}:
                calls.append(_load_call(block, place))
            case {"type": "tool_result"}:
                results.append(_load_result(block, place))
            case _:
                parts.append(load_part(block, place))
    return tuple(calls), results, tuple(parts)


def _load_call(block: Record, path: str) -> ToolCall:
    given = block.get("input")
    return ToolCall(
        id=optional_text(block, "id", path) or "",
        name=optional_text(block, "name", path) or "",
        arguments="" if given is None else given if isinstance(given, str) else compact(given),
    )


def _load_result(block: Record, path: str) -> Message:
    return Message(
        role=Role.TOOL,
        parts=load_parts(block.get("content"), f"{path}.content"),
        tool_call_id=optional_text(block, "tool_use_id", path),
    )


def _side(message: Message) -> str:
    return "assistant" if message.role is Role.ASSISTANT else "user"


def _merged(turns: Iterable[tuple[str, list[Record]]]) -> list[tuple[str, list[Record]]]:
    """Neighbours of one role joined: they may have become neighbours when an empty message fell out."""
    return [
        (role, _results_first([block for _, blocks in group for block in blocks]))
        for role, group in groupby(turns, key=lambda turn: turn[0])
    ]


def _results_first(blocks: list[Record]) -> list[Record]:
    return sorted(blocks, key=lambda block: block["type"] != "tool_result")


def _plain(blocks: list[Record]) -> Json:
    """One text block is sent as the string that it is."""
    match blocks:
        case [{"type": "text", "text": str(text)}]:
            return text
        case _:
            return list(blocks)


def _dump_group(role: str, messages: Sequence[Message]) -> Iterable[Record]:
    for message in messages:
        if message.role is Role.TOOL:
            yield _dump_result(message)
            continue
        yield from _dump_parts(message.parts, _BLOCKS[role], pictures=role == "user")
        for call in message.tool_calls:
            yield {
                "type": "tool_use",
                "id": _safe_id(call.id),
                "name": safe_name(call.name) or "unnamed",
                **_input(call),
            }


def _dump_result(message: Message) -> Record:
    blocks = list(_dump_parts(message.parts, frozenset({"document", "search_result"}), pictures=True))
    return {"type": "tool_result", "tool_use_id": _safe_id(message.tool_call_id or ""), "content": _plain(blocks) or ""}


def _dump_parts(parts: Sequence[Part], native: frozenset[str], *, pictures: bool) -> Iterable[Record]:
    for part in parts:
        match part:
            case Text():
                if part.text.strip():
                    yield {"type": "text", "text": part.text}
            case Image():
                yield (_dump_image(part) if pictures else None) or {"type": "text", "text": picture_note(part)}
            case Opaque() if part.kind in native:
                yield opaque_record(part)
            case Opaque() if part.kind != _FOREIGN_THOUGHT:
                yield {"type": "text", "text": part.json}
            case Opaque():
                pass


def _dump_image(image: Image) -> Record | None:
    if inline := _PICTURE.fullmatch(image.url):
        media, data = inline.groups()
        return {"type": "image", "source": {"type": "base64", "media_type": media, "data": data}}
    if image.url.startswith("data:") or not sendable(image):
        return None
    return {"type": "image", "source": {"type": "url", "url": image.url}}


def _input(call: ToolCall) -> Record:
    """The arguments as the object that the interface wants; text that is none is passed under one key."""
    try:
        value = cast("Json", json.loads(call.arguments or "{}"))
    except (ValueError, RecursionError):
        value = call.arguments
    return {"input": value if isinstance(value, dict) else {"arguments": value}}


def _safe_id(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name) or "_"
