"""Law: our own format brings every field back exactly, in valid UTF-8."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.errors import InputError
from haversack.model.memory import Kind, Memory, Source, Stage, Trust, Turn
from haversack.model.message import Image, Message, Opaque, Role, Text, ToolCall
from haversack.transfer import Problem, RecordEntry
from haversack.transfer.writing import (
    dump_header,
    dump_memory,
    dump_record,
    dump_turn,
    load_memory,
    load_record,
    load_turn,
    render_line,
)

Read = Callable[..., Any]
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
FULL = WORDS.filter(bool)
TIMES = st.datetimes(datetime(1970, 1, 2), datetime(2999, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds must be naive
FLAT = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS
METADATA = st.dictionaries(
    WORDS, FLAT | st.lists(FLAT, max_size=2) | st.dictionaries(WORDS, FLAT, max_size=2), max_size=3
)
NAMES = st.lists(WORDS, max_size=2).map(tuple)
SOURCES = st.builds(
    Source,
    session=st.none() | FULL,
    turns=NAMES,
    memories=NAMES,
    document=st.none() | FULL,
    part=st.none() | st.tuples(st.integers(0, 9), st.integers(1, 9)),
)
MEMORIES = st.builds(
    Memory,
    id=WORDS,
    kind=st.sampled_from(Kind),
    content=WORDS,
    created_at=TIMES,
    event_time=TIMES,
    speaker=WORDS,
    importance=st.floats(0, 1),
    confidence=st.floats(0, 1),
    trust=st.sampled_from(Trust),
    entities=NAMES,
    tags=NAMES,
    metadata=METADATA,
    pinned=st.booleans(),
    source=SOURCES,
    valid_from=st.none() | TIMES,
    valid_to=st.none() | TIMES,
    expires_at=st.none() | TIMES,
    superseded_by=st.none() | FULL,
    stage=st.sampled_from(Stage),
    access_count=st.integers(0),
    accessed_at=st.none() | TIMES,
    deleted_at=st.none() | TIMES,
    stage_before=st.none() | st.sampled_from(Stage),
    duplicate_of=st.none() | FULL,
)
SIZES = st.none() | st.integers(1, 9000)
PARTS = st.one_of(
    WORDS.map(Text),
    st.builds(Image, url=WORDS, width=SIZES, height=SIZES, detail=WORDS, caption=WORDS),
    st.builds(Opaque, kind=WORDS, json=WORDS),
)
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(Role),
    parts=st.lists(PARTS, max_size=3).map(tuple),
    name=st.none() | FULL,
    tool_calls=st.lists(st.builds(ToolCall, id=WORDS, name=WORDS, arguments=WORDS), max_size=2).map(tuple),
    tool_call_id=st.none() | FULL,
)
TURNS = st.builds(Turn, id=WORDS, session=WORDS, message=MESSAGES, at=TIMES, metadata=METADATA, key=st.none() | FULL)


@given(MEMORIES)
def test_a_memory_comes_back(memory: Memory):
    assert load_memory(json.loads(render_line(dump_memory(memory)))) == memory


@given(TURNS)
def test_a_turn_comes_back(turn: Turn):
    assert load_turn(json.loads(render_line(dump_turn(turn)))) == turn


@given(st.builds(RecordEntry, collection=WORDS, key=WORDS, value=st.binary(max_size=20)))
def test_a_record_comes_back(entry: RecordEntry):
    assert load_record(json.loads(render_line(dump_record(entry)))) == entry


AT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
MEMORY = Memory(id="m", kind=Kind.FACT, content="Likes tea", created_at=AT, event_time=AT)
TURN = Turn(id="t", session="s", message=Message(role=Role.USER, parts=(Text("hi"),)), at=AT)


def test_a_line_is_readable_and_short():
    assert render_line(dump_memory(MEMORY)).decode() == (
        '{"type":"memory","id":"m","kind":"fact","content":"Likes tea","created_at":"2026-01-02T03:04:05.678901+00:00",'
        '"event_time":"2026-01-02T03:04:05.678901+00:00","importance":0.5,"confidence":1.0,"trust":"manual",'
        '"stage":"active"}\n'
    )
    assert render_line(dump_turn(TURN)).decode() == (
        '{"type":"turn","id":"t","session":"s","at":"2026-01-02T03:04:05.678901+00:00","role":"user",'
        '"parts":[{"type":"text","text":"hi"}]}\n'
    )


def test_what_cannot_be_utf8_is_written_as_a_replacement():
    torn = Memory(id="m", kind=Kind.FACT, content="a\ud800", created_at=AT, event_time=AT)
    assert json.loads(render_line(dump_memory(torn)).decode("utf-8"))["content"] == "a\ufffd"


def test_a_file_is_read_back_in_order(read: Read):
    entries = [MEMORY, TURN, RecordEntry(collection="views", key="k", value=b"\x00\xff")]
    lines = [dump_header(), dump_memory(MEMORY), dump_turn(TURN), dump_record(entries[2])]  # pyright: ignore[reportArgumentType]
    result = read({"export.jsonl": b"".join(map(render_line, lines))})
    assert (result.reading.format, result.found) == ("haversack", entries)


def test_marks_of_the_first_version_leave_the_metadata_and_later_ones_are_the_callers(read: Read):
    told = {"deleted_at": 1767323045678901, "stage_before": "decayed", "duplicate_of": "x"}
    marks = {f"haversack.{name}": value for name, value in told.items()}
    line = {**dump_memory(replace(MEMORY, stage=Stage.DELETED)), "metadata": {"page": 3, **marks}}
    marked = replace(
        MEMORY,
        stage=Stage.DELETED,
        metadata={"page": 3},
        deleted_at=AT,
        stage_before=Stage.DECAYED,
        duplicate_of="x",
    )
    assert read({"export.jsonl": [{**dump_header(), "version": 1}, line]}).found == [marked]
    assert read({"export.jsonl": [dump_header(), dump_memory(marked)]}).found == [marked]
    (own,) = read({"export.jsonl": [dump_header(), line]}).found
    assert (own.deleted_at, own.metadata) == (None, {"page": 3, **marks})


def test_a_newer_file_is_refused(read: Read):
    result = read({"export.jsonl": [{**dump_header(), "version": 3}, dump_memory(MEMORY)]})
    assert [isinstance(one, Problem) for one in result.found] == [True]
    assert result.problems == [
        "export.jsonl: line 1: the format's version is 3; up to 2 can be read: upgrade Haversack"
    ]


def test_a_bad_line_loses_only_itself(read: Read):
    result = read({"export.jsonl": [dump_header(), {"type": "memory"}, {"type": "odd"}, 5, dump_memory(MEMORY)]})
    assert result.found[-1] == MEMORY
    assert result.problems == [
        "export.jsonl: line 2: id must be a string, not missing",
        "export.jsonl: line 3: type='odd' is none of header, memory, turn, record",
        "export.jsonl: line 4: line must be an object, not int",
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "fakt"}, "kind='fakt' is none of passage, fact, profile,"),
        ({"created_at": "soon"}, "created_at='soon' is not an ISO 8601 time"),
        ({"importance": "high"}, "importance must be a number, not str"),
        ({"importance": True}, "importance must be a number, not bool"),
        ({"access_count": 1.5}, "access_count must be a whole number, not float"),
        ({"tags": [1]}, "tags[0] must be a string, not int"),
        ({"source": {"part": ["x", 1]}}, "source.part must be a whole number, not str"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], message: str):
    with pytest.raises(InputError) as caught:
        load_memory({**dump_memory(MEMORY), **change})
    assert str(caught.value).startswith(message)


def test_wrong_parts_and_bytes_are_named():
    with pytest.raises(InputError, match=r"^parts\[0\]\.type='video' is none of text, image, opaque$"):
        load_turn({**dump_turn(TURN), "parts": [{"type": "video"}]})
    with pytest.raises(InputError, match=r"^base64 cannot be decoded: "):
        load_record({"type": "record", "collection": "c", "key": "k", "base64": "!"})


def test_a_time_without_an_offset_is_read_as_utc():
    loaded = load_memory({**dump_memory(MEMORY), "created_at": "2026-01-02T03:04:05"})
    assert loaded.created_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
