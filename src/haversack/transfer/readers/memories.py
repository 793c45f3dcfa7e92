"""Memories from other systems: MCP's knowledge graph, and lists of remembered sentences (mem0's and Zep's shapes)."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import cast

from haversack.errors import InputError
from haversack.model.identity import ENTROPY_BYTES, make_id
from haversack.model.memory import Json, Kind
from haversack.model.times import EPOCH
from haversack.transfer.drafts import first_time
from haversack.transfer.entries import MemoryEntry, Problem, Value
from haversack.transfer.reader import Found, Origin, Reader, Values
from haversack.wire.shape import Record, as_items, as_record, as_text, is_word, optional_text

__all__ = ["MCP_MEMORY", "MEMORIES"]

_TEXT_KEYS = ("memory", "fact", "content", "text")
_LISTS = ("results", "memories", "facts", "data")
_AT_KEYS = ("created_at", "createdAt", "event_time", "timestamp", "time", "date", "ts")


def _memory_id(source: str, identity: str, at: datetime | None) -> str:
    """An id that the same memory from the same kind of dump gets at every import."""
    digest = hashlib.sha256(f"{source}\0{identity}".encode("utf-8", "replace")).digest()
    return make_id(at or EPOCH, digest[:ENTROPY_BYTES])


def _detect_graph(sample: Sequence[Json]) -> bool:
    return any(_is_graph(data) for data in sample)


def _is_graph(data: Json) -> bool:
    match data:
        case {"type": "entity", "name": _} | {"type": "relation", "from": _, "to": _}:
            return True
        case {"entities": [{"name": _}, *_]} | {"relations": [{"from": _, "to": _}, *_]}:
            return True
        case _:
            return False


def _read_graph(values: Values, origin: Origin) -> Iterator[Found]:
    del origin
    for value in values:
        if isinstance(value, Problem):
            yield value
            continue
        try:
            for record in _graph_records(as_record(value.data, "record")):
                yield from _graph_memories(record)
        except InputError as error:
            yield value.problem(str(error))


def _graph_records(record: Record) -> Iterator[Record]:
    """The record itself, or those of a whole graph."""
    if "entities" not in record and "relations" not in record:
        yield record
        return
    for key, kind in (("entities", "entity"), ("relations", "relation")):
        for index, item in enumerate(as_items(record.get(key) or [], key)):
            yield {**as_record(item, f"{key}[{index}]"), "type": kind}


def _graph_memories(record: Record) -> Iterator[MemoryEntry]:
    match record.get("type"):
        case "entity":
            yield from _entity(record)
        case "relation":
            yield _relation(record)
        case kind:
            raise InputError(f"type={kind!r} is neither 'entity' nor 'relation'")


def _entity(record: Record) -> Iterator[MemoryEntry]:
    """One memory per observation, so that a graph that grew adds only what is new."""
    name = as_text(record.get("name"), "name")
    kind = optional_text(record, "entityType", "entity")
    subject = f"{name} ({kind})" if kind else name
    observations = as_items(record.get("observations") or [], "observations")
    texts = [as_text(one, f"observations[{index}]") for index, one in enumerate(observations)]
    for content in [f"{subject}: {text}" for text in texts] or [subject]:
        yield MemoryEntry(
            id=_memory_id("mcp-memory", f"entity\0{content}", None),
            kind=Kind.ENTITY,
            content=content,
            entities=(name,),
            metadata={"entity_type": kind} if kind else {},
        )


def _relation(record: Record) -> MemoryEntry:
    subject, verb, target = (as_text(record.get(key), key) for key in ("from", "relationType", "to"))
    content = f"{subject} {verb} {target}"
    return MemoryEntry(
        id=_memory_id("mcp-memory", f"relation\0{content}", None),
        kind=Kind.RELATION,
        content=content,
        entities=(subject, target),
        metadata={"relation_type": verb},
    )


def _listed(data: Json) -> list[Json]:
    if isinstance(data, dict):
        return next((found for key in _LISTS if isinstance(found := data.get(key), list)), [data])
    return data if isinstance(data, list) else []


def _detect_list(sample: Sequence[Json]) -> bool:
    return any(
        isinstance(item, dict) and any(isinstance(item.get(key), str) for key in _TEXT_KEYS) and "role" not in item
        for data in sample
        for item in _listed(data)
    )


def _read_list(values: Values, origin: Origin) -> Iterator[Found]:
    del origin
    for value in values:
        if isinstance(value, Problem):
            yield value
            continue
        for index, item in enumerate(_listed(value.data)):
            try:
                yield from _listed_memory(value, as_record(item, f"memories[{index}]"))
            except InputError as error:
                yield value.problem(str(error))


def _listed_memory(value: Value, record: Record) -> Iterator[Found]:
    content = next((found for key in _TEXT_KEYS if (found := optional_text(record, key, "memory"))), None)
    if content is None:
        raise InputError(f"a memory needs its words under one of {', '.join(_TEXT_KEYS)}")
    at, problems = first_time(record, value, _AT_KEYS)
    valid_from, more = first_time(record, value, ("valid_at", "valid_from"))
    valid_to, most = first_time(record, value, ("invalid_at", "valid_to"))
    expires_at, last = first_time(record, value, ("expires_at",))
    importance, doubt = _unit(record, value, "importance", 0.5)
    confidence, doubts = _unit(record, value, "confidence", 1.0)
    yield from [*problems, *more, *most, *last, *doubt, *doubts]
    theirs = record.get("id") or record.get("uuid")
    kind = record.get("kind") or record.get("memory_type")
    known = is_word(kind, frozenset(Kind))
    yield MemoryEntry(
        id=_memory_id("memories", str(theirs or content), at),
        kind=Kind(kind) if known else Kind.FACT,
        content=content,
        at=at or valid_from,
        valid_from=valid_from,
        valid_to=valid_to,
        expires_at=expires_at,
        importance=importance,
        confidence=confidence,
        pinned=record.get("pinned") in (True, "true", "True"),
        entities=_names(record.get("entities")),
        tags=_names(record.get("categories")) + _names(record.get("tags")),
        metadata=_metadata(record) if known or not kind else {"kind": kind, **_metadata(record)},
    )


def _unit(record: Record, value: Value, key: str, unknown: float) -> tuple[float, list[Problem]]:
    """A share from 0 to 1, also as a table's text; what is none is passed over with a warning."""
    given = record.get(key)
    if given is None or given == "":
        return unknown, []
    try:
        number = float(given) if isinstance(given, int | float | str) and not isinstance(given, bool) else math.nan
    except ValueError:
        number = math.nan
    if 0 <= number <= 1:
        return number, []
    told = f"{key}={given!r} is no number from 0 to 1; read as unknown"
    return unknown, [value.problem(told, warning=True)]


def _names(given: Json) -> tuple[str, ...]:
    """The texts of a list, or of one text that semicolons or commas divide."""
    listed = re.split("[;,]", given) if isinstance(given, str) else given if isinstance(given, list) else []
    return tuple(name.strip() for name in listed if isinstance(name, str) and name.strip())


def _metadata(record: Record) -> dict[str, Json]:
    """An object, or its JSON text as a table has it."""
    given = record.get("metadata")
    if isinstance(given, str):
        try:
            given = cast("Json", json.loads(given))
        except ValueError:
            return {"metadata": given}
    return given if isinstance(given, dict) else {}


MCP_MEMORY = Reader(
    name="mcp-memory",
    description="the MCP memory server's file: lines of entities and relations, or the graph as one object",
    detect=_detect_graph,
    read=_read_graph,
)
MEMORIES = Reader(
    name="memories",
    description="memories of mem0, Zep and the like: objects with memory, fact, content or text",
    detect=_detect_list,
    read=_read_list,
)
