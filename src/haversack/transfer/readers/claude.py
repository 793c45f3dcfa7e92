"""Claude's account export: conversations.json, a list of conversations with `chat_messages`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from haversack.errors import InputError, nearest
from haversack.model.memory import Json
from haversack.model.message import Message, Part, Role, Text, ToolCall
from haversack.transfer.branch import Node, active_branch, newest_leaf
from haversack.transfer.drafts import Said, first_time, make_session, session_name
from haversack.transfer.entries import Problem, Value
from haversack.transfer.reader import Found, Origin, Reader, Values
from haversack.wire.parts import load_part, load_parts
from haversack.wire.shape import Record, as_items, as_record, as_text, compact, optional_text

__all__ = ["CLAUDE"]

_ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}
_UNSEEN = frozenset({"thinking", "redacted_thinking", "token_budget"})
_Shown: TypeAlias = "Part | ToolCall | Message"
"""What a block shows: words, a call, or the result of one."""


def _detect(sample: Sequence[Json]) -> bool:
    return any(isinstance(data, dict) and isinstance(data.get("chat_messages"), list) for data in sample)


def _read(values: Values, origin: Origin) -> Iterator[Found]:
    for value in values:
        if isinstance(value, Problem):
            yield value
            continue
        try:
            yield from _read_conversation(value, as_record(value.data, "conversation"), origin)
        except InputError as error:
            name = session_name(value.data, ("uuid",)) if isinstance(value.data, dict) else None
            yield value.problem(str(error), within=f"conversation {name}" if name else "")


def _read_conversation(value: Value, record: Record, origin: Origin) -> Iterator[Found]:
    listed = as_items(record.get("chat_messages"), "chat_messages")
    messages = [as_record(item, f"chat_messages[{index}]") for index, item in enumerate(listed)]
    said: list[Said] = []
    for index, message in _on_screen(messages, value):
        path = f"chat_messages[{index}]"
        at, problems = first_time(message, value, ("created_at",))
        yield from problems
        try:
            said.extend(Said(message=one, at=at, metadata=_files(message)) for one in _load(message, path))
        except InputError as error:
            yield value.problem(str(error))
    begun, problems = first_time(record, value, ("created_at",))
    ended, more = first_time(record, value, ("updated_at",))
    yield from [*problems, *more]
    if said:
        name = session_name(record, ("uuid", "id")) or origin.names.name(origin.stem, [one.message for one in said])
        yield make_session(name, said, begun=begun, ended=ended, title=optional_text(record, "name", "conversation"))


def _on_screen(messages: Sequence[Record], value: Value) -> list[tuple[int, Record]]:
    """The messages with their places: the newest branch where they name their parents, otherwise all."""
    numbered = list(enumerate(messages))
    if not any(isinstance(message.get("parent_message_uuid"), str) for message in messages):
        return numbered
    by_id = {optional_text(message, "uuid", "message") or str(index): (index, message) for index, message in numbered}
    nodes = {
        name: Node(
            parent=optional_text(message, "parent_message_uuid", "message"),
            at=first_time(message, value, ("created_at",))[0],
        )
        for name, (_, message) in by_id.items()
    }
    return [by_id[name] for name in active_branch(nodes, newest_leaf(nodes))]


def _load(record: Record, path: str) -> Iterator[Message]:
    """One message of theirs: an assistant's may hold calls and their results, so it may be several of ours."""
    sender = as_text(record.get("sender"), f"{path}.sender")
    if sender not in _ROLES:
        raise InputError(f"{path}.sender={sender!r} is not a sender; {nearest(sender, _ROLES)}")
    blocks = record.get("content")
    shown = (
        [one for index, block in enumerate(blocks) for one in _show(block, f"{path}.content[{index}]")]
        if isinstance(blocks, list)
        else []
    )
    if not shown:
        shown = list(load_parts(record.get("text"), f"{path}.text"))
    yield from _split(_ROLES[sender], [*shown, *_extracts(record)])


def _show(block: Json, path: str) -> Iterator[_Shown]:
    match block:
        case None:
            return
        case {"type": str(kind)} if kind in _UNSEEN:
            return
        case {"type": "text", "text": ""}:
            return
        case {"type": "tool_use"}:
            name, given = optional_text(block, "name", path) or "", block.get("input")
            yield ToolCall(
                id=optional_text(block, "id", path) or "", name=name, arguments=compact(given) if given else "{}"
            )
        case {"type": "tool_result"}:
            yield Message(
                role=Role.TOOL,
                name=optional_text(block, "name", path),
                parts=load_parts(block.get("content"), f"{path}.content"),
                tool_call_id=optional_text(block, "tool_use_id", path),
            )
        case _:
            yield load_part(block, path)


def _split(role: Role, shown: Sequence[_Shown]) -> Iterator[Message]:
    """Words and calls up to a result, the results, and so on."""
    parts: list[Part] = []
    calls: list[ToolCall] = []
    for one in shown:
        if isinstance(one, ToolCall):
            calls.append(one)
            continue
        if (isinstance(one, Message) or calls) and (parts or calls):
            yield Message(role=role, parts=tuple(parts), tool_calls=tuple(calls))
            parts, calls = [], []
        if isinstance(one, Message):
            yield one
        else:
            parts.append(one)
    if parts or calls:
        yield Message(role=role, parts=tuple(parts), tool_calls=tuple(calls))


def _extracts(record: Record) -> Iterator[Part]:
    """The words of attached files, which were part of the conversation."""
    attachments = record.get("attachments")
    for file in attachments if isinstance(attachments, list) else []:
        if isinstance(file, dict) and (words := file.get("extracted_content")) and isinstance(words, str):
            yield Text(as_text(f"[attachment: {file.get('file_name') or 'unnamed'}]\n{words}", "attachment"))


def _files(record: Record) -> dict[str, Json]:
    listed = [file for key in ("attachments", "files") if isinstance(files := record.get(key), list) for file in files]
    names: list[Json] = [
        name for file in listed if isinstance(file, dict) and isinstance(name := file.get("file_name"), str) and name
    ]
    return {"attachments": names} if names else {}


CLAUDE = Reader(
    name="claude",
    description="Claude's account export: the .zip, or conversations.json from it",
    detect=_detect,
    read=_read,
)
