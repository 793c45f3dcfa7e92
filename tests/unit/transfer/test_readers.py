"""Law: whatever JSON a file holds, reading it raises nothing; it yields entries and problems."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.transfer import Problem
from haversack.transfer.drafts import SessionNames
from haversack.transfer.entries import Value
from haversack.transfer.reader import Origin
from haversack.transfer.reading import _BY_NAME, _find

SAMPLES: dict[str, Any] = {
    "gemini": {
        "systemInstruction": {"parts": [{"text": "s"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "t"}, {"inlineData": {"mimeType": "image/png", "data": "aGk="}}]},
            {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}}]},
            {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "f", "response": {"b": [2]}}}]},
        ],
    },
    "llamaindex": {
        "class_name": "SimpleChatStore",
        "store": {
            "alice": [
                {"role": "user", "additional_kwargs": {}, "blocks": [{"block_type": "image", "url": "u"}]},
                {
                    "role": "assistant",
                    "additional_kwargs": {"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
                    "blocks": [{"block_type": "text", "text": "t"}, {"block_type": "odd", "x": [1]}],
                },
                {"role": "tool", "additional_kwargs": {"tool_call_id": "c"}, "content": "42"},
            ],
        },
    },
    "openai": {
        "session_id": "s",
        "created_at": 1700000000,
        "system": "x",
        "messages": [
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "u", "detail": "low"}}],
                "name": "n",
            },
            {"role": "assistant", "content": None, "refusal": "no", "audio": {"id": "a", "transcript": "t"}},
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "f", "input": "i"}}]},
            {"role": "assistant", "function_call": {"name": "f", "arguments": {"a": 1}}},
            {"role": "tool", "tool_call_id": "c", "content": {"type": "text", "text": "t"}, "metadata": {"a": 1}},
        ],
    },
    "anthropic": {
        "system": [{"type": "text", "text": "x"}],
        "messages": [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}, None]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "odd"}]}]},
            {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "u"}}]},
        ],
    },
    "responses": {
        "input": [
            {"type": "reasoning", "id": "r", "summary": []},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "t"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "t"}]},
        ],
    },
    "chatgpt": {
        "title": "T",
        "create_time": 1700000000,
        "update_time": 1700000001,
        "conversation_id": "c",
        "current_node": "b",
        "mapping": {
            "r": {"parent": None, "message": None},
            "a": {
                "parent": "r",
                "message": {
                    "author": {"role": "user", "name": "n"},
                    "create_time": 1700000000,
                    "content": {
                        "content_type": "multimodal_text",
                        "parts": ["t", {"content_type": "image_asset_pointer", "asset_pointer": "p", "width": 1}],
                    },
                    "metadata": {"attachments": [{"name": "n"}]},
                },
            },
            "b": {
                "parent": "a",
                "message": {
                    "author": {"role": "assistant"},
                    "recipient": "python",
                    "content": {"content_type": "code", "text": "1"},
                },
            },
        },
    },
    "claude": {
        "uuid": "u",
        "name": "N",
        "created_at": "2025-01-01T00:00:00Z",
        "updated_at": "2025-01-01T00:00:00Z",
        "chat_messages": [
            {
                "uuid": "m",
                "parent_message_uuid": "p",
                "sender": "assistant",
                "text": "t",
                "created_at": "2025-01-01T00:00:00Z",
                "content": [
                    {"type": "text", "text": "t"},
                    {"type": "tool_use", "id": "i", "name": "f", "input": {"a": 1}},
                    {
                        "type": "tool_result",
                        "tool_use_id": "i",
                        "name": "f",
                        "content": [{"type": "text", "text": "t"}],
                    },
                ],
                "attachments": [{"file_name": "f", "extracted_content": "x"}],
                "files": [{"file_name": "g"}],
            }
        ],
    },
    "langchain": [
        {
            "type": "ai",
            "data": {
                "content": [{"type": "text", "text": "t"}],
                "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "i"}],
                "invalid_tool_calls": [{"name": "f", "args": "{", "id": "j"}],
                "additional_kwargs": {"tool_calls": [{"function": {"name": "f"}}]},
            },
        },
        {
            "lc": 1,
            "type": "constructor",
            "id": ["a", "ChatMessage"],
            "kwargs": {"content": "x", "role": "user", "name": "n"},
        },
    ],
    "sharegpt": {
        "id": "g",
        "system": "s",
        "conversations": [{"from": "human", "value": "x"}, {"from": "function_call", "value": '{"name": "f"}'}],
    },
    "mcp-memory": {
        "entities": [{"name": "a", "entityType": "t", "observations": ["o"]}],
        "relations": [{"from": "a", "to": "b", "relationType": "r"}],
    },
    "memories": {
        "results": [
            {
                "id": "i",
                "memory": "m",
                "created_at": "2025-01-01",
                "categories": ["c"],
                "metadata": {"a": 1},
                "valid_at": 5,
            }
        ]
    },
    "haversack": {
        "type": "turn",
        "id": "t",
        "session": "s",
        "at": "2026-01-02T03:04:05+00:00",
        "role": "user",
        "parts": [{"type": "image", "url": "u", "width": 1}, {"type": "opaque", "kind": "k", "json": "{}"}],
        "tool_calls": [{"id": "c", "name": "f", "arguments": "{}"}],
        "metadata": {"a": 1},
    },
}
LEAVES = st.none() | st.booleans() | st.integers(-2, 2**70) | st.floats() | st.text(max_size=3)
ODD: st.SearchStrategy[Any] = st.recursive(
    LEAVES
    | st.sampled_from(["user", "assistant", "text", "tool_use", "image", "a", "ai", "record", "memory", "header"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "id", "a", "text"]), inner),
    max_leaves=4,
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container inside the value with each of its keys."""
    inside: Any = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(inside):
        yield value, key
        if isinstance(inner, dict | list):
            yield from places(inner)


@pytest.mark.parametrize("name", sorted(SAMPLES))
@given(st.data())
def test_no_json_makes_a_reader_raise(name: str, data: st.DataObject):
    sample = copy.deepcopy(SAMPLES[name])
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(list(places(sample)) or [([None], 0)]))
        container[key] = data.draw(ODD)
    values = [Value(data=sample, file="f", place="line 1"), Problem(file="f", place="", message="broken")]
    found = list(_BY_NAME[name].read(values, Origin(stem="f", names=SessionNames())))
    assert values[1] in found
    _find([Value(data=json.loads(json.dumps(sample)), file="f", place="")])


def test_every_format_has_a_sample_that_is_read_without_a_problem():
    assert set(SAMPLES) == set(_BY_NAME)
    for name, sample in SAMPLES.items():
        value = Value(data=sample, file="f", place="")
        found = list(_BY_NAME[name].read([value], Origin(stem="f", names=SessionNames())))
        assert not [one for one in found if isinstance(one, Problem) and not one.warning], name
        assert found
