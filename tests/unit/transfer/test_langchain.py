"""LangChain's dumps."""

from collections.abc import Callable
from typing import Any

import pytest

from haversack.model.message import ToolCall

Read = Callable[..., Any]


def as_dict(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "data": {"content": content, "additional_kwargs": {}, "type": kind, "name": None, **fields}}


def dumped(name: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", name],
        "kwargs": {"content": content, **fields},
    }


CALL = {"name": "lookup", "args": {"item": 3}, "id": "lc1", "type": "tool_call"}
LINES = [["system: Be brief.", "user: Look up item 3", "assistant: ", "tool: item 3: shovel", "assistant: A shovel."]]
AS_DICT = [
    as_dict("system", "Be brief."),
    as_dict("human", "Look up item 3"),
    as_dict("ai", "", tool_calls=[CALL], invalid_tool_calls=[]),
    as_dict("tool", "item 3: shovel", tool_call_id="lc1"),
    as_dict("ai", [{"type": "text", "text": "A shovel."}], tool_calls=[]),
]
DUMPED = [
    dumped("SystemMessage", "Be brief."),
    dumped("HumanMessage", "Look up item 3", type="human"),
    dumped("AIMessageChunk", [{"type": "tool_use", "id": "lc1", "name": "lookup", "input": {}}], tool_calls=[CALL]),
    dumped("ToolMessage", "item 3: shovel", tool_call_id="lc1"),
    dumped("ChatMessage", "A shovel.", role="assistant"),
]
PROMPT = {"lc": 1, "type": "constructor", "id": ["x", "ChatPromptValue"], "kwargs": {"messages": DUMPED}}


@pytest.mark.parametrize(
    "files",
    [
        {"a.json": AS_DICT},
        {"a.jsonl": AS_DICT},
        {"a.jsonl": [AS_DICT]},
        {"a.json": DUMPED},
        {"a.json": PROMPT},
        {"a.json": {"messages": AS_DICT}},
    ],
)
def test_every_dump(read: Read, files: dict[str, Any]):
    result = read(files)
    assert (result.reading.format, result.lines, result.problems) == ("langchain", LINES, [])
    turns = result.sessions[0].turns
    assert turns[2].message.tool_calls == (ToolCall(id="lc1", name="lookup", arguments='{"item":3}'),)
    assert turns[3].message.tool_call_id == "lc1"


def test_invalid_and_older_calls(read: Read):
    older = {"tool_calls": [{"id": "o", "function": {"name": "f", "arguments": "{}"}}]}
    result = read(
        {
            "a.json": [
                as_dict("ai", "", invalid_tool_calls=[{"name": "f", "args": "{bad", "id": "i"}]),
                as_dict("ai", "", additional_kwargs=older),
                as_dict("function", "1", name="f"),
            ]
        }
    )
    calls = [turn.message.tool_calls for turn in result.sessions[0].turns]
    assert calls == [
        (ToolCall(id="i", name="f", arguments="{bad"),),
        (ToolCall(id="o", name="f", arguments="{}"),),
        (),
    ]
    assert result.sessions[0].turns[2].message.tool_call_id == "i"


def test_bad_messages_lose_only_themselves(read: Read):
    result = read({"a.json": [as_dict("human", "a"), as_dict("remove", "b"), {"x": 1}, as_dict("human", 5)]})
    assert result.lines == [["user: a"]]
    assert [problem.split(": ", 2)[2] for problem in result.problems] == [
        (
            "message.type='remove' is not a message type; "
            "known: ai, assistant, developer, function, human, system, tool, user"
        ),
        "messages[0] is not a message of LangChain's: it has neither type and data nor lc and kwargs",
        "message.content must be a string, null, or an array of content parts, not int",
    ]
