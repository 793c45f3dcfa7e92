"""Logs in providers' shapes: which interface, which session, which key."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from haversack.model.message import Image, Role, Text, ToolCall

Read = Callable[..., Any]


def say(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def call(*ids: str) -> dict[str, Any]:
    function = {"name": "read_bed", "arguments": "{}"}
    return say("assistant", None, tool_calls=[{"id": id_, "type": "function", "function": function} for id_ in ids])


def run(length: int) -> list[dict[str, Any]]:
    return [say("assistant" if n % 2 else "user", f"m{n}") for n in range(length)]


def distinct(result: Any) -> dict[str, list[str]]:
    """What a store that skips known keys would hold."""
    held: dict[str, dict[str, str]] = {}
    for entry in result.sessions:
        for turn in entry.turns:
            held.setdefault(entry.session, {}).setdefault(turn.key, turn.message.text)
    return {session: list(turns.values()) for session, turns in held.items()}


def test_sessions_in_lines(read: Read):
    result = read(
        {
            "log.jsonl": [
                {"session_id": "s1", "messages": [say("system", "Diary."), call("c1", "c2")]},
                {
                    "session_id": "s2",
                    "messages": [
                        say("developer", "Brief."),
                        say(
                            "user",
                            [
                                {"type": "text", "text": "Label this"},
                                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
                            ],
                        ),
                    ],
                },
            ]
        }
    )
    assert result.reading.format == "openai"
    assert [entry.session for entry in result.sessions] == ["s1", "s2"]
    assert result.sessions[0].turns[1].message.tool_calls == (
        ToolCall(id="c1", name="read_bed", arguments="{}"),
        ToolCall(id="c2", name="read_bed", arguments="{}"),
    )
    first, second = result.sessions[1].turns
    assert first.message.role is Role.SYSTEM
    assert second.message.parts == (Text("Label this"), Image(url="data:image/png;base64,AA=="))


def test_tool_content_is_text_and_null_is_nothing(read: Read):
    result = read(
        {
            "log.json": [
                call("c1", "c2"),
                say("tool", "moisture 40", tool_call_id="c1"),
                say("tool", [{"type": "text", "text": "moisture 55"}], tool_call_id="c2"),
            ]
        }
    )
    assert result.lines == [["assistant: ", "tool: moisture 40", "tool: moisture 55"]]
    assert [turn.message.tool_call_id for turn in result.sessions[0].turns] == [None, "c1", "c2"]


def test_lines_of_several_sessions_are_sorted_out(read: Read):
    lines = [say("user", "a", session_id="x"), say("user", "b", session_id="y"), say("assistant", "c", session_id="x")]
    assert distinct(read({"log.jsonl": lines})) == {"x": ["a", "c"], "y": ["b"]}


def test_a_long_log_comes_in_batches_with_one_name_and_running_keys(read: Read):
    result = read({"log.jsonl": [say("user", "again") for _ in range(2500)]})
    assert [len(entry.turns) for entry in result.sessions] == [1000, 1000, 500]
    keys = [turn.key for entry in result.sessions for turn in entry.turns]
    assert len({entry.session for entry in result.sessions}) == 1
    assert [key.rsplit(".")[-1] for key in keys] == [str(n) for n in range(2500)]


def test_runs_that_repeat_earlier_messages_add_only_the_new_ones(read: Read):
    named = read({"log.jsonl": [{"session_id": "s", "messages": run(n)} for n in (3, 5, 7)]})
    assert distinct(named) == {"s": [f"m{n}" for n in range(7)]}
    for files in ({"log.jsonl": [run(3), run(5), run(7)]}, {"1.json": run(3), "2.json": run(5), "3.json": run(7)}):
        (session,) = distinct(read(files)).values()
        assert session == [f"m{n}" for n in range(7)]


def test_a_conversation_listed_again_is_the_longest_that_it_repeats(read: Read):
    names = [entry.session for entry in read({"log.jsonl": [run(7), run(3), run(7)]}).sessions]
    assert names[0] == names[2] != names[1]


def test_a_file_read_twice_gives_the_same_keys_and_names(read: Read):
    files = {"log.jsonl": [run(4), run(2), [say("user", "other")]]}
    assert read(files).sessions == read(files).sessions


def test_a_file_that_grew_keeps_its_session(read: Read):
    assert distinct(read({"log.json": run(3)})).keys() == distinct(read({"log.json": run(9)})).keys()


def test_different_conversations_stay_apart(read: Read):
    hello = [say("user", "hi"), say("assistant", "one")]
    other = [say("user", "hi"), say("assistant", "two")]
    result = read({"log.jsonl": [hello, other]})
    assert len({entry.session for entry in result.sessions}) == 2


def test_saying_the_same_twice_counts_twice(read: Read):
    (session,) = distinct(read({"log.json": [say("user", "ok"), say("assistant", "ok"), say("user", "ok")]})).values()
    assert session == ["ok", "ok", "ok"]


def test_anthropic_request_object(read: Read):
    result = read({"r.json": {"system": "Be brief.", "messages": [say("user", "Hi")]}})
    assert result.reading.format == "anthropic"
    assert result.lines == [["system: Be brief.", "user: Hi"]]


def test_anthropic_blocks_are_read_whatever_the_format_is_called(read: Read):
    messages = [
        say("assistant", [{"type": "tool_use", "id": "t", "name": "ls", "input": {}}]),
        say("user", [{"type": "tool_result", "tool_use_id": "t", "content": "a"}, {"type": "text", "text": "thanks"}]),
    ]
    for name in (None, "openai", "anthropic"):
        assert read({"r.json": messages}, name).lines == [["assistant: ", "tool: a", "user: thanks"]]


def test_responses_items_and_a_stored_request(read: Read):
    items = [
        {"type": "message", "role": "user", "content": "status?"},
        {"type": "reasoning", "id": "r", "summary": []},
        {"type": "function_call", "call_id": "c", "name": "status", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "done"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    ]
    lines = [["user: status?", "assistant: ", "tool: done", "assistant: Done."]]
    for files in ({"i.jsonl": items}, {"i.json": items}, {"i.json": {"input": items}}):
        result = read(files)
        assert (result.reading.format, result.lines) == ("responses", lines)
        assert [c.id for c in result.sessions[0].turns[1].message.tool_calls] == ["c"]


def test_two_assistant_messages_of_a_chat_log_stay_two(read: Read):
    assert read({"x.json": [say("assistant", "a"), call("c")]}).lines == [["assistant: a", "assistant: "]]


def test_a_bad_message_is_told_and_the_rest_is_read(read: Read):
    messages = [say("user", "a"), say("wizard", "b"), say("user", 5), say("user", "c")]
    result = read({"x.jsonl": [{"session_id": "s", "messages": messages}]})
    assert result.lines == [["user: a", "user: c"]]
    assert result.problems == [
        (
            "x.jsonl: line 1: messages[1].role='wizard' is not a role; "
            "known: assistant, developer, function, system, tool, user"
        ),
        "x.jsonl: line 1: messages[2].content must be a string, null, or an array of content parts, not int",
    ]
    assert read({"y.jsonl": [say("user", "a"), {"foo": 1}, 7]}).problems == [
        "y.jsonl: line 2: message.role must be a string, not missing",
        "y.jsonl: line 3: message must be an object, not int",
    ]


def test_times_and_metadata_of_messages(read: Read):
    at = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    result = read(
        {
            "x.json": {
                "session_id": "s",
                "title": "Trip",
                "created_at": "2023-11-14T22:13:20Z",
                "messages": [
                    say("user", "a"),
                    say("user", "b", timestamp=1700000000123, metadata={"n": 1}),
                    say("user", "c"),
                ],
            }
        }
    )
    (entry,) = result.sessions
    assert (entry.session, entry.title) == ("s", "Trip")
    assert [(turn.at, turn.at_guess, turn.metadata) for turn in entry.turns] == [
        (at, True, {"time_from": "conversation"}),
        (at.replace(microsecond=123000), False, {"n": 1}),
        (at.replace(microsecond=123000), True, {"time_from": "previous"}),
    ]


@pytest.mark.parametrize("content", [[], [[]], {"messages": []}])
def test_no_messages_are_no_session(read: Read, content: Any):
    assert read({"x.json": content}, "openai").found == []


def test_a_system_text_that_is_none_is_passed_over(read: Read):
    assert read({"x.json": {"system": 5, "messages": [say("user", "a")]}}).lines == [["user: a"]]
