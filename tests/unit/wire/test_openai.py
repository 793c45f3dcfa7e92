"""OpenAI chat messages: odd shapes read, hopeless ones refused, dumps accepted by the provider's own types."""

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from haversack.errors import InputError
from haversack.model.message import Image, Message, Opaque, Role, Text, ToolCall
from haversack.wire import openai

Accept: TypeAlias = Callable[[TypeAdapter[Any], object], None]
ACCEPTED: TypeAdapter[Any] = TypeAdapter(list[ChatCompletionMessageParam])
CALL = {"id": "c1", "type": "function", "function": {"name": "note", "arguments": '{"body":"w"}'}}


@pytest.mark.parametrize("content", [None, ""])
def test_null_and_empty_content_are_no_parts(content: str | None):
    assert openai.load({"role": "assistant", "content": content, "tool_calls": [CALL]}) == Message(
        role=Role.ASSISTANT, tool_calls=(ToolCall(id="c1", name="note", arguments='{"body":"w"}'),)
    )


def test_null_calls_are_no_calls():
    plain = openai.load({"role": "assistant", "content": "ok"})
    assert openai.load({"role": "assistant", "content": "ok", "tool_calls": None}) == plain
    assert plain == Message(role=Role.ASSISTANT, parts=(Text("ok"),))


def test_a_call_with_a_null_function_has_no_name():
    loaded = openai.load(
        {"role": "assistant", "content": "ok", "tool_calls": [{"id": "c2", "type": "function", "function": None}]}
    )
    assert loaded.tool_calls == (ToolCall(id="c2", name="", arguments=""),)


def test_an_unknown_block_is_kept_whole():
    loaded = openai.load(
        {"role": "user", "content": [{"type": "text", "text": "ok"}, {"type": "unknown_block", "data": "zzz"}]}
    )
    assert loaded.parts == (Text("ok"), Opaque(kind="unknown_block", json='{"type":"unknown_block","data":"zzz"}'))
    assert loaded.text == "ok"


def test_developer_is_system():
    assert openai.load({"role": "developer", "content": "x"}).role is Role.SYSTEM


def test_tool_content_parts_are_their_text():
    loaded = openai.load({"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "moisture 55"}]})
    assert (loaded.text, loaded.tool_call_id) == ("moisture 55", "c2")


@pytest.mark.parametrize(
    ("part", "image"),
    [
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
            Image(url="data:image/png;base64,AA=="),
        ),
        (
            {"type": "image_url", "image_url": {"url": "https://x/y", "detail": "low"}},
            Image(url="https://x/y", detail="low"),
        ),
        ({"type": "image_url", "image_url": "https://x/y"}, Image(url="https://x/y")),
    ],
)
def test_images(part: Any, image: Image):
    assert openai.load({"role": "user", "content": [part]}).parts == (image,)


def test_a_refusal_is_what_the_assistant_said():
    assert openai.load({"role": "assistant", "content": None, "refusal": "I can't."}).parts == (Text("I can't."),)


def test_speech_is_its_transcript_or_kept():
    spoken = {"role": "assistant", "content": None, "audio": {"id": "a1", "transcript": "hello"}}
    assert openai.load(spoken).text == "hello"
    assert openai.load({"role": "assistant", "content": None, "audio": {"id": "a1"}}).parts == (
        Opaque(kind="audio", json='{"id":"a1"}'),
    )


def test_older_function_messages_are_paired():
    loaded = openai.load_all(
        [
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "1"},
        ]
    )
    assert loaded[0].tool_calls == (ToolCall(id="call_1", name="f", arguments="{}"),)
    assert (loaded[1].role, loaded[1].tool_call_id) == (Role.TOOL, "call_1")


def test_arguments_given_as_an_object_become_text():
    loaded = openai.load({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"ä": 1}}}]})
    assert loaded.tool_calls == (ToolCall(id="", name="f", arguments='{"ä":1}'),)


def test_a_custom_call_keeps_its_input():
    call = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    assert openai.load({"role": "assistant", "tool_calls": [call]}).tool_calls == (
        ToolCall(id="c", name="sql", arguments="select 1"),
    )


