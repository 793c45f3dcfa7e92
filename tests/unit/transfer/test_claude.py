"""Claude's account export."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from haversack.model.message import Opaque, ToolCall

Read = Callable[..., Any]
TIME = "2025-03-01T10:00:00.123456Z"


def chat(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    defaults = {"uuid": "u-1", "name": "Trip", "created_at": TIME, "updated_at": TIME}
    return {**defaults, **more, "chat_messages": list(messages)}


def say(sender: str, text: str = "", *blocks: Any, **more: Any) -> dict[str, Any]:
    defaults: dict[str, Any] = {"uuid": "m", "created_at": TIME, "attachments": [], "files": []}
    return {**defaults, **more, "sender": sender, "text": text, "content": list(blocks)}


def test_text_and_blocks(read: Read):
    result = read(
        {"conversations.json": [chat(say("human", "Hi"), say("assistant", "flat", {"type": "text", "text": "Hello"}))]}
    )
    (entry,) = result.sessions
    assert (result.reading.format, entry.session, entry.title) == ("claude", "u-1", "Trip")
    assert result.lines == [["user: Hi", "assistant: Hello"]]
    assert entry.turns[0].at == datetime(2025, 3, 1, 10, 0, 0, 123456, tzinfo=UTC)


def test_calls_and_results_inside_one_message_become_several(read: Read):
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": None, "name": "search", "input": {"q": "x"}},
        {"type": "tool_result", "name": "search", "content": [{"type": "text", "text": "found"}]},
        {"type": "text", "text": "Here."},
        {"type": "tool_use", "name": "draw", "input": None},
        None,
        {"type": "text", "text": ""},
        {"type": "odd"},
    ]
    result = read({"conversations.json": [chat(say("assistant", "", *blocks))]})
    assert result.lines == [["assistant: Looking.", "tool: found", "assistant: Here.", "assistant: "]]
    first, second, third, last = (turn.message for turn in result.sessions[0].turns)
    assert first.tool_calls == (ToolCall(id="call_1", name="search", arguments='{"q":"x"}'),)
    assert second.tool_call_id == "call_1"
    assert third.tool_calls == (ToolCall(id="call_2", name="draw", arguments="{}"),)
    assert last.parts == (Opaque(kind="odd", json='{"type":"odd"}'),)


def test_attachments_are_read_and_noted(read: Read):
    message = say(
        "human",
        "See",
        attachments=[{"file_name": "a.txt", "extracted_content": "inside"}, {"extracted_content": ""}],
        files=[{"file_name": "b.png"}],
    )
    (turn,) = read({"conversations.json": [chat(message)]}).sessions[0].turns
    assert turn.message.text == "See\n[attachment: a.txt]\ninside"
    assert turn.metadata["attachments"] == ["a.txt", "b.png"]


def test_the_newest_branch(read: Read):
    messages = [
        say("human", "Hi", uuid="1", parent_message_uuid="00000000-0000-4000-8000-000000000000"),
        say("assistant", "old", uuid="2", parent_message_uuid="1", created_at="2025-03-01T10:00:01Z"),
        say("assistant", "new", uuid="3", parent_message_uuid="1", created_at="2025-03-01T10:00:02Z"),
    ]
    assert read({"conversations.json": [chat(*messages)]}).lines == [["user: Hi", "assistant: new"]]


def test_bad_pieces_lose_only_themselves(read: Read):
    result = read(
        {
            "conversations.json": [
                chat(say("human", "a"), say("robot", "b"), say("human", "c")),
                {"uuid": "u-2", "chat_messages": [5]},
                chat(uuid="u-3"),
                7,
            ]
        }
    )
    assert result.lines == [["user: a", "user: c"]]
    assert [problem.split(": ", 1)[1] for problem in result.problems] == [
        "element 1: chat_messages[1].sender='robot' is not a sender; known: assistant, human, user",
        "element 2, conversation u-2: chat_messages[0] must be an object, not int",
        "element 4: is neither an object nor an array",
    ]


def test_a_name_is_made_where_there_is_none(read: Read):
    data = chat(say("human", "a"), uuid=None, name="", created_at=None, updated_at="never")
    result = read({"conversations.json": [data]})
    assert result.sessions[0].session.startswith("conversations-")
    assert result.sessions[0].title is None
    assert "updated_at='never' is not a time" in result.warnings[0]
