"""ShareGPT conversations."""

import json
from collections.abc import Callable
from typing import Any

from haversack.model.message import ToolCall

Read = Callable[..., Any]


def turn(speaker: str, value: Any) -> dict[str, Any]:
    return {"from": speaker, "value": value}


def test_calls_are_paired_by_order(read: Read):
    data = {
        "id": "g1",
        "system": "Be brief.",
        "tools": "[]",
        "conversations": [
            turn("human", "How warm?"),
            turn("function_call", '[{"name": "temp", "arguments": {}}, {"name": "wind", "arguments": "{}"}]'),
            turn("observation", '{"celsius": 21}'),
            turn("observation", "calm"),
            turn("gpt", "21 degrees."),
        ],
    }
    result = read({"a.json": [data]})
    turns = result.sessions[0].turns
    assert (result.reading.format, result.sessions[0].session) == ("sharegpt", "g1")
    assert result.lines == [
        [
            "system: Be brief.",
            "user: How warm?",
            "assistant: ",
            'tool: {"celsius": 21}',
            "tool: calm",
            "assistant: 21 degrees.",
        ]
    ]
    assert turns[2].message.tool_calls == (
        ToolCall(id="call_1", name="temp", arguments="{}"),
        ToolCall(id="call_2", name="wind", arguments="{}"),
    )
    assert [turns[n].message.tool_call_id for n in (3, 4)] == ["call_1", "call_2"]


def test_a_call_that_is_not_json_is_kept(read: Read):
    data = {"conversations": [turn("human", "x"), turn("function_call", "temp()"), turn("function_call", "5")]}
    turns = read({"a.jsonl": [data]}).sessions[0].turns
    assert [call.arguments for one in turns for call in one.message.tool_calls] == ["temp()", "5"]


def test_bad_pieces_lose_only_themselves(read: Read):
    good = {"conversations": [turn("human", "a"), turn("narrator", "b"), turn("gpt", None)]}
    result = read({"a.jsonl": [good, {"conversations": 5}, [], {"conversation": [turn("user", "c")]}]})
    assert result.lines == [["user: a", "assistant: "], ["user: c"]]
    assert [problem.split(" must be ")[0] for problem in result.problems[1:]] == [
        "a.jsonl: line 2: conversations",
        "a.jsonl: line 3: conversation",
    ]
    assert result.problems[0].startswith("a.jsonl: line 1: conversations[1].from='narrator' is not a speaker; ")


def test_problems_of_the_file_pass_through(read: Read):
    good = {"conversations": [turn("human", "a")]}
    result = read({"a.jsonl": f"{json.dumps(good)}\noops\n"})
    assert (result.lines, len(result.problems)) == ([["user: a"]], 1)
