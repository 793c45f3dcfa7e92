"""Chat stores and document stores as LlamaIndex writes them."""

from collections.abc import Callable
from typing import Any

from haversack.model.message import Image, Opaque, Text, ToolCall

Read = Callable[..., Any]


def message(role: str, *blocks: dict[str, Any], **extra: Any) -> dict[str, Any]:
    return {"role": role, "additional_kwargs": extra, "blocks": list(blocks)}


def text(words: str) -> dict[str, Any]:
    return {"block_type": "text", "text": words}


CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TALK = [
    message("user", text("Hello there"), {"block_type": "image", "url": "https://x.example/a.png"}),
    message("assistant", text("Let me see"), tool_calls=[CALL]),
    message("tool", text("42"), tool_call_id="c1", name="f"),
    message("chatbot", text("It is 42"), {"block_type": "thinking", "content": "hm"}),
]


def test_a_chat_store_is_a_session_for_each_key(read: Read):
    store = {"store": {"alice": TALK, "bob": [{"role": "user", "content": "older", "additional_kwargs": {}}]}}
    result = read({"chat.json": {**store, "class_name": "SimpleChatStore"}})
    assert (result.reading.format, [one.session for one in result.sessions]) == ("llamaindex", ["alice", "bob"])
    assert result.lines[1] == ["user: older"]
    hello, asked, answered, last = (turn.message for turn in result.sessions[0].turns)
    assert hello.parts[0] == Text("Hello there")
    assert isinstance(hello.parts[1], Image)
    assert hello.parts[1].url == "https://x.example/a.png"
    assert asked.tool_calls == (ToolCall(id="c1", name="f", arguments="{}"),)
    assert (answered.text, answered.tool_call_id) == ("42", "c1")
    assert (last.role, last.parts[0]) == ("assistant", Text("It is 42"))
    assert isinstance(last.parts[1], Opaque)
    buffer = read({"buffer.json": {"chat_store": store, "class_name": "ChatMemoryBuffer"}})
    assert buffer.sessions == result.sessions


def test_messages_in_lines_or_a_list_are_one_session(read: Read):
    lines, listed = read({"a.jsonl": TALK}), read({"a.json": [TALK]})
    assert lines.lines == listed.lines
    assert lines.lines[0][0].startswith("user: Hello there")


def test_the_texts_of_a_document_store(read: Read):
    def node(words: str, **metadata: str) -> dict[str, Any]:
        return {"__type__": "1", "__data__": {"text": words, "metadata": metadata, "class_name": "TextNode"}}

    nodes = {"n1": node("a text", file_name="a.md"), "n2": node(" "), "n3": {"__data__": 5}}
    result = read({"docstore.json": {"docstore/data": nodes, "docstore/metadata": {}}})
    assert [(one.title, one.text) for one in result.documents] == [("a.md", "a text")]
    assert result.problems == ["docstore.json: element 1: n3.__data__ must be an object, not int"]


def test_what_is_no_message_loses_only_itself(read: Read):
    result = read({"a.jsonl": [TALK[0], {"role": "usr", "blocks": [text("x")]}, TALK[1]]})
    assert len(result.lines[0]) == 2
    assert result.problems == ["a.jsonl: line 2: message.role='usr' is not a role; did you mean 'user'?"]
