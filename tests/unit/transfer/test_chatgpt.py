"""ChatGPT's account export."""

import io
import json
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from haversack.model.message import Image, Opaque, Text, ToolCall

Read = Callable[..., Any]
HIDDEN = {"is_visually_hidden_from_conversation": True}


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def node(key: str, parent: str | None, role: str | None = None, *parts: Any, **more: Any) -> dict[str, Any]:
    """A node as the export has it; without a role it has no message."""
    if role is None:
        return {"id": key, "message": None, "parent": parent, "children": []}
    message = {
        "id": key,
        "author": {"role": role, "name": more.pop("name", None), "metadata": {}},
        "create_time": more.pop("time", None),
        "content": more.pop("content", {"content_type": "text", "parts": list(parts)}),
        "recipient": more.pop("recipient", "all"),
        "metadata": more,
    }
    return {"id": key, "message": message, "parent": parent, "children": []}


def conversation(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    defaults = {
        "title": "T",
        "create_time": None,
        "update_time": None,
        "conversation_id": "c",
        "current_node": nodes[-1]["id"],
    }
    return {**defaults, **more, "mapping": {one["id"]: one for one in nodes}}


TREE = (
    node("root", None),
    node("sys", "root", "system", "", **HIDDEN),
    node("u1", "sys", "user", "Which day?", time=1700000000.25),
    node("a1", "u1", "assistant", "Tuesday.", time=1700000010.0),
    node("u2old", "a1", "user", "Make it Monday.", time=1700000100.0),
    node("u2", "a1", "user", "Keep it.", time=1700000200.0),
    node("a2a", "u2", "assistant", "Draft.", time=1700000210.0),
    node("a2b", "u2", "assistant", "Kept.", time=1700000220.0),
)
ON_SCREEN = [["user: Which day?", "assistant: Tuesday.", "user: Keep it.", "assistant: Kept."]]


def test_the_branch_on_the_screen(read: Read):
    result = read({"conversations.json": [conversation(*TREE)]})
    (entry,) = result.sessions
    assert (result.reading.format, entry.session, entry.title, result.lines) == ("chatgpt", "c", "T", ON_SCREEN)
    assert entry.turns[0].at == at(1700000000.25)
    assert result.problems + result.warnings == []


@pytest.mark.parametrize(("current", "told"), [(None, "is missing"), ("gone", "'gone' is not among its messages")])
def test_without_a_current_node_the_newest_message_leads(read: Read, current: str | None, told: str):
    result = read({"conversations.json": [conversation(*TREE, current_node=current)]})
    assert result.lines == ON_SCREEN
    assert result.warnings == [
        f"conversations.json: element 1, conversation c: current_node {told}; read up from the newest message"
    ]


def test_a_circle_fails_its_conversation_only(read: Read):
    circle = conversation(node("a", "b", "user", "x"), node("b", "a", "user", "y"), conversation_id="bad")
    result = read({"conversations.json": [circle, conversation(*TREE)]})
    assert result.lines == ON_SCREEN
    assert result.problems == ["conversations.json: element 1, conversation bad: its parents form a circle at 'b'"]


def test_a_cut_file_keeps_whole_conversations(read: Read):
    data = json.dumps([conversation(*TREE), conversation(*TREE, conversation_id="d")])
    result = read({"conversations.json": data[: len(data) * 3 // 4]})
    assert result.lines == ON_SCREEN
    assert result.problems == ["conversations.json: element 2: the file ends in the middle of it"]


@pytest.mark.parametrize(
    ("times", "conversation_times", "expected"),
    [
        ((None, 900.0), (None, 1000.0), [(900.0, "conversation"), (900.0, None)]),
        ((900.0, None), (None, 1000.0), [(900.0, None), (900.0, "previous")]),
        ((None, None), (800.0, 1000.0), [(800.0, "conversation"), (800.0, "previous")]),
        ((None, None), (None, 1000.0), [(1000.0, "conversation"), (1000.0, "previous")]),
        ((None, None), (None, None), [(None, "import"), (None, "import")]),
    ],
)
def test_null_dates_fall_back_in_order(read: Read, times: Any, conversation_times: Any, expected: Any):
    data = conversation(
        node("a", None, "user", "x", time=times[0]),
        node("b", "a", "assistant", "y", time=times[1]),
        create_time=conversation_times[0],
        update_time=conversation_times[1],
        title=None,
    )
    (entry,) = read({"conversations.json": [data]}).sessions
    assert [(turn.at, turn.metadata.get("time_from")) for turn in entry.turns] == [
        (None if seconds is None else at(seconds), origin) for seconds, origin in expected
    ]
    assert [turn.at_guess for turn in entry.turns] == [origin is not None for _, origin in expected]


def test_an_impossible_date_is_a_warning(read: Read):
    result = read({"conversations.json": [conversation(node("a", None, "user", "x", time=-1))]})
    assert result.lines == [["user: x"]]
    assert len(result.warnings) == 1
    assert "create_time=-1 is not a time" in result.warnings[0]


def test_images_speech_and_unknown_parts(read: Read):
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f", "width": 64, "height": 32}
    speech = {"content_type": "audio_transcription", "text": "spoken"}
    content = {
        "content_type": "multimodal_text",
        "parts": [pointer, "What is it?", speech, {"content_type": "odd"}, None],
    }
    data = conversation(node("a", None, "user", content=content, attachments=[{"name": "can.png"}, {}]))
    (turn,) = read({"conversations.json": [data]}).sessions[0].turns
    assert turn.message.parts == (
        Image(url="file-service://f", width=64, height=32),
        Text("What is it?"),
        Text("spoken"),
        Opaque(kind="odd", json='{"content_type":"odd"}'),
    )
    assert turn.metadata["attachments"] == ["can.png"]


def test_calls_of_tools_and_their_results_are_paired(read: Read):
    data = conversation(
        node("u", None, "user", "Sum?"),
        node("t", "u", "assistant", content={"content_type": "thoughts", "thoughts": []}),
        node("c", "t", "assistant", content={"content_type": "code", "text": "1+1"}, recipient="python"),
        node("r", "c", "tool", content={"content_type": "execution_output", "text": "2"}, name="python"),
        node("e", "r", "assistant", ""),
        node("q", "e", "tool", content={"content_type": "odd_result", "value": 1}, name="other"),
        node("a", "q", "assistant", "Two."),
    )
    result = read({"conversations.json": [data]})
    turns = result.sessions[0].turns
    assert result.lines == [["user: Sum?", "assistant: ", "tool: 2", "tool: ", "assistant: Two."]]
    assert turns[1].message.tool_calls == (ToolCall(id="c", name="python", arguments="1+1"),)
    assert turns[2].message.tool_call_id == "c"
    assert turns[3].message.parts == (Opaque(kind="odd_result", json='{"content_type":"odd_result","value":1}'),)


def test_a_bad_message_loses_only_itself(read: Read):
    data = conversation(
        node("a", None, "user", "x"), node("b", "a", "user", content={"parts": [5]}), node("d", "b", "user", "z")
    )
    result = read({"conversations.json": [data, {"mapping": [], "id": "m"}]})
    assert result.lines == [["user: x", "user: z"]]
    assert result.problems == [
        "conversations.json: element 1, message b: content.parts[0] must be an object, not int",
        "conversations.json: element 2: mapping must be an object, not list",
    ]


def test_the_archive(read: Read):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("user.json", "{}")
        archive.writestr("export/conversations-000.json", json.dumps([conversation(*TREE)]))
        archive.writestr("export/conversations-001.json", json.dumps([conversation(*TREE, conversation_id="d")]))
    result = read({"export.zip": packed.getvalue()})
    assert [entry.session for entry in result.sessions] == ["c", "d"]
    assert (result.reading.read, result.reading.total) == (len(packed.getvalue()), len(packed.getvalue()))


def test_archives_without_conversations_or_damaged(read: Read):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("conversations.json", json.dumps([conversation(*TREE)]))
    damaged = packed.getvalue().replace(b"Tuesday", b"Tues\x00ay")
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    result = read({"a.zip": b"PK", "b.zip": empty.getvalue(), "c.zip": damaged})
    assert result.problems == [
        "a.zip: cannot be read: File is not a zip file",
        "b.zip: the archive holds no conversations.json",
        "c.zip: cannot be read: Bad CRC-32 for file 'conversations.json'",
    ]


def test_an_archive_that_gives_out_in_the_middle(read: Read):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        many = [conversation(*TREE, conversation_id=f"c{n}") for n in range(1000)]
        archive.writestr("conversations.json", json.dumps(many))
    data = packed.getvalue()
    place = data.rindex(b"Which day?")
    result = read({"c.zip": data[:place] + b"x" + data[place + 1 :]})
    assert "c.zip:conversations.json: reading stopped: Bad CRC-32" in str(result.found[-1])
    assert len(result.sessions) > 0
