"""Tools of real MCP servers, called by a scripted model from the real program."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import haversack
from haversack.chat.settings import ToolServer
from haversack.chat.tools import NO_TOOLS, Toolbox, open_tools
from haversack.llm.port import ServiceCancelled

pytest.importorskip("mcp")
pytest.importorskip("openai")
pytest.importorskip("prompt_toolkit")

VARIABLE = "TIDE_TOKEN"
TIDES = [sys.executable, str(Path(__file__).with_name("tide_server.py"))]


@pytest.fixture
def tides() -> Iterator[Toolbox]:
    tools = open_tools({"tides": ToolServer(command=tuple(TIDES), seconds=20)})
    yield tools
    tools.close()


def test_tools_are_listed_and_called(tides: Toolbox) -> None:
    named = [schema["function"]["name"] for schema in tides.schemas]
    assert named == ["tides_high_water", "tides_broken", "tides_endless"]
    assert tides.schemas[0]["function"]["description"] == "When the water is high in a port."
    assert tides.schemas[0]["function"]["parameters"]["properties"]["port"]["type"] == "string"
    answer = tides.call("tides_high_water", '{"port": "Veere"}', Event())
    assert (answer.text, answer.failed) == ("High water in Veere at 06:00.", False)


def test_failures_are_results(tides: Toolbox) -> None:
    broken = tides.call("tides_broken", "", Event())
    assert broken.failed
    assert "the gauge is stuck" in broken.text
    assert "no tool 'nothing'" in tides.call("nothing", "{}", Event()).text
    assert "no JSON object" in tides.call("tides_high_water", "[1", Event()).text
    assert tides.call("tides_high_water", '{"harbour": 1}', Event()).failed
    assert not tides.call("tides_high_water", '{"port": "Veere"}', Event()).failed


def test_a_call_can_be_stopped_and_the_server_lives_on(tides: Toolbox) -> None:
    asked = Event()
    asked.set()
    with pytest.raises(ServiceCancelled):
        tides.call("tides_endless", "{}", asked)
    assert not tides.call("tides_high_water", '{"port": "Veere"}', Event()).failed


def test_a_server_that_is_not_there_is_told_and_the_others_work() -> None:
    speaks = "import sys; sys.exit('the disk is missing')"
    tools = open_tools(
        {
            "gone": ToolServer(command=("/nowhere/at-all",)),
            "dies": ToolServer(command=(sys.executable, "-c", speaks)),
            "unset": ToolServer(command=tuple(TIDES), env=("HAVERSACK_NO_SUCH_VARIABLE",)),
            "tides": ToolServer(command=tuple(TIDES)),
        }
    )
    problems = dict(problem.split(": ", 1) for problem in tools.problems)
    assert set(problems) == {"gone", "dies", "unset"}
    assert "the disk is missing" in problems["dies"]
    assert problems["unset"] == "the environment variable HAVERSACK_NO_SUCH_VARIABLE is not set"
    assert len(tools.schemas) == 3
    tools.close()
    assert tools.call("tides_high_water", '{"port": "Veere"}', Event()).failed


def test_a_server_at_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    running = subprocess.Popen([*TIDES, str(port)], stderr=subprocess.PIPE)
    try:
        assert running.stderr is not None
        while b"running on" not in running.stderr.readline():
            assert running.poll() is None
        monkeypatch.setenv(VARIABLE, "secret")
        address = f"http://127.0.0.1:{port}/mcp"
        tools = open_tools({"a": ToolServer(url=address), "b": ToolServer(url=address, token_env=VARIABLE)})
        assert tools.problems == []
        for name in ("a_high_water", "b_high_water"):
            assert not tools.call(name, '{"port": "Veere"}', Event()).failed
        tools.close()
    finally:
        running.terminate()
        running.communicate()


def test_addresses_in_private_networks_are_refused() -> None:
    tools = open_tools({"inner": ToolServer(url="http://169.254.169.254/latest/mcp")})
    (problem,) = tools.problems
    assert problem.startswith("inner: the address 'http://169.254.169.254/latest/mcp' leads to the private address")
    tools.close()


@contextmanager
def answering(status: int, **headers: str) -> Generator[tuple[str, list[str | None]]]:
    """A server that answers everything alike: its address, and the tokens that it was shown."""
    shown: list[str | None] = []

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            shown.append(self.headers["authorization"])
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(status)
            for name, value in {**headers, "content-length": "0"}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the library
            del format, args

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp", shown
        finally:
            server.shutdown()
            thread.join(20)


@pytest.mark.parametrize("status", [302, 307, 308])
def test_a_token_goes_to_no_other_address(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    monkeypatch.setenv(VARIABLE, "s3cret")
    with answering(500) as (elsewhere, seen), answering(status, location=elsewhere) as (address, shown):
        tools = open_tools({"moved": ToolServer(url=address, token_env=VARIABLE, seconds=5)})
        tools.close()
    assert (set(shown), seen, len(tools.problems)) == ({"Bearer s3cret"}, [], 1)


def test_no_servers_no_thread() -> None:
    assert open_tools({}) is NO_TOOLS
    assert NO_TOOLS.call("x", "", Event()).failed


def test_a_model_calls_tools_in_the_terminal(start: Any, configure: Any, model: Any, tmp_path: Path) -> None:
    model.script = [
        model.say("Let me look.", calls=(("tides_high_water", '{"port": "Veere"}'), ("tides_broken", "{}"))),
        model.say("At six."),
        model.say(calls=(("tides_endless", "{}"),)),
    ]
    file = configure(chat={"tools": {"tides": {"command": TIDES}, "gone": {"command": ["/nowhere/at-all"]}}})
    terminal = start("--config", str(file), "--session", "s")
    assert "tool server not reached: gone" in terminal.shown
    shown = terminal.say("When is high water?", "At six.")
    assert 'tool tides_high_water {"port": "Veere"}' in shown
    assert "tool tides_broken failed: " in shown
    assert model.asked[0]["tools"][0]["function"]["name"] == "tides_high_water"
    assert [message["role"] for message in model.asked[1]["messages"]][-4:] == ["user", "assistant", "tool", "tool"]
    assert "tools/tides_high_water" in terminal.say("/tool-budget", "not reached: gone")
    terminal.say("/debug-budget", "tools/tides_high_water")

    terminal.send("And for ever?\r")
    terminal.wait("tool tides_endless")
    terminal.interrupt()
    terminal.wait("stopped; what was said is kept", ready=True)
    assert terminal.leave() == 0
    with haversack.open(tmp_path / "haversack.db") as sack:
        said = sack.namespace("default").session("s").turns()
    assert [str(turn.message.role) for turn in said] == [
        *("user", "assistant", "tool", "tool", "assistant"),
        *("user", "assistant", "tool"),
    ]
    assert said[2].message.text == "High water in Veere at 06:00."
    assert said[-1].message.text == "stopped before it ended"
