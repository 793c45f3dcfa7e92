"""Tools through the chat adapters: schemas out in the provider's shape, calls back in one piece."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from haversack.llm.anthropic import AnthropicService
from haversack.llm.openai import OpenAIService
from haversack.llm.port import Reply
from haversack.model.message import Message, Role, Text, ToolCall

pytest.importorskip("openai")
pytest.importorskip("anthropic")

ASKED = [Message(role=Role.USER, parts=(Text("When is the tide?"),))]
PARAMETERS = {"type": "object", "properties": {"port": {"type": "string"}}}
TOOL = {"type": "function", "function": {"name": "tide", "description": "Tides.", "parameters": PARAMETERS}}


@pytest.fixture
def serve() -> Iterator[Callable[[list[str]], tuple[str, list[dict[str, Any]]]]]:
    """A server that streams these lines once, and what it was asked."""
    servers: list[ThreadingHTTPServer] = []

    def start(lines: list[str]) -> tuple[str, list[dict[str, Any]]]:
        asked: list[dict[str, Any]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                self.wfile.write("".join(f"{line}\n\n" for line in lines).encode())

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}", asked

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    whole = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
    return f"data: {json.dumps(whole)}"


def piece(index: int, name: str | None, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    return {"tool_calls": [{"index": index, **({"id": f"c{index}"} if name else {}), "function": function}]}


def test_openai_calls_come_together_from_their_pieces(
    serve: Callable[[list[str]], tuple[str, list[dict[str, Any]]]],
) -> None:
    address, asked = serve(
        [
            chunk({"content": "Let me see."}),
            chunk(piece(0, "tide", '{"port":')),
            chunk(piece(1, "tide", "{}")),
            chunk(piece(0, None, '"Veere"}')),
            chunk({}, "tool_calls"),
            "data: [DONE]",
        ]
    )
    service = OpenAIService(model="m", base_url=f"{address}/v1")
    *words, last = service.stream(ASKED, tools=[TOOL], timeout=20)
    service.close()
    assert words == ["Let me see."]
    assert isinstance(last, Reply)
    assert last.tool_calls == (
        ToolCall(id="c0", name="tide", arguments='{"port":"Veere"}'),
        ToolCall(id="c1", name="tide", arguments="{}"),
    )
    assert asked[0]["tools"] == [TOOL]


def event(kind: str, **fields: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}"


def test_anthropic_calls_are_read_from_their_blocks(
    serve: Callable[[list[str]], tuple[str, list[dict[str, Any]]]],
) -> None:
    message = {
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": 9, "output_tokens": 1},
    }  # fmt: skip
    block = {"type": "tool_use", "id": "t1", "name": "tide", "input": {}}
    address, asked = serve(
        [
            event("message_start", message=message),
            event("content_block_start", index=0, content_block=block),
            event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": '{"port":'}),
            event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": '"Veere"}'}),
            event("content_block_stop", index=0),
            event(
                "message_delta", delta={"stop_reason": "tool_use", "stop_sequence": None}, usage={"output_tokens": 5}
            ),
            event("message_stop"),
        ]
    )
    service = AnthropicService(model="m", api_key="none", base_url=address)
    (last,) = service.stream(ASKED, tools=[TOOL], timeout=20)
    service.close()
    assert isinstance(last, Reply)
    assert last.tool_calls == (ToolCall(id="t1", name="tide", arguments='{"port":"Veere"}'),)
    assert asked[0]["tools"] == [{"name": "tide", "description": "Tides.", "input_schema": PARAMETERS}]
