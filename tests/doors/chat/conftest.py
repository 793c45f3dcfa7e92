"""The real program in a real pseudo-terminal, and a model behind a loopback server that answers by script."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, cast

import pexpect
import pyte
import pytest

PROGRAM = [sys.executable, "-c", "from haversack.cli import main; main()"]
"""With the arguments of `haversack` behind it."""
PATIENCE = 90.0
_CODES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|[=>])")
ROWS, COLUMNS = 40, 110


@dataclass
class Say:
    """One answer of the model: words, or tool calls, or an HTTP status."""

    words: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    """Names and arguments."""
    hold_after: int | None = None
    """After so many words nothing more comes until the test ends."""
    status: int = 200


@dataclass
class Model:
    """Answers its script in order; after the last line it echoes the user's words."""

    script: list[Say] = field(default_factory=list[Say])
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    release: threading.Event = field(default_factory=threading.Event)
    address: str = ""

    say: ClassVar = Say

    def next(self, request: dict[str, Any]) -> Say:
        self.asked.append(request)
        if self.script:
            return self.script.pop(0)
        return Say(f"You said: {request['messages'][-1]['content']}")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: Model


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        model = cast("_Server", self.server).model
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        say = model.next(request)
        self.send_response(say.status)
        if say.status != 200:
            self.send_header("content-length", "0")
            self.end_headers()
            return
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        try:
            self._stream(model, say)
        except OSError:
            return  # the program hung up, as it may

    def _stream(self, model: Model, say: Say) -> None:
        for place, word in enumerate(say.words.split(" ") if say.words else []):
            if place == say.hold_after:
                model.release.wait(PATIENCE)
            self._chunk({"content": f" {word}" if place else word})
        for index, (name, arguments) in enumerate(say.calls):
            function = {"name": name, "arguments": arguments}
            self._chunk(
                {"tool_calls": [{"index": index, "id": f"call{len(model.asked)}{index}", "function": function}]}
            )
        self._chunk({}, "tool_calls" if say.calls else "stop")
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        self._write({**_frame(), "choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> None:
        self._write({**_frame(), "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def _write(self, chunk: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the signature is the library's
        pass


def _frame() -> dict[str, Any]:
    return {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "tiny"}


@pytest.fixture
def model() -> Iterator[Model]:
    model = Model()
    server = _Server(("127.0.0.1", 0), _Handler)
    server.model = model
    model.address = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield model
    model.release.set()
    server.shutdown()
    server.server_close()


Configure = Callable[..., Path]


@pytest.fixture
def configure(model: Model, tmp_path: Path) -> Configure:
    """Write a configuration that names the fake model; further sections as they are given."""

    def write(**sections: Any) -> Path:
        tree = {
            "services": {"local": {"provider": "openai", "model": "tiny", "base_url": model.address}},
            "memory": {"context_window": 3000, "output_buffer": 300},
            **sections,
        }
        file = tmp_path / "haversack.yaml"
        file.write_text(json.dumps(tree))
        return file

    return write


@dataclass
class Terminal:
    """One running program: what it wrote since the last line, and its screen as a person sees it."""

    child: Any
    screen: pyte.Screen
    stream: pyte.ByteStream
    raw: bytes = b""
    """Everything that it wrote."""
    mark: int = 0

    def send(self, keys: str) -> None:
        self.mark = len(self.raw)
        self.child.send(keys)

    def say(self, line: str, expected: str | None = None) -> str:
        """Send a line, wait for what is expected and for the next prompt; returns what was shown for it."""
        self.send(f"{line}\r")
        return self.wait(expected or "", ready=True)

    def wait(self, expected: str, *, ready: bool = False) -> str:
        """Read until the expected words were shown (and the prompt waits again); the words since the last line."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            shown = self.shown
            if expected in shown and (not ready or self.is_waiting):
                return shown
            self._read()
        raise AssertionError(f"{expected!r} was not shown; the screen is\n{self.picture}\nand it wrote\n{self.shown}")

    def leave(self, keys: str = "\x04") -> int:
        """Ctrl-D, and the exit code."""
        if keys:
            self.send(keys)
        end = time.monotonic() + PATIENCE
        while self.child.isalive() and time.monotonic() < end:
            self._read()
        self._read()
        self.child.close()
        assert self.child.signalstatus is None
        return self.child.exitstatus

    def interrupt(self) -> None:
        """Ctrl-C as the keyboard sends it."""
        self.send("\x03")

    @property
    def shown(self) -> str:
        return _CODES.sub("", self.raw[self.mark :].decode(errors="replace")).replace("\r", "")

    @property
    def picture(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    @property
    def is_waiting(self) -> bool:
        """Whether the prompt is empty and the status line stands at the bottom."""
        lines = [line.rstrip() for line in self.screen.display]
        here = lines[self.screen.cursor.y]
        return here == ">" and any("compaction " in line for line in lines[self.screen.cursor.y + 1 :])

    def _read(self) -> None:
        try:
            got = self.child.read_nonblocking(65536, timeout=0.05)
        except pexpect.TIMEOUT:
            return
        except pexpect.EOF:
            return
        self.raw += got
        self.stream.feed(got)


Start = Callable[..., Terminal]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start `haversack chat` with these arguments in a terminal of its own."""
    running: list[Terminal] = []

    def spawn(*args: str, ready: bool = True, environ: Mapping[str, str] | None = None) -> Terminal:
        screen = pyte.Screen(COLUMNS, ROWS)
        child = pexpect.spawn(
            PROGRAM[0],
            [*PROGRAM[1:], "chat", *args],
            cwd=str(tmp_path),
            env={**_environment(), "TERM": "xterm-256color", **(environ or {})},
            dimensions=(ROWS, COLUMNS),
            timeout=PATIENCE,
        )
        screen.write_process_input = child.send  # pyright: ignore[reportAttributeAccessIssue] - where the cursor stands
        terminal = Terminal(child=child, screen=screen, stream=pyte.ByteStream(screen))
        running.append(terminal)
        if ready:
            terminal.wait("/help lists the commands", ready=True)
        return terminal

    yield spawn
    for terminal in running:
        if terminal.child.isalive():
            terminal.child.kill(signal.SIGKILL)
        terminal.child.close(force=True)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("HAVERSACK_", "NO_COLOR"))}


@pytest.fixture
def environment() -> dict[str, str]:
    """For programs that are started without a terminal."""
    return _environment()
