"""OpenAI chat messages: https://platform.openai.com/docs/api-reference/chat/create (also what most servers speak)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from haversack.errors import InputError, nearest
from haversack.model.memory import Json
from haversack.model.message import Image, Message, Opaque, Part, Role, Text, ToolCall
from haversack.wire.pairing import pair
from haversack.wire.parts import FOREIGN_THOUGHT, load_parts, opaque_record, picture_note, safe_name, sendable
from haversack.wire.shape import Record, as_items, as_record, as_text, compact, optional_text

__all__ = ["ASIDES", "ROLES", "dump", "load", "load_all"]

ASIDES = ("tool_calls", "tool_call_id", "function_call", "refusal", "audio")
"""Fields of a message beside its role, name and content."""

ROLES: Mapping[str, Role] = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
"""By the names that a message may give."""
_USER_PARTS = frozenset({"input_audio", "file"})


def load(obj: object, path: str = "message") -> Message:
    """One message. An id that is missing stays empty; `load_all` and `dump` pair such calls and results by order."""
    record = as_record(obj, path)
    role = _load_role(record, path)
    return Message(
        role=role,
        parts=load_parts(record.get("content"), f"{path}.content") + _load_asides(record, path),
        name=optional_text(record, "name", path),
        tool_calls=_load_calls(record, path) if role is Role.ASSISTANT else (),
        tool_call_id=optional_text(record, "tool_call_id", path) if role is Role.TOOL else None,
    )


def load_all(obj: object, path: str = "messages") -> list[Message]:
    """A list of messages, calls and results paired."""
    return pair([load(item, f"{path}[{index}]") for index, item in enumerate(as_items(obj, path))])


def dump(messages: Sequence[Message]) -> list[Record]:
    """The messages ready to send.

    A block that this interface has no shape for is sent as its JSON text, a picture where none may stand as a note;
    another provider's thoughts are left out.
    """
    return [_dump_one(message) for message in pair(messages)]


def _load_role(record: Record, path: str) -> Role:
    name = as_text(record.get("role"), f"{path}.role")
    if name not in ROLES:
        raise InputError(f"{path}.role={name!r} is not a role; {nearest(name, ROLES)}")
    return ROLES[name]


def _load_asides(record: Record, path: str) -> tuple[Part, ...]:
    """What an assistant said outside `content`: a refusal, or speech with its transcript."""
    refusal = optional_text(record, "refusal", path)
    parts: tuple[Part, ...] = (Text(refusal),) if refusal else ()
    match record.get("audio"):
        case {"transcript": str(words)} if words:
            return (*parts, Text(as_text(words, path)))
        case {"id": _} as audio:
            return (*parts, Opaque(kind="audio", json=compact(as_record(audio, path))))
        case _:
            return parts


def _load_calls(record: Record, path: str) -> tuple[ToolCall, ...]:
    listed = as_items(record.get("tool_calls") or [], f"{path}.tool_calls")
    calls = tuple(_load_call(item, f"{path}.tool_calls[{index}]") for index, item in enumerate(listed) if item)
    if not calls and isinstance(record.get("function_call"), dict):  # the form before `tool_calls`
        return (_load_call({"function": record["function_call"]}, path),)
    return calls


def _load_call(obj: Json, path: str) -> ToolCall:
    record = as_record(obj, path)
    custom = record.get("type") == "custom"
    key = "custom" if custom else "function"
    inner = as_record(record.get(key) or {}, f"{path}.{key}")
    arguments = inner.get("input" if custom else "arguments")
    return ToolCall(
        id=optional_text(record, "id", path) or "",
        name=optional_text(inner, "name", f"{path}.{key}") or "",
        arguments=_load_arguments(arguments, f"{path}.{key}.arguments"),
    )


def _load_arguments(value: Json, path: str) -> str:
    match value:
        case None:
            return ""
        case dict():  # some servers send the object itself
            return compact(value)
        case _:
            return as_text(value, path)


def _dump_one(message: Message) -> Record:
    record: Record = {"role": message.role.value, "content": _dump_content(message)}
    if message.role is Role.TOOL:
        record["tool_call_id"] = message.tool_call_id or ""
    elif message.name and (name := safe_name(message.name)):
        record["name"] = name
    if message.tool_calls:
        record["tool_calls"] = [_dump_call(call) for call in message.tool_calls]
    return record


def _dump_call(call: ToolCall) -> Record:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _dump_content(message: Message) -> Json:
    parts = [part for part in message.parts if not (isinstance(part, Opaque) and part.kind in FOREIGN_THOUGHT)]
    match parts:
        case []:
            return None if message.tool_calls else ""
        case [Text(text)]:
            return text
        case _:
            return [_dump_part(part, pictures=message.role is Role.USER) for part in parts]


def _dump_part(part: Part, *, pictures: bool) -> Json:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Image() if pictures and sendable(part):
            return {"type": "image_url", "image_url": _dump_address(part)}
        case Image():
            return {"type": "text", "text": picture_note(part)}
        case Opaque() if pictures and part.kind in _USER_PARTS:
            return opaque_record(part)
        case Opaque():
            return {"type": "text", "text": part.json}


def _dump_address(image: Image) -> Record:
    return {"url": image.url} if image.detail == "auto" else {"url": image.url, "detail": image.detail}
