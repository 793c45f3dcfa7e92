"""Anthropic messages: one user message may hold several of ours, and dumps alternate."""

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from anthropic.types import MessageParam
from pydantic import TypeAdapter

from haversack.errors import InputError
from haversack.model.message import Image, Message, Opaque, Role, Text, ToolCall
from haversack.wire import anthropic

Accept: TypeAlias = Callable[[TypeAdapter[Any], object], None]
ACCEPTED: TypeAdapter[Any] = TypeAdapter(list[MessageParam])
REQUEST: dict[str, Any] = {
    "system": "Be brief.",
    "messages": [
        {"role": "user", "content": "List two files."},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "tu1", "name": "ls", "input": {"dir": "."}},
                {"type": "tool_use", "id": "tu2", "name": "ls", "input": {"dir": "src"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "tu1", "content": "a.txt"},
                {"type": "tool_result", "tool_use_id": "tu2", "content": [{"type": "text", "text": "b.py"}]},
                {"type": "text", "text": "thanks"},
            ],
        },
        {"role": "assistant", "content": "a.txt and b.py"},
    ],
}
LOADED = [
    Message(role=Role.SYSTEM, parts=(Text("Be brief."),)),
    Message(role=Role.USER, parts=(Text("List two files."),)),
    Message(
        role=Role.ASSISTANT,
        parts=(Text("Looking."),),
        tool_calls=(
            ToolCall(id="tu1", name="ls", arguments='{"dir":"."}'),
            ToolCall(id="tu2", name="ls", arguments='{"dir":"src"}'),
        ),
    ),
    Message(role=Role.TOOL, tool_call_id="tu1", parts=(Text("a.txt"),)),
    Message(role=Role.TOOL, tool_call_id="tu2", parts=(Text("b.py"),)),
    Message(role=Role.USER, parts=(Text("thanks"),)),
    Message(role=Role.ASSISTANT, parts=(Text("a.txt and b.py"),)),
]


def test_a_request_is_read_whole():
    assert anthropic.load_all(REQUEST) == LOADED


def test_its_dump_is_the_request_again(accept: Accept):
    system, messages = anthropic.dump(LOADED)
    accept(ACCEPTED, messages)
    expected = [dict(message) for message in REQUEST["messages"]]
    expected[2]["content"] = [
        {"type": "tool_result", "tool_use_id": "tu1", "content": "a.txt"},
        {"type": "tool_result", "tool_use_id": "tu2", "content": "b.py"},
        {"type": "text", "text": "thanks"},
    ]
    assert (system, messages) == ("Be brief.", expected)


def test_system_may_be_blocks():
    loaded = anthropic.load_all(
        {"system": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "messages": []}
    )
    assert loaded == [Message(role=Role.SYSTEM, parts=(Text("a"), Text("b")))]


@pytest.mark.parametrize(
    ("source", "url"),
    [
        ({"type": "url", "url": "https://x/y.png"}, "https://x/y.png"),
        ({"type": "base64", "media_type": "image/png", "data": "AA=="}, "data:image/png;base64,AA=="),
    ],
)
def test_pictures_go_both_ways(source: dict[str, str], url: str):
    theirs = {"role": "user", "content": [{"type": "image", "source": source}]}
    ours = [Message(role=Role.USER, parts=(Image(url=url),))]
    assert anthropic.load(theirs) == ours
    assert anthropic.dump(ours) == ("", [theirs])


@pytest.mark.parametrize("url", ["file-service://f", "data:image/tiff;base64,AA", "data:image/png,AA"])
def test_a_picture_that_cannot_be_sent_is_a_note(url: str):
    message = Message(role=Role.USER, parts=(Image(url=url, caption="a can"),))
    assert anthropic.dump([message]) == ("", [{"role": "user", "content": "[image: a can]"}])


def test_thoughts_are_kept_and_sent_back_first():
    block = {"type": "thinking", "thinking": "hm", "signature": "s"}
    theirs = {"role": "assistant", "content": [block, {"type": "text", "text": "yes"}]}
    ours = anthropic.load(theirs)
    assert ours[0].text == "yes"
    assert anthropic.dump(ours)[1] == [theirs]


def test_roles_alternate_and_results_come_first(accept: Accept):
    messages = [
        Message(role=Role.USER, parts=(Text("a"),)),
        Message(role=Role.ASSISTANT, parts=(Text("  \n"),)),  # refused by the interface, so left out
        Message(role=Role.USER, parts=(Text("b"),)),
        Message(role=Role.ASSISTANT, tool_calls=(ToolCall(id="", name="a b", arguments=""),)),
        Message(role=Role.USER, parts=(Text("hurry"), Opaque(kind="odd", json='{"type":"odd"}'))),
        Message(role=Role.TOOL),
        Message(role=Role.SYSTEM, parts=(Text("late"),)),
        Message(role=Role.ASSISTANT, tool_calls=(ToolCall(id="x:1", name="", arguments="not json"),)),
        Message(role=Role.ASSISTANT, parts=(Opaque(kind="reasoning", json='{"type":"reasoning"}'), Text("c"))),
    ]
    system, dumped = anthropic.dump(messages)
    accept(ACCEPTED, dumped)
    assert system == "late"
    assert dumped == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "call_1", "name": "a_b", "input": {}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": ""},
                {"type": "text", "text": "hurry"},
                {"type": "text", "text": '{"type":"odd"}'},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "x_1", "name": "unnamed", "input": {"arguments": "not json"}},
                {"type": "text", "text": "c"},
            ],
        },
    ]


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"role": "tool", "content": "x"}, "message.role='tool' is not a role; known: assistant, system, user"),
        (
            {"role": "user", "content": [{"type": "tool_result", "content": 5}]},
            "message.content[0].content must be a string, null, or an array of content parts, not int",
        ),
        ({"role": "user", "content": ["a", 5]}, "message.content[1] must be an object, not int"),
    ],
)
def test_hopeless_shapes_name_the_path(shape: Any, message: str):
    with pytest.raises(InputError) as caught:
        anthropic.load(shape)
    assert str(caught.value) == message


def test_a_request_without_messages_is_refused():
    with pytest.raises(InputError, match=r"^messages must be an array, not missing$"):
        anthropic.load_all({"system": "x"})


def test_null_blocks_are_passed_over():
    assert anthropic.load({"role": "user", "content": [None, "a"]}) == [Message(role=Role.USER, parts=(Text("a"),))]
