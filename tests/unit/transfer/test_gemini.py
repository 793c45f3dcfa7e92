"""Contents of the Gemini API."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from haversack.model.message import Image, Opaque, Text, ToolCall

Read = Callable[..., Any]

CONTENTS: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"text": "How warm is it?"}]},
    {
        "role": "model",
        "parts": [
            {"text": "I will look."},
            {"functionCall": {"name": "temp", "args": {"bed": 2}}},
            {"functionCall": {"name": "wind"}},
        ],
    },
    {
        "role": "user",
        "parts": [
            {"functionResponse": {"name": "temp", "response": {"celsius": 21}}},
            {"functionResponse": {"name": "wind", "response": "calm"}},
        ],
    },
    {"role": "model", "parts": [{"text": "21 degrees."}]},
]
LINES = [
    "user: How warm is it?",
    "assistant: I will look.",
    'tool: {"celsius":21}',
    "tool: calm",
    "assistant: 21 degrees.",
]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CONTENTS),
        json.dumps({"contents": CONTENTS}),
        json.dumps({"history": CONTENTS}),
        "\n".join(map(json.dumps, CONTENTS)),
    ],
)
def test_every_shape_gives_the_same_turns(read: Read, text: str):
    result = read({"a.json": text})
    assert (result.reading.format, result.problems) == ("gemini", [])
    assert result.lines == [LINES]
    turns = result.sessions[0].turns
    assert turns[1].message.tool_calls == (
        ToolCall(id="call_1", name="temp", arguments='{"bed":2}'),
        ToolCall(id="call_2", name="wind", arguments="{}"),
    )
    assert [turn.message.tool_call_id for turn in turns[2:4]] == ["call_1", "call_2"]


@pytest.mark.parametrize("system", ["Be brief.", {"parts": [{"text": "Be"}, {"text": "brief."}]}])
def test_the_instruction_comes_first_and_requests_are_conversations(read: Read, system: Any):
    one = {"id": "g1", "systemInstruction": system, "contents": CONTENTS[:1]}
    result = read({"a.jsonl": json.dumps(one) + "\n" + json.dumps({"contents": CONTENTS[3:]})})
    assert result.sessions[0].session == "g1"
    first, second = result.lines
    assert first[0].split() == ["system:", "Be", "brief."]
    assert (first[1:], second) == (LINES[:1], LINES[4:])


def test_pictures_and_unknown_parts_are_kept(read: Read):
    parts = [
        {"text": "look"},
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
        {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://example.org/a.jpg"}},
        {"executableCode": {"code": "1"}},
    ]
    result = read({"a.json": [{"role": "user", "parts": parts}]})
    assert result.sessions[0].turns[0].message.parts == (
        Text("look"),
        Image(url="data:image/png;base64,aGk="),
        Image(url="https://example.org/a.jpg"),
        Opaque(kind="executableCode", json='{"executableCode":{"code":"1"}}'),
    )


def test_a_bad_content_loses_only_itself(read: Read):
    bad = [{"role": "modle", "parts": [{"text": "x"}]}, {"role": "user", "parts": "x"}, 5]
    result = read({"a.json": {"contents": [*CONTENTS[:1], *bad, *CONTENTS[3:]]}})
    assert result.lines == [[LINES[0], LINES[4]]]
    assert len(result.problems) == 3
    assert "did you mean 'model'?" in result.problems[0]
