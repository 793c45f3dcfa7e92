"""Values to rows and back. A column is NULL where the field has its default, so common rows are short and quick."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import product
from typing import Any, TypeAlias

import msgspec

from haversack.errors import StoreError
from haversack.model.identity import fingerprint
from haversack.model.memory import Fields, Kind, Memory, Metadata, SessionInfo, Source, Stage, Trust, Turn
from haversack.model.message import Image, Message, Opaque, Part, Role, Text, ToolCall
from haversack.model.times import EPOCH, micros
from haversack.store.plan import HeldTurn, SessionPlace, text_of
from haversack.store.port import Restaged

__all__ = [
    "DAMAGE",
    "MEMORY_COLUMNS",
    "STORED_ALONE",
    "TURN_COLUMNS",
    "Row",
    "damaged",
    "held_turn_of",
    "memory_of",
    "place_of",
    "restaged_of",
    "row_of_memory",
    "row_of_turn",
    "session_of",
    "sound",
    "turn_of",
    "when",
]

Row: TypeAlias = tuple[Any, ...]

MEMORY_COLUMNS = (
    "id, born, changed, kind, stage, content, created_at, event_time, speaker, importance, confidence, trust, entities,"
    " tags, metadata, pinned, source, valid_from, valid_to, expires_at, superseded_by, access_count, accessed_at,"
    " deleted_at, stage_before, duplicate_of"
)
"""In the order of `memory_of`; `row_of_memory` adds STORED_ALONE at the end."""

STORED_ALONE = "fingerprint, session, text"
"""Columns that are only asked by."""

TURN_COLUMNS = "id, session, position, at, key, message, metadata"

_KINDS = {kind.value: kind for kind in Kind}
_STAGES = {stage.value: stage for stage in Stage}
_TRUSTS = {trust.value: trust for trust in Trust}
DAMAGE = (KeyError, TypeError, ValueError, OverflowError, RecursionError, msgspec.DecodeError)
_NO_METADATA = Fields()
_NO_SOURCE = Source()


class _TextRow(msgspec.Struct, tag="text", array_like=True, frozen=True):
    text: str


class _ImageRow(msgspec.Struct, tag="image", array_like=True, frozen=True):
    url: str
    width: int | None
    height: int | None
    detail: str
    caption: str


class _OpaqueRow(msgspec.Struct, tag="opaque", array_like=True, frozen=True):
    kind: str
    json: str


class _CallRow(msgspec.Struct, array_like=True, frozen=True):
    id: str
    name: str
    arguments: str


class _MessageRow(msgspec.Struct, omit_defaults=True, frozen=True):
    role: str
    parts: tuple[_TextRow | _ImageRow | _OpaqueRow, ...] = ()
    name: str | None = None
    calls: tuple[_CallRow, ...] = ()
    answers: str | None = None


_encode = msgspec.json.Encoder().encode
_names = msgspec.json.Decoder(tuple[str, ...]).decode
_source = msgspec.json.Decoder(Source).decode
_metadata = msgspec.json.Decoder(dict[str, Any]).decode
_message = msgspec.json.Decoder(_MessageRow).decode


def damaged(what: str, name: str, error: Exception) -> StoreError:
    """The error for a row that holds what no writer of ours puts there."""
    return StoreError(f"the row of {what} {name} is damaged ({type(error).__name__}: {error}): restore a snapshot")


def sound(row: Row, types: tuple[type, ...], what: str, name: str) -> Row:
    """Return a row whose values have just these types; raise StoreError that names a damaged one."""
    if tuple(map(type, row)) != types:
        raise damaged(what, name, _unlike(row, types))
    return row


def _unlike(row: Row, *sound: tuple[type, ...]) -> TypeError:
    """Return the error for columns of types that no writer of ours stores; it shows no value."""
    found = (
        f"{type(value).__name__} in column {place}"
        for place, (value, kinds) in enumerate(zip(row, zip(*sound, strict=True), strict=True), 1)
        if type(value) not in kinds
    )
    return TypeError(", ".join(found))


def when(value: int) -> datetime:
    """The moment of a time column."""
    return EPOCH + timedelta(0, 0, value)


def _readings() -> Iterator[tuple[Callable[[Memory, object], None], Callable[[Any], object] | None, object]]:
    """By column, in their order: the slot that it fills, how it is read (None: as it is), and what NULL stands for.

    Filling a frozen value's slots takes a third off the reading of many rows, which is what its constructor costs.
    """
    reads: dict[str, Callable[[Any], object]] = {
        "kind": _KINDS.__getitem__,
        "stage": _STAGES.__getitem__,
        "trust": _TRUSTS.__getitem__,
        "entities": _names,
        "tags": _names,
        "metadata": lambda text: Fields(_metadata(text)),
        "stage_before": _STAGES.__getitem__,
        "pinned": bool,
        "source": _source,
    }
    reads |= dict.fromkeys(_TIMES, when)
    absent: dict[str, object] = {"entities": (), "tags": (), "metadata": _NO_METADATA, "source": _NO_SOURCE}
    for column in MEMORY_COLUMNS.split(", "):
        yield getattr(Memory, column).__set__, reads.get(column), absent.get(column)


_TIMES = ("created_at", "event_time", "valid_from", "valid_to", "expires_at", "accessed_at", "deleted_at")
_PUT, _READ, _ABSENT = zip(*_readings(), strict=True)

_TYPES: dict[str, type] = {
    **dict.fromkeys(("born", "changed", "pinned", "access_count", *_TIMES), int),
    **dict.fromkeys(("importance", "confidence"), float),
}
_NULLABLE = frozenset(
    (
        *("entities", "tags", "metadata", "source", "valid_from", "valid_to", "expires_at", "superseded_by"),
        *("accessed_at", "deleted_at", "stage_before", "duplicate_of"),
    )
)
_SOUND: frozenset[tuple[type, ...]] = frozenset(
    product(
        *(
            (_TYPES.get(column, str), type(None)) if column in _NULLABLE else (_TYPES.get(column, str),)
            for column in MEMORY_COLUMNS.split(", ")
        )
    )
)
"""The types that the columns of a memory's row may have together: one look finds any column of a wrong type."""
_SOUND_TURNS = frozenset(product((str,), (str,), (int,), (int,), (str, type(None)), (str,), (str, type(None))))
_SOUND_PLACES = frozenset(product((str,), (int,), (int,), (int, type(None)), (int, type(None))))
_SOUND_HELD = frozenset(product((str,), (str,), (int,), (str, type(None))))
_IMPORTANCE, _CONFIDENCE = (MEMORY_COLUMNS.split(", ").index(name) for name in ("importance", "confidence"))


