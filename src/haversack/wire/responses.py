"""Items of OpenAI's Responses interface: https://platform.openai.com/docs/api-reference/responses/create."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from haversack.model.memory import Json
from haversack.model.message import Image, Message, Opaque, Part, Role, Text, ToolCall
from haversack.wire import openai
from haversack.wire.pairing import pair
from haversack.wire.parts import FOREIGN_THOUGHT, load_parts, opaque_record, picture_note, sendable
from haversack.wire.shape import Record, as_items, as_record, compact, optional_text

__all__ = ["dump", "join", "load", "load_all"]

_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})
_FILE = "input_file"
_ITEMS = frozenset(
    {
        "reasoning",
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "computer_call",
        "image_generation_call",
        "local_shell_call",
        "mcp_call",
        "mcp_list_tools",
    }
)
"""Items of an assistant's turn that we keep opaque and send back as they were."""


def load(obj: object, path: str = "item") -> Message:
    """One item as a message; `join` puts the items of one assistant turn together."""
    item = as_record(obj, path)
    kind = optional_text(item, "type", path) or "message"
    if kind == "message":
        return openai.load(item, path)
    if kind in _CALLS:
        return Message(role=Role.ASSISTANT, tool_calls=(_load_call(item, _CALLS[kind], path),))
    if kind in _RESULTS:
        output = load_parts(item.get("output"), f"{path}.output")
        return Message(role=Role.TOOL, parts=output, tool_call_id=optional_text(item, "call_id", path))
    return Message(role=Role.ASSISTANT, parts=(Opaque(kind=kind, json=compact(item)),))


def load_all(obj: object, path: str = "items") -> list[Message]:
    """A list of items; calls and results paired."""
    return pair(join([load(item, f"{path}[{index}]") for index, item in enumerate(as_items(obj, path))]))


def join(messages: Sequence[Message]) -> list[Message]:
    """Thoughts, words and calls of one assistant turn, which are items of their own there, as one message."""
    joined: list[Message] = []
    for message in messages:
        if joined and _continues(joined[-1], message):
            last = joined[-1]
            parts, calls = last.parts + message.parts, last.tool_calls + message.tool_calls
            joined[-1] = replace(last, parts=parts, tool_calls=calls)
        else:
            joined.append(message)
    return joined


def dump(messages: Sequence[Message]) -> list[Record]:
    """The messages as input items; several texts of an assistant message in a row are joined by line breaks."""
    return [item for message in pair(messages) for item in _dump_one(message)]


def _continues(last: Message, message: Message) -> bool:
    """Whether both belong to one assistant turn, in the order thoughts, words, calls."""
    if last.role is not Role.ASSISTANT or message.role is not Role.ASSISTANT:
        return False
    return not message.parts or not (last.tool_calls or last.text)


def _load_call(item: Record, key: str, path: str) -> ToolCall:
    return ToolCall(
        id=optional_text(item, "call_id", path) or optional_text(item, "id", path) or "",
        name=optional_text(item, "name", path) or "",
        arguments=optional_text(item, key, path) or "",
    )


def _dump_one(message: Message) -> Iterator[Record]:
    match message.role:
        case Role.ASSISTANT:
            yield from _dump_assistant(message.parts)
            for call in message.tool_calls:
                yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        case Role.TOOL:
            output = _dump_content(message.parts, pictures=True)
            yield {"type": "function_call_output", "call_id": message.tool_call_id or "", "output": output}
        case Role.USER | Role.SYSTEM:
            content = _dump_content(message.parts, pictures=message.role is Role.USER)
            yield {"type": "message", "role": message.role.value, "content": content}


def _dump_assistant(parts: Sequence[Part]) -> Iterator[Record]:
    for native, group in groupby(parts, key=_is_item):
        if native:
            yield from (opaque_record(part) for part in group if isinstance(part, Opaque))
        elif words := "\n".join(_words(group)):
            yield {"type": "message", "role": "assistant", "content": words}


def _is_item(part: Part) -> bool:
    return isinstance(part, Opaque) and part.kind in _ITEMS


def _words(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        match part:
            case Text():
                yield part.text
            case Image():
                yield picture_note(part)
            case Opaque():
                if part.kind not in FOREIGN_THOUGHT:
                    yield part.json


def _dump_content(parts: Sequence[Part], *, pictures: bool) -> Json:
    match parts:
        case ():
            return ""
        case (Text(text),):
            return text
        case _:
            return [_dump_part(part, pictures=pictures) for part in parts]


def _dump_part(part: Part, *, pictures: bool) -> Json:
    match part:
        case Text():
            return {"type": "input_text", "text": part.text}
        case Image() if pictures and sendable(part):
            return {"type": "input_image", "image_url": part.url, "detail": part.detail}
        case Image():
            return {"type": "input_text", "text": picture_note(part)}
        case Opaque() if pictures and part.kind == _FILE:
            return opaque_record(part)
        case Opaque():
            return {"type": "input_text", "text": part.json}
