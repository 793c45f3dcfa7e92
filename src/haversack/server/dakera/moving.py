"""Import, export and metrics as the dakera client asks for them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from itertools import islice
from typing import Annotated, Any, Literal, cast

import msgspec
from fastapi import APIRouter, Query, Request
from pydantic import JsonValue
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.responses import Response

from haversack.clock import utc_now
from haversack.engine.keys import Scope
from haversack.errors import InputError
from haversack.guard.refusal import Refused
from haversack.server.caller import AdminCaller, In, ReadCaller, WriteCaller
from haversack.server.dakera.shapes import AgentQuery, Answer, StoreItem, agent, memory_record, stored_details
from haversack.server.routes.declare import PROBLEMS, StrictRoute, problems
from haversack.server.shapes import answer
from haversack.server.watch import Metrics

router = APIRouter(route_class=StrictRoute, tags=["dakera"], prefix="/v1")

Form = Annotated[Literal["jsonl", "csv", "mem0", "zep"], Query(alias="format")]
_TEXT_KEYS = ("content", "memory", "fact", "text")
_COLUMNS = ("id", "content", "memory_type", "importance", "tags", "session_id", "created_at", "metadata")
_MOST_ERRORS = 50
_TOGETHER = 500
_MOST_RECORDS = 50_000
_MOST_BYTES = 32 << 20
"""This import is read as a whole; the one at `/v1/namespaces/…/import` is not."""
_TOO_LARGE = f"a file may have {_MOST_BYTES:,} bytes; larger ones in parts"
_FRAME = 64 << 10
"""Bytes of a form beside its file."""
_FILE = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}, "required": ["file"]}


@router.post(
    "/import",
    response_model=Answer,
    responses=problems(409),
    openapi_extra={"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": _FILE}}}},
)
async def import_memories(
    caller: WriteCaller,
    request: Request,
    agent_id: AgentQuery,
    form: Form = "jsonl",
) -> Response:
    """Take in a file of memories; bad records are reported and left out, the rest lands."""
    here = agent(caller, agent_id, Scope.WRITE)
    data = await _uploaded(request)
    return answer(await caller.sack.threads.run(_bring_in, here, data, form))


@router.get(
    "/export",
    responses={**PROBLEMS, 200: {"description": "The file", "content": {"application/x-ndjson": {}, "text/csv": {}}}},
)
def export_memories(
    caller: ReadCaller,
    agent_id: AgentQuery,
    form: Form = "jsonl",
) -> Response:
    """An agent's memories as a file."""
    here = agent(caller, agent_id, Scope.READ)
    records = [memory_record(memory, agent_id) for memory in reversed(here.ns.everything())]
    here.note("export", count=len(records), now=True)
    text, kind = _written(records, form)
    return Response(text, media_type=kind, headers={"x-dakera-export-skipped": "0"})


