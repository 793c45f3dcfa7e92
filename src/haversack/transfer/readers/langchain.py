"""LangChain's dumps of messages: `messages_to_dict` ({type, data}) and `dumpd`/`dumps` ({lc, id, kwargs})."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haversack.errors import InputError, nearest
from haversack.model.memory import Json
from haversack.model.message import Message, Part, Role, ToolCall
from haversack.transfer.drafts import Said, make_session
from haversack.transfer.entries import Problem, Value
from haversack.transfer.reader import Found, Origin, Reader, Values
from haversack.wire.openai import load as load_openai
from haversack.wire.parts import load_part, load_parts
from haversack.wire.shape import Record, as_items, as_record, as_text, compact, is_word, optional_text

__all__ = ["LANGCHAIN"]

_ROLES = {
    "human": Role.USER,
    "user": Role.USER,
    "ai": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
_CALL_BLOCKS = frozenset({"tool_use", "tool_call", "function_call", "tool_call_chunk", "input_json_delta"})
"""Blocks that `tool_calls` says again."""


def _detect(sample: Sequence[Json]) -> bool:
    return any(_fields(message) is not None for data in sample for message in _listed(data))


def _read(values: Values, origin: Origin) -> Iterator[Found]:
    """Lists are sessions of their own; single messages make up one."""
    single: list[Said] = []
    for value in values:
        if isinstance(value, Problem):
            yield value
        elif isinstance(value.data, dict) and _fields(value.data) is not None and not _prompt(value.data):
            yield from _read_message(value, value.data, single, "message")
        else:
            said: list[Said] = []
            for index, item in enumerate(_listed(value.data)):
                yield from _read_message(value, item, said, f"messages[{index}]")
            yield from _session(said, origin)
    yield from _session(single, origin)


def _session(said: Sequence[Said], origin: Origin) -> Iterator[Found]:
    if said:
        yield make_session(origin.names.name(origin.stem, [one.message for one in said]), said)


def _listed(data: Json) -> list[Json]:
    """The messages of a value: a list, a prompt or history that holds one, or a message itself."""
    if isinstance(data, list):
        return data
    if not isinstance(data, dict):
        return []
    return _prompt(data) or [data]


def _prompt(record: Record) -> list[Json]:
    """The messages of an object that holds a list of them."""
    fields = record.get("kwargs") if record.get("lc") else record
    held = fields.get("messages") if isinstance(fields, dict) else None
    return held if isinstance(held, list) else []


def _fields(data: Json) -> tuple[str, Record] | None:
    """The message's type and fields, or None when it is no message of LangChain's."""
    match data:
        case {"lc": int(), "id": [*_, str(name)], "kwargs": dict() as fields}:
            kind = fields.get("type")
            return (kind if isinstance(kind, str) else name), fields
        case {"type": str(kind), "data": dict() as fields}:
            return kind, fields
        case _:
            return None


def _read_message(value: Value, item: Json, said: list[Said], path: str) -> Iterator[Problem]:
    try:
        found = _fields(item)
        if found is None:
            raise InputError(f"{path} is not a message of LangChain's: it has neither type and data nor lc and kwargs")  # noqa: TRY301
        said.append(Said(message=_load(*found, path)))
    except InputError as error:
        yield value.problem(str(error))


def _load(kind: str, fields: Record, path: str) -> Message:
    role = _role(kind, fields, path)
    calls = tuple(_load_calls(fields, path)) if role is Role.ASSISTANT else ()
    return Message(
        role=role,
        parts=_load_content(fields.get("content"), f"{path}.content", calls=bool(calls)),
        name=optional_text(fields, "name", path),
        tool_calls=calls,
        tool_call_id=optional_text(fields, "tool_call_id", path) if role is Role.TOOL else None,
    )


def _role(kind: str, fields: Record, path: str) -> Role:
    """From `human`, `HumanMessage` or `HumanMessageChunk`; `chat` messages carry theirs in a field."""
    name = kind.removesuffix("Chunk").removesuffix("Message").casefold()
    name = as_text(fields.get("role"), f"{path}.role") if name == "chat" else name
    if name not in _ROLES:
        raise InputError(f"{path}.type={kind!r} is not a message type; {nearest(name, _ROLES)}")
    return _ROLES[name]


def _load_content(content: Json, path: str, *, calls: bool) -> tuple[Part, ...]:
    if not isinstance(content, list):
        return load_parts(content, path)
    kept = [(n, block) for n, block in enumerate(content) if not (calls and _is_call(block))]
    return tuple(load_part(block, f"{path}[{n}]") for n, block in kept if block is not None)


def _is_call(block: Json) -> bool:
    return isinstance(block, dict) and is_word(block.get("type"), _CALL_BLOCKS)


def _load_calls(fields: Record, path: str) -> Iterator[ToolCall]:
    listed = [
        as_record(item, f"{path}.{key}[{index}]")
        for key in ("tool_calls", "invalid_tool_calls")
        for index, item in enumerate(as_items(fields.get(key) or [], f"{path}.{key}"))
    ]
    for call in listed:
        given = call.get("args")
        yield ToolCall(
            id=optional_text(call, "id", path) or "",
            name=optional_text(call, "name", path) or "",
            arguments=given if isinstance(given, str) else compact({} if given is None else given),
        )
    extra = fields.get("additional_kwargs")
    if not listed and isinstance(extra, dict):  # dumps from before `tool_calls` was a field
        yield from load_openai({**extra, "role": "assistant"}, f"{path}.additional_kwargs").tool_calls


LANGCHAIN = Reader(
    name="langchain",
    description="LangChain messages: messages_to_dict or dumpd, a JSON array or lines",
    detect=_detect,
    read=_read,
)