def memory_of(row: Row) -> Memory:
    """The memory in a row of MEMORY_COLUMNS; raises StoreError that names a damaged one."""
    memory = object.__new__(Memory)
    if tuple(map(type, row)) not in _SOUND:
        raise damaged("memory", row[0], _unlike(row, *_SOUND))
    if not (0 <= row[_IMPORTANCE] <= 1 and 0 <= row[_CONFIDENCE] <= 1):
        raise damaged("memory", row[0], ValueError("importance or confidence is not from 0 to 1"))
    try:
        for put, read, absent, value in zip(_PUT, _READ, _ABSENT, row, strict=True):
            put(memory, absent if value is None else value if read is None else read(value))
    except DAMAGE as error:
        raise damaged("memory", row[0], error) from error
    return memory


def row_of_memory(memory: Memory, born: int, changed: int) -> Row:
    """The row of MEMORY_COLUMNS and STORED_ALONE; passages have none, for equal words said twice are two."""
    return (
        memory.id,
        born,
        changed,
        memory.kind.value,
        memory.stage.value,
        memory.content,
        micros(memory.created_at),
        micros(memory.event_time),
        memory.speaker,
        memory.importance,
        memory.confidence,
        memory.trust.value,
        _text(memory.entities) if memory.entities else None,
        _text(memory.tags) if memory.tags else None,
        _metadata_text(memory.metadata),
        memory.pinned,
        _source_text(memory.source),
        _micros(memory.valid_from),
        _micros(memory.valid_to),
        _micros(memory.expires_at),
        memory.superseded_by,
        memory.access_count,
        _micros(memory.accessed_at),
        _micros(memory.deleted_at),
        None if memory.stage_before is None else memory.stage_before.value,
        memory.duplicate_of,
        None if memory.kind is Kind.PASSAGE else fingerprint(memory.kind, memory.content),
        memory.source.session,
        text_of(memory),
    )


