"""ChatGPT's account export: conversations.json, a list of trees whose `current_node` is what was on the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from haversack.errors import InputError
from haversack.model.memory import Json
from haversack.model.message import Image, Message, Opaque, Part, Role, Text, ToolCall
from haversack.transfer.branch import Node, active_branch, newest_leaf
from haversack.transfer.drafts import Said, first_time, make_session, session_name
from haversack.transfer.entries import Problem, Value
from haversack.transfer.reader import Found, Origin, Reader, Values
from haversack.wire.shape import Record, as_items, as_record, as_text, compact, is_word, optional_text

__all__ = ["CHATGPT"]

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}
"""System messages are the product's, never on the screen."""
_UNSEEN = frozenset({"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context"})


def _detect(sample: Sequence[Json]) -> bool:
    return any(isinstance(data, dict) and isinstance(data.get("mapping"), dict) for data in sample)


def _read(values: Values, origin: Origin) -> Iterator[Found]:
    for value in values:
        if isinstance(value, Problem):
            yield value
            continue
        try:
            yield from _read_conversation(value, as_record(value.data, "conversation"), origin)
        except InputError as error:
            name = session_name(value.data) if isinstance(value.data, dict) else None
            yield value.problem(str(error), within=f"conversation {name}" if name else "")


def _read_conversation(value: Value, record: Record, origin: Origin) -> Iterator[Found]:
    name = session_name(record, ("conversation_id", "id"))
    place = f"conversation {name}" if name else ""
    mapping = {
        key: as_record(node, f"mapping.{key}") for key, node in as_record(record.get("mapping"), "mapping").items()
    }
    nodes = {
        key: Node(parent=optional_text(node, "parent", key), at=_time_of(node, value)) for key, node in mapping.items()
    }
    leaf = record.get("current_node")
    if not isinstance(leaf, str) or leaf not in nodes:
        said_instead = "is missing" if leaf is None else f"{leaf!r} is not among its messages"
        yield value.problem(f"current_node {said_instead}; read up from the newest message", warning=True, within=place)
        leaf = newest_leaf(nodes) if nodes else ""
    said: list[Said] = []
    for key in active_branch(nodes, leaf):
        yield from _read_node(value, key, mapping[key], nodes[key].at, said)
    begun, problems = first_time(record, value, ("create_time",))
    ended, more = first_time(record, value, ("update_time",))
    yield from [*problems, *more]
    if said:
        title = optional_text(record, "title", "conversation")
        session = name or origin.names.name(origin.stem, [one.message for one in said])
        yield make_session(session, said, begun=begun, ended=ended, title=title)


def _time_of(node: Record, value: Value) -> datetime | None:
    message = node.get("message")
    return first_time(message, value, ("create_time",))[0] if isinstance(message, dict) else None


def _read_node(value: Value, key: str, node: Record, at: datetime | None, said: list[Said]) -> Iterator[Problem]:
    """Appends what the node shows, if anything; yields what is wrong with it."""
    record = node.get("message")
    if not isinstance(record, dict) or _is_hidden(record):
        return
    yield from first_time(record, value, ("create_time",))[1]
    try:
        message = _load(key, record)
    except InputError as error:
        yield value.problem(str(error), within=f"message {key}")
        return
    if message.parts or message.tool_calls:
        said.append(Said(message=message, at=at, metadata=_attachments(record)))


def _is_hidden(message: Record) -> bool:
    metadata, author, content = message.get("metadata"), message.get("author"), message.get("content")
    return (
        (isinstance(metadata, dict) and bool(metadata.get("is_visually_hidden_from_conversation")))
        or not (isinstance(author, dict) and is_word(author.get("role"), _ROLES))
        or (isinstance(content, dict) and is_word(content.get("content_type"), _UNSEEN))
    )


def _load(key: str, message: Record) -> Message:
    author = as_record(message.get("author"), "author")
    role = _ROLES[as_text(author.get("role"), "author.role")]
    recipient = optional_text(message, "recipient", "message") or "all"
    parts = tuple(_load_content(as_record(message.get("content") or {}, "content")))
    if role is Role.ASSISTANT and recipient != "all":
        words = "\n".join(part.text for part in parts if isinstance(part, Text))
        return Message(role=role, tool_calls=(ToolCall(id=key, name=recipient, arguments=words),))
    return Message(role=role, parts=parts, name=optional_text(author, "name", "author"))


def _load_content(content: Record) -> Iterator[Part]:
    kind = optional_text(content, "content_type", "content") or "text"
    if isinstance(content.get("parts"), list):
        for index, part in enumerate(as_items(content["parts"], "content.parts")):
            if part is not None and part != "":
                yield _load_part(part, f"content.parts[{index}]")
        return
    words = next((text for key in ("text", "result") if isinstance(text := content.get(key), str)), None)
    if words:
        yield Text(as_text(words, "content.text"))
    elif words is None and len(content) > 1:
        yield Opaque(kind=kind, json=compact(content))


def _load_part(part: Json, path: str) -> Part:
    if isinstance(part, str):
        return Text(as_text(part, path))
    record = as_record(part, path)
    match record:
        case {"content_type": "image_asset_pointer", "asset_pointer": str(address)}:
            return Image(url=address, width=_size(record, "width"), height=_size(record, "height"))
        case {"content_type": "audio_transcription", "text": str(words)}:
            return Text(as_text(words, path))
        case _:
            return Opaque(kind=optional_text(record, "content_type", path) or "", json=compact(record))


def _size(record: Record, key: str) -> int | None:
    size = record.get(key)
    return size if isinstance(size, int) and size > 0 else None


def _attachments(message: Record) -> dict[str, Json]:
    metadata = message.get("metadata")
    listed = metadata.get("attachments") if isinstance(metadata, dict) else None
    files = listed if isinstance(listed, list) else []
    names: list[Json] = [name for file in files if isinstance(file, dict) and isinstance(name := file.get("name"), str)]
    return {"attachments": names} if names else {}


CHATGPT = Reader(
    name="chatgpt",
    description="ChatGPT's account export: the .zip, or conversations.json from it",
    detect=_detect,
    read=_read,
)
