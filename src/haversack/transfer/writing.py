"""Our own format: lines of JSON in UTF-8, a header first, then memories, turns and records, each whole.

Every field comes back exactly, except the numbers that a store assigns itself (`born`, `changed`, `position`): the
order of the lines says the same. Fields that are empty are left out.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import TypeVar

from haversack.errors import InputError
from haversack.model.memory import Json, Kind, Memory, Source, Stage, Trust, Turn
from haversack.model.message import Image, Message, Opaque, Part, Role, Text, ToolCall
from haversack.transfer.entries import RecordEntry
from haversack.wire.shape import Record, as_items, as_record, as_text, compact, refuse

__all__ = [
    "FORMAT",
    "VERSION",
    "dump_header",
    "dump_memory",
    "dump_record",
    "dump_turn",
    "load_memory",
    "load_record",
    "load_turn",
    "render_line",
]

FORMAT = "haversack"
VERSION = 2
_Word = TypeVar("_Word", Kind, Trust, Stage, Role)


def render_line(record: Record) -> bytes:
    """The record as a line of the file, its line break included."""
    return compact(record).encode() + b"\n"


def dump_header() -> Record:
    """The first line of a file."""
    return {"type": "header", "format": FORMAT, "version": VERSION}


def dump_memory(memory: Memory) -> Record:
    """A memory as a line."""
    return {
        "type": "memory",
        "id": memory.id,
        "kind": memory.kind.value,
        "content": memory.content,
        "created_at": _dump_time(memory.created_at),
        "event_time": _dump_time(memory.event_time),
        "importance": memory.importance,
        "confidence": memory.confidence,
        "trust": memory.trust.value,
        "stage": memory.stage.value,
        **_filled(
            speaker=memory.speaker,
            entities=list(memory.entities),
            tags=list(memory.tags),
            metadata=dict(memory.metadata),
            pinned=memory.pinned,
            source=_dump_source(memory.source),
            valid_from=_dump_time(memory.valid_from),
            valid_to=_dump_time(memory.valid_to),
            expires_at=_dump_time(memory.expires_at),
            superseded_by=memory.superseded_by,
            access_count=memory.access_count,
            accessed_at=_dump_time(memory.accessed_at),
            deleted_at=_dump_time(memory.deleted_at),
            stage_before=None if memory.stage_before is None else memory.stage_before.value,
            duplicate_of=memory.duplicate_of,
        ),
    }


def load_memory(record: Record) -> Memory:
    """The memory that the line stands for; InputError names the field that is wrong."""
    return Memory(
        id=as_text(record.get("id"), "id"),
        kind=_word(Kind, record, "kind"),
        content=as_text(record.get("content"), "content"),
        created_at=_time(record, "created_at"),
        event_time=_time(record, "event_time"),
        speaker=as_text(record.get("speaker", ""), "speaker"),
        importance=_number(record, "importance"),
        confidence=_number(record, "confidence"),
        trust=_word(Trust, record, "trust"),
        entities=_texts(record, "entities"),
        tags=_texts(record, "tags"),
        metadata=as_record(record.get("metadata", {}), "metadata"),
        pinned=record.get("pinned") is True,
        source=_load_source(as_record(record.get("source", {}), "source")),
        valid_from=_optional_time(record, "valid_from"),
        valid_to=_optional_time(record, "valid_to"),
        expires_at=_optional_time(record, "expires_at"),
        superseded_by=_optional(record, "superseded_by"),
        stage=_word(Stage, record, "stage"),
        access_count=_integer(record.get("access_count", 0), "access_count"),
        accessed_at=_optional_time(record, "accessed_at"),
        deleted_at=_optional_time(record, "deleted_at"),
        stage_before=_word(Stage, record, "stage_before") if "stage_before" in record else None,
        duplicate_of=_optional(record, "duplicate_of"),
    )


def dump_turn(turn: Turn) -> Record:
    """A turn as a line."""
    message = turn.message
    return {
        "type": "turn",
        "id": turn.id,
        "session": turn.session,
        "at": _dump_time(turn.at),
        "role": message.role.value,
        "parts": [_dump_part(part) for part in message.parts],
        **_filled(
            name=message.name,
            tool_calls=[{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls],
            tool_call_id=message.tool_call_id,
            metadata=dict(turn.metadata),
            key=turn.key,
        ),
    }


def load_turn(record: Record) -> Turn:
    """The turn that the line stands for; InputError names the field that is wrong."""
    parts = as_items(record.get("parts"), "parts")
    calls = as_items(record.get("tool_calls", []), "tool_calls")
    return Turn(
        id=as_text(record.get("id"), "id"),
        session=as_text(record.get("session"), "session"),
        message=Message(
            role=_word(Role, record, "role"),
            parts=tuple(_load_part(as_record(part, f"parts[{n}]"), f"parts[{n}]") for n, part in enumerate(parts)),
            name=_optional(record, "name"),
            tool_calls=tuple(
                _load_call(as_record(call, "tool_calls"), f"tool_calls[{n}]") for n, call in enumerate(calls)
            ),
            tool_call_id=_optional(record, "tool_call_id"),
        ),
        at=_time(record, "at"),
        metadata=as_record(record.get("metadata", {}), "metadata"),
        key=_optional(record, "key"),
    )


def dump_record(entry: RecordEntry) -> Record:
    """A record as a line, its bytes in base 64."""
    value = base64.b64encode(entry.value).decode("ascii")
    return {"type": "record", "collection": entry.collection, "key": entry.key, "base64": value}


def load_record(record: Record) -> RecordEntry:
    """The record that the line stands for; InputError names the field that is wrong."""
    try:
        value = base64.b64decode(as_text(record.get("base64"), "base64"), validate=True)
    except ValueError as error:
        raise InputError(f"base64 cannot be decoded: {error}") from None
    collection, key = (as_text(record.get(field), field) for field in ("collection", "key"))
    return RecordEntry(collection=collection, key=key, value=value)


def _filled(**fields: Json) -> Record:
    """Those fields that say something."""
    return {key: value for key, value in fields.items() if value not in (None, "", False, 0, [], {})}


def _dump_time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="microseconds")


def _dump_source(source: Source) -> Record:
    return _filled(
        session=source.session,
        turns=list(source.turns),
        memories=list(source.memories),
        document=source.document,
        part=None if source.part is None else list(source.part),
    )


def _load_source(record: Record) -> Source:
    part = as_items(record.get("part", []), "source.part")
    numbers = [_integer(number, "source.part") for number in part]
    return Source(
        session=_optional(record, "session"),
        turns=_texts(record, "turns"),
        memories=_texts(record, "memories"),
        document=_optional(record, "document"),
        part=(numbers[0], numbers[1]) if len(numbers) > 1 else None,
    )


def _dump_part(part: Part) -> Record:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Image():
            sizes = _filled(width=part.width, height=part.height, caption=part.caption)
            return {"type": "image", "url": part.url, "detail": part.detail, **sizes}
        case Opaque():
            return {"type": "opaque", "kind": part.kind, "json": part.json}


def _load_part(record: Record, path: str) -> Part:
    match record.get("type"):
        case "text":
            return Text(as_text(record.get("text"), f"{path}.text"))
        case "image":
            width, height = record.get("width"), record.get("height")
            return Image(
                url=as_text(record.get("url"), f"{path}.url"),
                width=None if width is None else _integer(width, f"{path}.width"),
                height=None if height is None else _integer(height, f"{path}.height"),
                detail=as_text(record.get("detail", "auto"), f"{path}.detail"),
                caption=as_text(record.get("caption", ""), f"{path}.caption"),
            )
        case "opaque":
            kind, text = (as_text(record.get(field), f"{path}.{field}") for field in ("kind", "json"))
            return Opaque(kind=kind, json=text)
        case other:
            raise InputError(f"{path}.type={other!r} is none of text, image, opaque")


def _load_call(record: Record, path: str) -> ToolCall:
    id_, name, arguments = (as_text(record.get(field), f"{path}.{field}") for field in ("id", "name", "arguments"))
    return ToolCall(id=id_, name=name, arguments=arguments)


def _word(words: type[_Word], record: Record, key: str) -> _Word:
    given = as_text(record.get(key), key)
    try:
        return words(given)
    except ValueError:
        raise InputError(f"{key}={given!r} is none of {', '.join(words)}") from None


def _time(record: Record, key: str) -> datetime:
    given = as_text(record.get(key), key)
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        raise InputError(f"{key}={given[:60]!r} is not an ISO 8601 time") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def _optional_time(record: Record, key: str) -> datetime | None:
    return None if record.get(key) is None else _time(record, key)


def _optional(record: Record, key: str) -> str | None:
    return None if record.get(key) is None else as_text(record[key], key)


def _texts(record: Record, key: str) -> tuple[str, ...]:
    return tuple(as_text(item, f"{key}[{n}]") for n, item in enumerate(as_items(record.get(key, []), key)))


def _number(record: Record, key: str) -> float:
    value = record.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise refuse(value, key, "a number")


def _integer(value: Json, path: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise refuse(value, path, "a whole number")