@router.get(
    "/ops/metrics", responses={**PROBLEMS, 200: {"description": "Prometheus's text", "content": {"text/plain": {}}}}
)
def ops_metrics(caller: AdminCaller, request: Request) -> Response:
    """Counts and times in Prometheus's text format."""
    caller.reach_all()
    counts: Metrics = request.app.state.metrics
    return Response(counts.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def _uploaded(request: Request) -> bytes:
    if "multipart/form-data" not in request.headers.get("content-type", ""):
        raise Refused(415, "UNSUPPORTED_MEDIA_TYPE", "send the file as multipart/form-data")
    parser = MultiPartParser(request.headers, _bounded(request), max_files=1, max_fields=10)
    parser.spool_max_size = _MOST_BYTES + _FRAME  # in memory: what is uploaded is written to no other file
    try:
        form = await parser.parse()
    except MultiPartException as error:
        if error.message == _TOO_LARGE:
            raise Refused(413, "PAYLOAD_TOO_LARGE", _TOO_LARGE) from None
        raise InputError(error.message) from None
    try:
        files = [part for part in form.values() if not isinstance(part, str)]
        if not files:
            raise InputError("the form holds no file")
        return await files[0].read()
    finally:
        await form.close()


async def _bounded(request: Request) -> AsyncGenerator[bytes]:
    """The body, as far as a file and the form around it may go."""
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > _MOST_BYTES + _FRAME:
            raise MultiPartException(_TOO_LARGE)  # the one error at which the parser closes its files
        yield chunk


def _bring_in(here: In, data: bytes, form: str) -> Answer:
    now, known = utc_now(), here.ns.stats().memories
    drafts: list[dict[str, Any]] = []
    errors: list[str] = []
    records = list(islice(_read(data, form), _MOST_RECORDS + 1))
    if (total := len(records)) > _MOST_RECORDS:
        raise Refused(413, "PAYLOAD_TOO_LARGE", f"a file may have {_MOST_RECORDS:,} records; more in parts")
    for place, record in enumerate(records, start=1):
        try:
            drafts.append(stored_details(_item(record), now))
        except (ValueError, TypeError, RecursionError, msgspec.DecodeError) as error:
            errors.append(f"record {place}: {str(error).splitlines()[0]}")
    gone = here.ns.stay_forgotten((draft["kind"], draft["content"]) for draft in drafts)
    drafts = [draft for draft in drafts if (draft["kind"], draft["content"]) not in gone]
    for start in range(0, len(drafts), _TOGETHER):
        errors += _kept(here, drafts[start : start + _TOGETHER])
    added = sum(here.ns.stats().memories.values()) - sum(known.values())
    here.note("import", count=added, now=True)
    moment = int(now.timestamp())
    return {
        "job_id": f"import-{moment}",
        "status": "failed" if errors and not added else "done",
        "format": form,
        "total": total,
        "imported": added,
        "skipped": total - added,
        "errors": cast("list[JsonValue]", errors[:_MOST_ERRORS]),
        "started_at": moment,
        "finished_at": int(utc_now().timestamp()),
    }


def _kept(here: In, drafts: list[dict[str, Any]]) -> list[str]:
    """What is wrong with some of these; the others are remembered, in one transaction where nothing is wrong."""
    try:
        here.ns.remember_many(drafts)
    except InputError as error:
        if len(drafts) == 1:
            return [str(error)]
        half = len(drafts) // 2
        return _kept(here, drafts[:half]) + _kept(here, drafts[half:])
    return []


def _read(data: bytes, form: str) -> Iterator[object]:
    text = data.decode("utf-8-sig", "replace")
    try:
        if form == "csv":
            yield from csv.DictReader(io.StringIO(text))
            return
        if form == "jsonl":
            yield from (msgspec.json.decode(line) for line in text.split("\n") if line.strip())
            return
        document: object = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, csv.Error) as error:
        raise InputError(f"the file is not {form}: {error}") from None
    wrapper = "messages" if form == "zep" else "memories"
    items = cast("dict[str, object]", document).get(wrapper, []) if isinstance(document, dict) else document
    if not isinstance(items, list):
        raise InputError(f"the file holds no list of {wrapper}")
    yield from cast("list[object]", items)


def _item(record: object) -> StoreItem:
    """One record, of any of the formats, as a memory to store."""
    if not isinstance(record, Mapping):
        raise InputError("a record must be an object")
    given = cast("Mapping[str, Any]", record)
    content = next((given[key] for key in _TEXT_KEYS if given.get(key)), None)
    kind = given.get("memory_type")
    return StoreItem(
        content=content,  # pyright: ignore[reportArgumentType] - the model checks it
        memory_type=kind if isinstance(kind, str) and kind else "episodic",
        importance=float(given.get("importance") or 0.5),
        metadata=_loaded(given.get("metadata")),
        tags=_tags(given.get("tags")),
        session_id=given.get("session_id") or None,
        event_time=given.get("event_time") or given.get("created_at") or None,
    )


def _loaded(value: object) -> dict[str, JsonValue] | None:
    """Metadata as an object, or as the JSON text that a table cell holds."""
    if isinstance(value, str) and value:
        value = msgspec.json.decode(value)
    return cast("dict[str, JsonValue]", value) if isinstance(value, dict) else None


def _tags(value: object) -> list[str] | None:
    if isinstance(value, str):
        return [tag for tag in value.split(";") if tag] or None
    return [str(tag) for tag in cast("list[object]", value)] if isinstance(value, list) else None


def _written(records: list[Answer], form: str) -> tuple[str, str]:
    match form:
        case "csv":
            return _table(records), "text/csv"
        case "mem0":
            return json.dumps({"memories": [{**one, "memory": one["content"]} for one in records]}), "application/json"
        case "zep":
            return json.dumps({"messages": records}), "application/json"
        case _:
            return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), "application/x-ndjson"


def _table(records: list[Answer]) -> str:
    """One row to a memory; metadata as JSON, tags with semicolons."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for one in records:
        cells = {**one, "tags": ";".join(cast("list[str]", one["tags"])), "metadata": json.dumps(one["metadata"])}
        writer.writerow([cells[column] for column in _COLUMNS])
    return out.getvalue()
