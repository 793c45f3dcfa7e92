"""Logs in the shapes that providers take: OpenAI chat messages, Anthropic messages, Responses items.

A value is one message (lines of one or several sessions), a list of messages, or an object that holds such a list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from haversack.errors import InputError
from haversack.model.memory import Json
from haversack.model.message import Message, Role
from haversack.transfer.drafts import Said, first_time, make_session, session_name
from haversack.transfer.entries import Problem, SessionEntry, Value
from haversack.transfer.reader import Found, Origin, Reader, Values
from haversack.wire import anthropic, openai, responses
from haversack.wire.parts import load_parts
from haversack.wire.shape import Record, as_record, is_word

__all__ = ["ANTHROPIC", "OPENAI", "RESPONSES"]

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_LISTS = ("messages", "input", "items", "output")
_BATCH = 1000
"""Messages of line-by-line logs held before they are handed on."""
_ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"})
_MORE_ITEMS = frozenset({"reasoning"})

_Found: TypeAlias = tuple[str, Said]
"""The interface that a message was read by, and the message."""
_Load: TypeAlias = Callable[[Record, str], list[Message]]


def _wire_of(message: Record) -> str:
    """Which interface the message is from, as far as it shows."""
    kind = message.get("type")
    if isinstance(kind, str) and (kind.endswith(("_call", "_call_output")) or kind in _MORE_ITEMS):
        return "responses"
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    kinds = {str(part.get("type")) for part in parts if isinstance(part, dict)}
    if kind == "message" and "role" in message and kinds <= {"input_text", "output_text", "input_image", "refusal"}:
        return "responses"
    return "anthropic" if kinds & _ANTHROPIC_BLOCKS else "openai"


def _messages_in(data: Json) -> list[Json] | None:
    """The value's list of messages, or None when it is a message itself or something else."""
    if isinstance(data, list):
        return data
    if isinstance(data, dict):
        return next((found for key in _LISTS if isinstance(found := data.get(key), list)), None)
    return None


def _is_message(data: Json) -> bool:
    if not isinstance(data, dict):
        return False
    return is_word(data.get("role"), _ROLES) or _wire_of(data) == "responses"


def _wires(data: Json) -> set[str]:
    """The interfaces that a value of the sample shows; empty when it holds no messages."""
    listed = _messages_in(data)
    if listed is None:
        return {_wire_of(data)} if isinstance(data, dict) and _is_message(data) else set()
    wires = {_wire_of(item) for item in listed if isinstance(item, dict) and _is_message(item)}
    return wires | {"anthropic"} if wires and isinstance(data, dict) and "system" in data else wires


def _detector(wire: str) -> Callable[[Sequence[Json]], bool]:
    def detect(sample: Sequence[Json]) -> bool:
        shown = {found for data in sample for found in _wires(data)}
        return wire in shown

    return detect


def _load_openai(record: Record, path: str) -> list[Message]:
    return [openai.load(record, path)]


def _load_responses(record: Record, path: str) -> list[Message]:
    return [responses.load(record, path)]


_LOADS: dict[str, _Load] = {"openai": _load_openai, "anthropic": anthropic.load, "responses": _load_responses}


def _reader(wire: str, description: str) -> Reader:
    def read(values: Values, origin: Origin) -> Iterator[Found]:
        lines = _Lines(origin, wire)
        for value in values:
            if isinstance(value, Problem):
                yield value
            elif (listed := _messages_in(value.data)) is not None:
                yield from _read_list(value, listed, wire, origin)
            else:
                yield from lines.add(value)
        yield from lines.flush()

    return Reader(name=wire, description=description, detect=_detector(wire), read=read)


def _read_list(value: Value, listed: list[Json], wire: str, origin: Origin) -> Iterator[Found]:
    """One session: a list of messages and what stands beside it."""
    record = value.data if isinstance(value.data, dict) else {}
    found: list[_Found] = []
    for index, item in enumerate(listed):
        yield from _read_message(value, item, wire, found, f"messages[{index}]")
    begun, problems = first_time(record, value)
    yield from problems
    said = _with_system(record, _joined(found))
    if said:
        name = session_name(record) or session_name(record, ("id",))
        name = name or origin.names.name(origin.stem, [one.message for one in said])
        title = record.get("title")
        yield make_session(name, said, begun=begun, title=title if isinstance(title, str) else None)


def _read_message(value: Value, item: Json, wire: str, found: list[_Found], path: str) -> Iterator[Problem]:
    """Appends what the message says to `found`; yields what is wrong with it."""
    try:
        record = as_record(item, path)
        shape = _wire_of(record)
        used = wire if shape == "openai" else shape
        messages = _LOADS[used](record, path)
    except InputError as error:
        yield value.problem(str(error))
        return
    at, problems = first_time(record, value)
    yield from problems
    given = record.get("metadata")
    metadata = given if isinstance(given, dict) else {}
    found.extend((used, Said(message=message, at=at, metadata=metadata)) for message in messages)


def _with_system(record: Record, said: list[Said]) -> list[Said]:
    """The session with the system text that stands beside its messages, where it does."""
    try:
        parts = load_parts(record.get("system") or record.get("instructions"), "system")
    except InputError:
        return said
    return [Said(message=Message(role=Role.SYSTEM, parts=parts)), *said] if parts else said


def _joined(found: Sequence[_Found]) -> list[Said]:
    """What was said, items of one assistant turn of the Responses interface together."""
    said: list[Said] = []
    for interface, group in groupby(found, key=itemgetter(0)):
        for _, one in group:
            if interface == "responses" and said and len(both := responses.join([said[-1].message, one.message])) == 1:
                said[-1] = replace(said[-1], message=both[0], metadata={**said[-1].metadata, **one.metadata})
            else:
                said.append(one)
    return said


class _Lines:
    """Messages that stand alone, gathered by session."""

    def __init__(self, origin: Origin, wire: str) -> None:
        self._origin = origin
        self._wire = wire
        self._found: dict[str | None, list[_Found]] = {}
        self._seen: dict[str | None, Counter[str]] = {}
        self._names: dict[str | None, str] = {}
        self._held = 0

    def add(self, value: Value) -> Iterator[Found]:
        """Takes one message; yields entries when enough of them are held."""
        record = value.data if isinstance(value.data, dict) else {}
        found = self._found.setdefault(session_name(record), [])
        yield from _read_message(value, value.data, self._wire, found, "message")
        self._held += 1
        if self._held >= _BATCH:
            yield from self.flush()

    def flush(self) -> Iterator[SessionEntry]:
        """What is held, as entries."""
        for session, found in self._found.items():
            joined = _joined(found)
            if joined:
                seen = self._seen.setdefault(session, Counter())
                yield make_session(self._name(session, joined), joined, seen=seen)
        self._found.clear()
        self._held = 0

    def _name(self, session: str | None, said: Sequence[Said]) -> str:
        if session not in self._names:
            self._names[session] = session or self._origin.names.name(self._origin.stem, [one.message for one in said])
        return self._names[session]


OPENAI = _reader("openai", "OpenAI chat messages: a JSON array, or lines of messages or of sessions")
ANTHROPIC = _reader("anthropic", "Anthropic messages: a request, an array, or lines of either")
RESPONSES = _reader("responses", "items of OpenAI's Responses interface: a JSON array, or lines")
