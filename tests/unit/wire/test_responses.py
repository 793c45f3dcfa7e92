"""Responses items: one assistant turn is spread over several items there and is one message here."""

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from openai.types.responses import ResponseInputParam
from pydantic import TypeAdapter

from haversack.errors import InputError
from haversack.model.message import Image, Message, Opaque, Role, Text, ToolCall
from haversack.wire import responses

Accept: TypeAlias = Callable[[TypeAdapter[Any], object], None]
ACCEPTED: TypeAdapter[Any] = TypeAdapter(ResponseInputParam)
REASONING = {"type": "reasoning", "id": "r1", "summary": []}


def test_items_become_messages():
    items = [
        {"type": "message", "role": "user", "content": "status of job 7?"},
        {"type": "function_call", "call_id": "call_1", "name": "job_status", "arguments": '{"id":7}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "done"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Job 7 is done."}]},
    ]
    assert responses.load_all(items) == [
        Message(role=Role.USER, parts=(Text("status of job 7?"),)),
        Message(role=Role.ASSISTANT, tool_calls=(ToolCall(id="call_1", name="job_status", arguments='{"id":7}'),)),
        Message(role=Role.TOOL, tool_call_id="call_1", parts=(Text("done"),)),
        Message(role=Role.ASSISTANT, parts=(Text("Job 7 is done."),)),
    ]


def test_one_assistant_turn_is_one_message():
    items = [
        REASONING,
        {"role": "assistant", "content": "Both."},
        {"type": "function_call", "id": "fc", "name": "f", "arguments": "{}"},
        {"type": "custom_tool_call", "name": "g", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "fc", "output": [{"type": "input_text", "text": "1"}]},
        {"type": "function_call_output", "output": "2"},
    ]
    loaded = responses.load_all(items)
    assert loaded == [
        Message(
            role=Role.ASSISTANT,
            parts=(Opaque(kind="reasoning", json='{"type":"reasoning","id":"r1","summary":[]}'), Text("Both.")),
            tool_calls=(ToolCall(id="fc", name="f", arguments="{}"), ToolCall(id="call_1", name="g", arguments="x")),
        ),
        Message(role=Role.TOOL, tool_call_id="fc", parts=(Text("1"),)),
        Message(role=Role.TOOL, tool_call_id="call_1", parts=(Text("2"),)),
    ]


def test_two_things_said_stay_two_messages():
    said = [{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}]
    assert [message.text for message in responses.load_all(said)] == ["a", "b"]


def test_dump_is_accepted_by_the_providers_types(accept: Accept):
    messages = [
        Message(role=Role.SYSTEM, parts=(Text("s"),)),
        Message(
            role=Role.USER,
            parts=(Text("see"), Image(url="https://x/y"), Opaque(kind="odd", json='{"type":"odd"}')),
        ),
        Message(
            role=Role.ASSISTANT,
            parts=(
                Opaque(kind="reasoning", json='{"type":"reasoning","id":"r1","summary":[]}'),
                Text("a"),
                Text("b"),
                Image(url="https://x/z", caption="z"),
                Opaque(kind="thinking", json='{"type":"thinking"}'),
                Opaque(kind="odd", json='{"type":"odd"}'),
            ),
            tool_calls=(ToolCall(id="c", name="f", arguments="{}"),),
        ),
        Message(role=Role.TOOL, tool_call_id="c"),
        Message(role=Role.SYSTEM, parts=(Image(url="https://x/y"), Text("t"))),
        Message(
            role=Role.USER, parts=(Text("f"), Opaque(kind="input_file", json='{"type":"input_file","file_id":"f"}'))
        ),
    ]
    dumped = responses.dump(messages)
    accept(ACCEPTED, dumped)
    assert dumped == [
        {"type": "message", "role": "system", "content": "s"},
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "see"},
                {"type": "input_image", "image_url": "https://x/y", "detail": "auto"},
                {"type": "input_text", "text": '{"type":"odd"}'},
            ],
        },
        REASONING,
        {"type": "message", "role": "assistant", "content": 'a\nb\n[image: z]\n{"type":"odd"}'},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": ""},
        {
            "type": "message",
            "role": "system",
            "content": [{"type": "input_text", "text": "[image]"}, {"type": "input_text", "text": "t"}],
        },
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "f"}, {"type": "input_file", "file_id": "f"}],
        },
    ]


def test_hopeless_items_name_the_path():
    with pytest.raises(InputError, match=r"^items\[1\] must be an object, not str$"):
        responses.load_all([{"role": "user", "content": "x"}, "y"])