def test_lone_surrogates_are_replaced():
    assert openai.load({"role": "user", "content": "a\ud800b"}).text == "a\ufffdb"


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (7, "message must be an object, not int"),
        ({"content": "x"}, "message.role must be a string, not missing"),
        ({"role": "assistent", "content": "x"}, "message.role='assistent' is not a role; did you mean 'assistant'?"),
        (
            {"role": "user", "content": 5},
            "message.content must be a string, null, or an array of content parts, not int",
        ),
        ({"role": "user", "content": [5]}, "message.content[0] must be an object, not int"),
        ({"role": "user", "content": [{"type": "text"}]}, "message.content[0].text must be a string, not missing"),
        ({"role": "user", "content": "x", "name": 3}, "message.name must be a string, not int"),
        ({"role": "assistant", "tool_calls": "x"}, "message.tool_calls must be an array, not str"),
        (
            {"role": "assistant", "tool_calls": [{"function": {"arguments": 4}}]},
            "message.tool_calls[0].function.arguments must be a string, not int",
        ),
    ],
)
def test_hopeless_shapes_name_the_path(shape: Any, message: str):
    with pytest.raises(InputError) as caught:
        openai.load(shape)
    assert str(caught.value) == message


def test_the_list_names_the_message():
    with pytest.raises(InputError, match=r"^messages\[1\]\.role must be a string, not int$"):
        openai.load_all([{"role": "user", "content": "x"}, {"role": 1}])


def test_dump_is_accepted_by_the_providers_types(accept: Accept):
    messages = [
        Message(role=Role.SYSTEM, parts=(Text("s"), Image(url="https://x/y", caption="a map"))),
        Message(role=Role.USER, name="Alice Smith", parts=(Text("a"), Image(url="https://x/y", detail="low"))),
        Message(
            role=Role.ASSISTANT,
            parts=(Opaque(kind="thinking", json='{"type":"thinking","thinking":"hm","signature":"s"}'),),
            tool_calls=(ToolCall(id="", name="f", arguments="{}"), ToolCall(id="x", name="g", arguments="not json")),
        ),
        Message(role=Role.TOOL, tool_call_id="x", parts=(Text("2"),)),
        Message(role=Role.TOOL, parts=(Text("1"), Image(url="file-service://7"))),
        Message(role=Role.USER, parts=(Opaque(kind="file", json='{"type":"file","file":{"file_id":"f1"}}'),)),
        Message(role=Role.USER, parts=(Text("ok"), Opaque(kind="unknown_block", json='{"type":"unknown_block"}'))),
        Message(role=Role.USER),
    ]
    dumped = openai.dump(messages)
    accept(ACCEPTED, dumped)
    assert dumped == [
        {
            "role": "system",
            "content": [{"type": "text", "text": "s"}, {"type": "text", "text": "[image: a map]"}],
        },
        {
            "role": "user",
            "name": "Alice_Smith",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "image_url", "image_url": {"url": "https://x/y", "detail": "low"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "x", "type": "function", "function": {"name": "g", "arguments": "not json"}},
            ],
        },
        {"role": "tool", "tool_call_id": "x", "content": "2"},
        {
            "role": "tool",
            "tool_call_id": "call_1",
            "content": [{"type": "text", "text": "1"}, {"type": "text", "text": "[image]"}],
        },
        {"role": "user", "content": [{"type": "file", "file": {"file_id": "f1"}}]},
        {
            "role": "user",
            "content": [{"type": "text", "text": "ok"}, {"type": "text", "text": '{"type":"unknown_block"}'}],
        },
        {"role": "user", "content": ""},
    ]


def test_a_value_that_cannot_be_written_again_is_refused():
    deep: Any = {"type": "odd"}
    for _ in range(100_000):
        deep = {"type": "odd", "in": deep}
    with pytest.raises(InputError, match=r"^a value is nested too deeply$"):
        openai.load({"role": "user", "content": [deep]})


def test_content_may_be_one_part_alone():
    assert openai.load({"role": "tool", "content": {"type": "text", "text": "x"}}).parts == (Text("x"),)
