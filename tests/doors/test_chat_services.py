"""The chat adapters against a server of our own that misbehaves in every way a provider can."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, cast

import pytest

from haversack.errors import MissingExtraError, ServiceError, ServiceTimeout
from haversack.llm import calls
from haversack.llm.anthropic import AnthropicService
from haversack.llm.calls import CallFailed, Patience
from haversack.llm.openai import OpenAIService
from haversack.llm.port import ChatService, Reply, ServiceCancelled, Usage
from haversack.llm.sdk import SdkService
from haversack.model.message import Message, Role, Text

pytest.importorskip("openai")
pytest.importorskip("anthropic")

HELLO = [
    Message(role=Role.SYSTEM, parts=(Text("Be brief."),)),
    Message(role=Role.USER, parts=(Text("Hello"),)),
]
Answer = Callable[["Handler"], None]


@dataclass
class Script:
    answers: list[Answer]
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    release: threading.Event = field(default_factory=threading.Event)


class Start(Protocol):
    def __call__(self, *answers: Answer) -> tuple[str, Script]: ...


class Server(ThreadingHTTPServer):
    daemon_threads = True
    script: Script


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def script(self) -> Script:
        return cast("Server", self.server).script

    def do_POST(self) -> None:
        script = self.script
        body = self.rfile.read(int(self.headers["content-length"]))
        script.requests.append({"path": self.path, **json.loads(body)})
        script.answers[min(len(script.requests), len(script.answers)) - 1](self)

    def log_message(self, *args: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        pass

    def give(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("content-type", headers.pop("kind", "application/json"))
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def give_events(self, *events: str, cut: bool = False) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            self.wfile.write(f"{event}\n\n".encode())
            self.wfile.flush()
        if not cut:
            self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True


@pytest.fixture
def start() -> Iterator[Start]:
    servers: list[Server] = []

    def begin(*answers: Answer) -> tuple[str, Script]:
        server = Server(("127.0.0.1", 0), Handler)
        server.script = Script(answers=list(answers))
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/v1", server.script

    yield begin
    for server in servers:
        server.script.release.set()
    while _OPENED:
        _OPENED.pop().close()
    for server in servers:
        server.shutdown()
        server.server_close()


class Naps(list[float]):
    def patience(self, attempts: int = 3, timeout: float = 20) -> Patience:
        return Patience(sleep=self.append, attempts=attempts, timeout=timeout)


_OPENED: list[SdkService] = []
"""Closed after each test: a connection left to the collector is closed in whichever test that happens."""


def openai(url: str, patience: Patience | None = None) -> OpenAIService:
    service = OpenAIService(model="m", base_url=url, patience=patience or Naps().patience())
    _OPENED.append(service)
    return service


def anthropic(url: str, patience: Patience | None = None) -> AnthropicService:
    address = url.removesuffix("/v1")
    service = AnthropicService(model="m", api_key="k", base_url=address, patience=patience or Naps().patience())
    _OPENED.append(service)
    return service


def fine(text: str | None = "Hi") -> Answer:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop", "index": 0}
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    body = {"id": "1", "object": "chat.completion", "model": "m-1", "choices": [choice], "usage": usage}
    return lambda handler: handler.give(200, json.dumps(body).encode())


def fine_anthropic(*blocks: dict[str, str]) -> Answer:
    usage = {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 4}
    body = {"id": "1", "type": "message", "role": "assistant", "model": "c-1", "content": list(blocks)}
    return lambda handler: handler.give(200, json.dumps({**body, "stop_reason": "end_turn", "usage": usage}).encode())


def status(code: int, **headers: str) -> Answer:
    return lambda handler: handler.give(code, b'{"error": {"message": "no"}}', **headers)


def hang(handler: Handler) -> None:
    handler.script.release.wait(30)


def chunk(text: str | None, finish: str | None = None) -> str:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return "data: " + json.dumps({"id": "1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]})


def test_an_answer_arrives_with_its_usage(start: Start) -> None:
    url, script = start(fine())
    service = openai(url)
    expected = Usage(input_tokens=9, output_tokens=2, cached_tokens=4)
    assert service.complete(HELLO, max_tokens=7) == Reply(text="Hi", model="m-1", usage=expected, finish="stop")
    request = script.requests[0]
    assert request["path"] == "/v1/chat/completions"
    assert request["max_tokens"] == 7
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    service.close()


def test_anthropic_answers_without_its_thoughts(start: Start) -> None:
    url, script = start(fine_anthropic({"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Hi"}))
    reply = anthropic(url).complete(HELLO)
    expected = Usage(input_tokens=9, output_tokens=2, cached_tokens=4)
    assert reply == Reply(text="Hi", model="c-1", usage=expected, finish="end_turn")
    assert (script.requests[0]["system"], script.requests[0]["max_tokens"]) == ("Be brief.", 4096)


def test_reasoning_without_words_is_an_empty_text(start: Start) -> None:
    assert openai(start(fine(None))[0]).complete(HELLO).text == ""
    assert anthropic(start(fine_anthropic({"type": "thinking", "thinking": "hm"}))[0]).complete(HELLO).text == ""


@pytest.mark.parametrize("make", [openai, anthropic])
@pytest.mark.parametrize(
    ("first", "naps"),
    [
        (status(500), [0.5]),
        (status(429, retry_after="7"), [7.0]),
        (status(529), [0.5]),
        (status(503, retry_after="soon"), [0.5]),
    ],
)
def test_what_may_pass_is_tried_again(
    start: Start, make: Callable[[str, Patience], ChatService], first: Answer, naps: list[float]
) -> None:
    good = fine() if make is openai else fine_anthropic({"type": "text", "text": "Hi"})
    url, script = start(first, good)
    slept = Naps()
    assert make(url, slept.patience()).complete(HELLO).text == "Hi"
    assert (slept, len(script.requests)) == (naps, 2)


def test_attempts_are_bounded_and_waits_double(start: Start) -> None:
    url, script = start(status(500))
    slept = Naps()
    with pytest.raises(CallFailed, match="refused") as caught:
        openai(url, slept.patience(attempts=4)).complete(HELLO)
    assert (slept, len(script.requests), caught.value.status) == ([0.5, 1.0, 2.0], 4, 500)


@pytest.mark.parametrize("answer", [status(400), status(401), status(404), status(429, retry_after="3600")])
def test_what_cannot_pass_is_not_tried_again(start: Start, answer: Answer) -> None:
    url, script = start(answer)
    slept = Naps()
    with pytest.raises(ServiceError):
        openai(url, slept.patience()).complete(HELLO)
    assert (slept, len(script.requests)) == ([], 1)


@pytest.mark.parametrize("make", [openai, anthropic])
@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("streaming", [False, True])
def test_a_redirect_is_not_followed_and_says_where_it_pointed(
    start: Start, make: Callable[[str], ChatService], code: int, *, streaming: bool
) -> None:
    elsewhere, stolen = start(fine())
    url, script = start(status(code, location=f"{elsewhere}/chat?token=hunter2"))
    service = make(url)
    with pytest.raises(CallFailed) as told:
        list(service.stream(HELLO)) if streaming else service.complete(HELLO)
    assert str(told.value) == (
        f"the chat service answered {code}, a redirect to '{elsewhere}/chat?…': redirects are not followed; "
        "set base_url to where the service is"
    )
    assert (len(script.requests), stolen.requests) == (1, [])


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"choices": []}', b'{"choices": "x"}', b"<html></html>", b'{"detail": "no"}', b""]
)
def test_nonsense_is_a_service_error(start: Start, body: bytes) -> None:
    url, _ = start(lambda handler: handler.give(200, body))
    with pytest.raises(ServiceError):
        openai(url).complete(HELLO)
    with pytest.raises(ServiceError):
        anthropic(url).complete(HELLO)


def test_a_server_that_is_not_there_is_a_service_error() -> None:
    with pytest.raises(ServiceError, match="could not be reached"):
        openai("http://127.0.0.1:9/v1").complete(HELLO)


@pytest.mark.parametrize("make", [openai, anthropic])
def test_a_slow_server_times_out(start: Start, make: Callable[[str], ChatService]) -> None:
    url, _ = start(hang)
    with pytest.raises(ServiceTimeout):
        make(url).complete(HELLO, timeout=0.1)


def test_a_call_can_be_cancelled_while_the_server_is_silent(start: Start) -> None:
    cancel = threading.Event()

    def cancel_and_hang(handler: Handler) -> None:
        cancel.set()
        hang(handler)

    url, script = start(cancel_and_hang)
    with pytest.raises(ServiceCancelled):
        openai(url).complete(HELLO, cancel=cancel)
    assert len(script.requests) == 1


def test_a_stream_gives_pieces_then_the_reply(start: Start) -> None:
    usage = (
        'data: {"id":"1","object":"c","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}'
    )
    url, _ = start(lambda handler: handler.give_events(chunk("Hel"), chunk("lo"), chunk(None, "stop"), usage))
    *pieces, last = openai(url).stream(HELLO)
    assert pieces == ["Hel", "lo"]
    assert last == Reply(text="Hello", model="m", usage=Usage(input_tokens=3, output_tokens=2), finish="stop")


def test_a_cut_stream_is_a_service_error_after_its_pieces(start: Start) -> None:
    url, script = start(lambda handler: handler.give_events(chunk("Hel"), cut=True))
    pieces = openai(url).stream(HELLO)
    assert next(pieces) == "Hel"
    with pytest.raises(ServiceError, match="cut"):
        next(pieces)
    assert len(script.requests) == 1


def test_a_stream_that_stalls_times_out_between_pieces(start: Start) -> None:
    def stalled(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write(f"{chunk('Hel')}\n\n".encode())
        handler.wfile.flush()
        hang(handler)
        handler.close_connection = True

    url, _ = start(stalled)
    pieces = openai(url).stream(HELLO, timeout=0.5)
    assert next(pieces) == "Hel"
    with pytest.raises(ServiceError):
        next(pieces)


def anthropic_events(*texts: str, end: bool = True) -> tuple[str, ...]:
    def event(kind: str, **fields: object) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}"

    message = {"id": "1", "type": "message", "role": "assistant", "model": "c-1", "content": [], "stop_reason": None}
    opening = event("message_start", message={**message, "usage": {"input_tokens": 3, "output_tokens": 0}})
    block = event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    deltas = [event("content_block_delta", index=0, delta={"type": "text_delta", "text": text}) for text in texts]
    closing = [
        event("content_block_stop", index=0),
        event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 2}),
        event("message_stop"),
    ]
    return (opening, block, *deltas, *(closing if end else []))


def test_anthropic_streams(start: Start) -> None:
    url, _ = start(lambda handler: handler.give_events(*anthropic_events("Hel", "lo"), cut=True))
    *pieces, last = anthropic(url).stream(HELLO)
    assert pieces == ["Hel", "lo"]
    assert last == Reply(text="Hello", model="c-1", usage=Usage(input_tokens=3, output_tokens=2), finish="end_turn")


def test_anthropic_notices_a_cut_stream(start: Start) -> None:
    url, _ = start(lambda handler: handler.give_events(*anthropic_events("Hel", end=False), cut=True))
    pieces = anthropic(url).stream(HELLO)
    assert next(pieces) == "Hel"
    with pytest.raises(ServiceError):
        next(pieces)


@pytest.mark.parametrize(("make", "name"), [(openai, "openai"), (anthropic, "anthropic")])
def test_a_missing_sdk_names_the_command(
    make: Callable[[str], ChatService], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(MissingExtraError, match=rf"haversack\[{name}\]"):
        make("http://127.0.0.1:9/v1").complete(HELLO)


@pytest.mark.parametrize(("value", "seconds"), [("3", 3.0), ("0.5", 0.5), ("-1", None), (None, None), ("Mon", None)])
def test_retry_after_is_read_in_seconds(value: str | None, seconds: float | None) -> None:
    assert calls.parse_retry_after(value) == seconds