def turn_of(row: Row) -> Turn:
    """The turn in a row of TURN_COLUMNS; raises StoreError that names a damaged one."""
    name, session, position, at, key, message, metadata = row
    if tuple(map(type, row)) not in _SOUND_TURNS:
        raise damaged("turn", name, _unlike(row, *_SOUND_TURNS))
    try:
        return Turn(
            id=name,
            session=session,
            message=_message_of(_message(message)),
            at=when(at),
            metadata=_NO_METADATA if metadata is None else Fields(_metadata(metadata)),
            key=key,
            position=position,
        )
    except DAMAGE as error:
        raise damaged("turn", name, error) from error


def session_of(row: Row) -> SessionInfo:
    """The session in a row of its name, turns, first and last time; raises StoreError that names a damaged one."""
    name, turns, first, last = sound(row, (str, int, int, int), "session", row[0])
    try:
        return SessionInfo(id=name, turns=turns, first_at=when(first), last_at=when(last))
    except DAMAGE as error:
        raise damaged("session", name, error) from error


def place_of(row: Row) -> SessionPlace:
    """Return how far a session has come, of its name, next position, turns, first and last time."""
    name, upcoming, turns, first, last = row
    if tuple(map(type, row)) not in _SOUND_PLACES:
        raise damaged("session", name, _unlike(row, *_SOUND_PLACES))
    try:
        return SessionPlace(upcoming, turns, *(None if at is None else when(at) for at in (first, last)))
    except DAMAGE as error:
        raise damaged("session", name, error) from error


def held_turn_of(row: Row) -> HeldTurn:
    """Return what the rules ask of a stored turn, of a row in the order of HeldTurn."""
    if tuple(map(type, row)) not in _SOUND_HELD:
        raise damaged("turn", row[0], _unlike(row, *_SOUND_HELD))
    return HeldTurn._make(row)


def restaged_of(row: Row) -> tuple[int, Restaged]:
    """Return a memory's change number and new stage, of its number, id, stage and importance."""
    number, name, stage, importance = sound(row, (int, str, str, float), "memory", row[1])
    try:
        return number, Restaged(name, _STAGES[stage], importance)
    except DAMAGE as error:
        raise damaged("memory", name, error) from error


def row_of_turn(turn: Turn) -> Row:
    """The row of TURN_COLUMNS."""
    return (
        turn.id,
        turn.session,
        turn.position,
        micros(turn.at),
        turn.key,
        _text(_row_of_message(turn.message)),
        _metadata_text(turn.metadata),
    )


def _text(value: object) -> str:
    return _encode(value).decode()


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else micros(moment)


def _metadata_text(metadata: Metadata) -> str | None:
    return _text(dict(metadata)) if metadata else None


def _source_text(source: Source) -> str | None:
    fields = {
        "session": source.session,
        "turns": source.turns,
        "memories": source.memories,
        "document": source.document,
        "part": source.part,
    }
    given = {name: value for name, value in fields.items() if value is not None and value != ()}
    return _text(given) if given else None


def _row_of_message(message: Message) -> _MessageRow:
    return _MessageRow(
        role=message.role.value,
        parts=tuple(map(_row_of_part, message.parts)),
        name=message.name,
        calls=tuple(_CallRow(call.id, call.name, call.arguments) for call in message.tool_calls),
        answers=message.tool_call_id,
    )


def _row_of_part(part: Part) -> _TextRow | _ImageRow | _OpaqueRow:
    match part:
        case Text():
            return _TextRow(part.text)
        case Image():
            return _ImageRow(part.url, part.width, part.height, part.detail, part.caption)
        case Opaque():
            return _OpaqueRow(part.kind, part.json)


def _message_of(row: _MessageRow) -> Message:
    return Message(
        role=Role(row.role),
        parts=tuple(map(_part_of, row.parts)),
        name=row.name,
        tool_calls=tuple(ToolCall(id=call.id, name=call.name, arguments=call.arguments) for call in row.calls),
        tool_call_id=row.answers,
    )


def _part_of(row: _TextRow | _ImageRow | _OpaqueRow) -> Part:
    match row:
        case _TextRow():
            return Text(row.text)
        case _ImageRow():
            return Image(url=row.url, width=row.width, height=row.height, detail=row.detail, caption=row.caption)
        case _OpaqueRow():
            return Opaque(kind=row.kind, json=row.json)
