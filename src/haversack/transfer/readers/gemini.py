"""Gemini contents: [{role: user | model, parts}], alone or in a request; calls and results are paired by order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haversack.errors import InputError, nearest
from haversack.model.memory import Json
from haversack.model.message import Image, Message, Opaque, Part, Role, Text, ToolCall
from haversack.transfer.drafts import Said, first_time, make_session, session_name
from haversack.transfer.entries import Problem, Value
from haversack.transfer.reader import Found, Origin, Reader, Values
from haversack.wire.shape import Record, as_items, as_record, as_text, compact

__all__ = ["GEMINI"]

_ROLES = {"user": Role.USER, "model": Role.ASSISTANT, "function": Role.TOOL, "system": Role.SYSTEM}
_SYSTEM = ("systemInstruction", "system_instruction")


def _detect(sample: Sequence[Json]) -> bool:
    return any(_contents(data) is not None for data in sample)


def _contents(data: Json) -> list[Json] | None:
    match data:
        case {"contents": [{"parts": _}, *_] as contents} | {"history": [{"parts": _}, *_] as contents}:
            return contents
        case [{"role": _, "parts": _}, *_] as contents:
            return contents
        case {"role": "user" | "model" | "function", "parts": [*_]} as content:
            return [content]
        case _:
            return None


def _read(values: Values, origin: Origin) -> Iterator[Found]:
    """Single contents, one a line, are one conversation; a request or a list of contents is one each."""
    loose: list[Said] = []
    for value in values:
        if isinstance(value, Problem):
            yield value
            continue
        contents = _contents(value.data)
        if contents is None:
            yield value.problem("contents with a role and parts are missing")
            continue
        record = value.data if isinstance(value.data, dict) else {}
        said: list[Said] = []
        try:
            said += _system(record)
        except InputError as error:
            yield value.problem(str(error))
        for index, content in enumerate(contents):
            yield from _add(said, value, content, f"contents[{index}]")
        if "parts" in record:
            loose += said
        elif said:
            name = session_name(record, ("id", "session_id"))
            yield make_session(name or origin.names.name(origin.stem, [one.message for one in said]), said)
    if loose:
        yield make_session(origin.names.name(origin.stem, [one.message for one in loose]), loose)


def _system(record: Record) -> Iterator[Said]:
    given = next((found for key in _SYSTEM if (found := record.get(key))), None)
    if given is not None:
        parts = as_record(given, "systemInstruction").get("parts") if isinstance(given, dict) else [{"text": given}]
        words = "\n".join(as_text(as_record(part, "part").get("text"), "text") for part in as_items(parts, "parts"))
        yield Said(message=Message(role=Role.SYSTEM, parts=(Text(words),)))


def _add(said: list[Said], value: Value, content: Json, path: str) -> Iterator[Problem]:
    try:
        record = as_record(content, path)
        messages = list(_messages(record, path))
    except InputError as error:
        yield value.problem(str(error))
        return
    at, problems = first_time(record, value)
    yield from problems
    said += [Said(message=message, at=at) for message in messages]


def _messages(record: Record, path: str) -> Iterator[Message]:
    """What was said with its calls, and each result as a message of its own."""
    name = as_text(record.get("role") or "user", f"{path}.role")
    if name not in _ROLES:
        raise InputError(f"{path}.role={name!r} is not a role; {nearest(name, _ROLES)}")
    said: list[Part] = []
    calls: list[ToolCall] = []
    results: list[Message] = []
    for index, item in enumerate(as_items(record.get("parts") or [], f"{path}.parts")):
        part = as_record(item, f"{path}.parts[{index}]")
        if call := part.get("functionCall") or part.get("function_call"):
            calls.append(_call(as_record(call, "functionCall")))
        elif result := part.get("functionResponse") or part.get("function_response"):
            results.append(_result(as_record(result, "functionResponse")))
        elif isinstance(text := part.get("text"), str):
            said.append(Text(text))
        else:
            said.append(_picture(part) or Opaque(kind=next(iter(part), "part"), json=compact(part)))
    if said or calls or not results:
        yield Message(role=_ROLES[name], parts=tuple(said), tool_calls=tuple(calls))
    yield from results


def _picture(part: Record) -> Image | None:
    given = part.get("inlineData") or part.get("inline_data") or part.get("fileData") or part.get("file_data")
    if not isinstance(given, dict):
        return None
    mime = _word(given, "mimeType") or _word(given, "mime_type")
    data, uri = _word(given, "data"), _word(given, "fileUri") or _word(given, "file_uri")
    if not mime.startswith("image/") or not (data or uri):
        return None
    return Image(url=uri or f"data:{mime};base64,{data}")


def _call(call: Record) -> ToolCall:
    return ToolCall(id=_word(call, "id"), name=_word(call, "name"), arguments=compact(call.get("args") or {}))


def _result(result: Record) -> Message:
    given = result.get("response")
    words = given if isinstance(given, str) else compact({} if given is None else given)
    return Message(role=Role.TOOL, parts=(Text(words),), tool_call_id=_word(result, "id") or None)


def _word(record: Record, key: str) -> str:
    found = record.get(key)
    return found if isinstance(found, str) else ""


GEMINI = Reader(
    name="gemini",
    description="Gemini contents with a role and parts: a list, lines, or requests",
    detect=_detect,
    read=_read,
)
