"""LlamaIndex: chat stores and chat messages with `blocks`, and the texts of a document store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haversack.errors import InputError
from haversack.model.memory import Json
from haversack.transfer.drafts import Said, make_session, short_digest
from haversack.transfer.entries import DocumentEntry, Problem, Value
from haversack.transfer.reader import Found, Origin, Reader, Values
from haversack.wire import openai
from haversack.wire.shape import Record, as_items, as_record, optional_text

__all__ = ["LLAMAINDEX"]

_NODES = "docstore/data"


def _detect(sample: Sequence[Json]) -> bool:
    return any(_chats(data) or _is_message(_first(data)) or _nodes(data) for data in sample)


def _first(data: Json) -> Json:
    return data[0] if isinstance(data, list) and data else data


def _is_message(data: Json) -> bool:
    match data:
        case {"role": str(), "blocks": [{"block_type": _}, *_]}:
            return True
        case _:
            return False


def _chats(data: Json) -> Record:
    """Lists of messages by the name of their chat."""
    match data:
        case {"class_name": str() as name, "store": dict() as chats} if name.endswith("ChatStore"):
            return chats
        case {"chat_store": {"store": dict() as chats}}:
            return chats
        case _:
            return {}


def _nodes(data: Json) -> Record:
    found = data.get(_NODES) if isinstance(data, dict) else None
    return found if isinstance(found, dict) else {}


def _read(values: Values, origin: Origin) -> Iterator[Found]:
    """Lists are sessions of their own; single messages make up one."""
    single: list[Said] = []
    for value in values:
        if isinstance(value, Problem):
            yield value
        elif chats := _chats(value.data):
            for name, listed in chats.items():
                yield from _read_chat(value, listed, name, origin)
        elif nodes := _nodes(value.data):
            yield from _read_nodes(value, nodes)
        elif isinstance(value.data, list):
            yield from _read_chat(value, value.data, None, origin)
        else:
            yield from _read_message(value, value.data, single, "message")
    if single:
        yield make_session(origin.names.name(origin.stem, [one.message for one in single]), single)


def _read_chat(value: Value, listed: Json, name: str | None, origin: Origin) -> Iterator[Found]:
    said: list[Said] = []
    try:
        messages = as_items(listed, name or "messages")
    except InputError as error:
        yield value.problem(str(error))
        return
    for index, item in enumerate(messages):
        yield from _read_message(value, item, said, f"{name or 'messages'}[{index}]")
    if said:
        yield make_session(name or origin.names.name(origin.stem, [one.message for one in said]), said)


def _read_message(value: Value, item: Json, said: list[Said], path: str) -> Iterator[Problem]:
    """Appends what the message says to `said`; yields what is wrong with it."""
    try:
        record = as_record(item, path)
        extra = record.get("additional_kwargs")
        blocks = record.get("blocks")
        content = record.get("content") if blocks is None else [_part(block) for block in as_items(blocks, path)]
        shape: Record = {**(extra if isinstance(extra, dict) else {}), "role": _role(record), "content": content}
        said.append(Said(message=openai.load(shape, path)))
    except InputError as error:
        yield value.problem(str(error))


def _role(record: Record) -> Json:
    return {"chatbot": "assistant", "model": "assistant"}.get(str(record.get("role")), record.get("role"))


def _part(block: Json) -> Json:
    """A block in the shape of OpenAI's content parts; other kinds stay whole under their name."""
    match block:
        case {"block_type": "text", "text": str() as words}:
            return {"type": "text", "text": words}
        case {"block_type": "image", "url": str() as url}:
            return {"type": "image_url", "image_url": {"url": url}}
        case {"block_type": str() as kind}:
            return {**block, "type": kind}
        case _:
            return block


def _read_nodes(value: Value, nodes: Record) -> Iterator[Found]:
    for name, node in nodes.items():
        try:
            data = as_record(as_record(node, name).get("__data__"), f"{name}.__data__")
            text = optional_text(data, "text", name)
        except InputError as error:
            yield value.problem(str(error))
            continue
        given = data.get("metadata")
        metadata = given if isinstance(given, dict) else {}
        title = next((str(metadata[key]) for key in ("title", "file_name", "file_path") if metadata.get(key)), name)
        if text and text.strip():
            yield DocumentEntry(key=short_digest(f"{name}\0{text}", 24), title=title, text=text, source=title)


LLAMAINDEX = Reader(
    name="llamaindex",
    description="LlamaIndex's chat stores, messages with blocks, and document stores",
    detect=_detect,
    read=_read,
)
