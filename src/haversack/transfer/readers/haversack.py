"""Our own format, as `writing` writes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from haversack.errors import InputError
from haversack.model.memory import Json
from haversack.model.times import EPOCH
from haversack.transfer.entries import Problem
from haversack.transfer.reader import Found, Origin, Reader, Values
from haversack.transfer.writing import FORMAT, VERSION, load_memory, load_record, load_turn
from haversack.wire.shape import Record, as_record

__all__ = ["HAVERSACK"]

_MARKS = ("deleted_at", "stage_before", "duplicate_of")


def _detect(sample: Sequence[Json]) -> bool:
    return any(isinstance(data, dict) and data.get("format") == FORMAT and "version" in data for data in sample)


def _read(values: Values, origin: Origin) -> Iterator[Found]:
    del origin
    version: Json = VERSION
    for value in values:
        if isinstance(value, Problem):
            yield value
            continue
        try:
            record = as_record(value.data, "line")
            if _is_newer(record):
                told = (
                    f"the format's version is {record.get('version')!r}; up to {VERSION} can be read: upgrade Haversack"
                )
                yield value.problem(told)
                return
            version = record.get("version") if record.get("type") == "header" else version
            yield from _load(record if version == VERSION else _brought_up(record))
        except InputError as error:
            yield value.problem(str(error))


def _is_newer(record: Record) -> bool:
    version = record.get("version")
    return record.get("type") == "header" and not (isinstance(version, int) and version <= VERSION)


def _brought_up(record: Record) -> Record:
    """A line of version 1, in which memories had the engine's marks among their metadata."""
    if record.get("type") != "memory":
        return record
    told = dict(as_record(record.get("metadata", {}), "metadata"))
    marks = {name: told.pop(f"haversack.{name}") for name in _MARKS if f"haversack.{name}" in told}
    if isinstance(since := marks.get("deleted_at"), int):
        marks["deleted_at"] = (EPOCH + timedelta(microseconds=since)).isoformat()
    return {**record, **marks, "metadata": told}


def _load(record: Record) -> Iterator[Found]:
    match record.get("type"):
        case "header":
            return
        case "memory":
            yield load_memory(record)
        case "turn":
            yield load_turn(record)
        case "record":
            yield load_record(record)
        case other:
            raise InputError(f"type={other!r} is none of header, memory, turn, record")


HAVERSACK = Reader(name="haversack", description="our own export: lines of JSON", detect=_detect, read=_read)
