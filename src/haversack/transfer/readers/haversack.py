"""Our own format, as `writing` writes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haversack.errors import InputError
from haversack.model.memory import Json
from haversack.transfer.entries import Problem
from haversack.transfer.reader import Found, Origin, Reader, Values
from haversack.transfer.writing import FORMAT, VERSION, load_memory, load_record, load_turn
from haversack.wire.shape import Record, as_record

__all__ = ["HAVERSACK"]


def _detect(sample: Sequence[Json]) -> bool:
    return any(isinstance(data, dict) and data.get("format") == FORMAT and "version" in data for data in sample)


def _read(values: Values, origin: Origin) -> Iterator[Found]:
    del origin
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
            yield from _load(record)
        except InputError as error:
            yield value.problem(str(error))


def _is_newer(record: Record) -> bool:
    version = record.get("version")
    return record.get("type") == "header" and not (isinstance(version, int) and version <= VERSION)


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
