"""Where nobody watches: lines in, answers out, an exit code."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest

import haversack
from haversack.chat.commands import COMMANDS

pytest.importorskip("openai")

PROGRAM = [sys.executable, "-c", "from haversack.cli import main; main()", "chat"]


def run(lines: str, *args: str, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *args], input=lines, capture_output=True, text=True, cwd=cwd, env=env, timeout=60, check=False
    )


def test_answers_on_stdout_remarks_on_stderr(
    configure: Any, model: Any, tmp_path: Path, environment: dict[str, str]
) -> None:
    lines = "Hello\nTwo \\\nlines\n/remember Alice sails\n/facts\n"
    done = run(lines, "--config", str(configure()), "--session", "s", cwd=tmp_path, env=environment)
    assert done.returncode == 0
    said = done.stdout.splitlines()
    assert said[:3] == ["You said: Hello", "You said: Two ", "lines"]
    assert "Alice sails" in said[-1]
    assert done.stderr.splitlines() == ["to go on: haversack chat --resume s"]
    assert "\x1b" not in done.stdout + done.stderr
    assert model.asked[1]["messages"][-1]["content"] == "Two \nlines"


def test_json_lines(configure: Any, model: Any, tmp_path: Path, environment: dict[str, str]) -> None:
    file = str(configure())
    done = run("Hello\n/memory\n/cost\n", "--json", "--config", file, cwd=tmp_path, env=environment)
    assert done.returncode == 0
    answer, memory, cost = map(json.loads, done.stdout.splitlines())
    assert (answer["role"], answer["text"], answer["input_tokens"]) == ("assistant", "You said: Hello", 100)
    assert memory["counts"]["turns"] == 2
    assert cost["models"]["tiny"]["output_tokens"] == 10


def test_without_a_service(tmp_path: Path, environment: dict[str, str]) -> None:
    done = run("/remember Alice prefers metric\nWhich units?\n", cwd=tmp_path, env=environment)
    assert done.returncode == 0
    assert "- Alice prefers metric" in done.stdout
    assert done.stdout.endswith("[user] Which units?\n")
    assert "tokens would be sent:" in done.stderr
    again = run("And now?\n", "--resume", cwd=tmp_path, env=environment)
    assert "[history] " in again.stdout


@pytest.mark.parametrize(
    ("lines", "status", "code"),
    [("Hello\n/memory\n", 401, 6), ("/nothing\nHello\n", 200, 2), ("/why 01J9ZK3V6W8X4Y2T5R7Q0M1N2P units\n", 200, 3)],
)
def test_the_first_failure_is_the_exit_code_and_the_rest_is_done(
    configure: Any, model: Any, tmp_path: Path, environment: dict[str, str], lines: str, status: int, code: int
) -> None:
    model.script = [model.say("Fine.", status=status)]
    done = run(lines, "--config", str(configure()), cwd=tmp_path, env=environment)
    assert done.returncode == code
    assert done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout != "" or "/why" in lines


def test_a_person_whose_answers_go_into_a_file(tmp_path: Path, environment: dict[str, str]) -> None:
    command = f"{shlex.join(PROGRAM)} --service none > out.txt"
    child: Any = pexpect.spawn("/bin/sh", ["-c", command], cwd=str(tmp_path), env=environment, timeout=60)
    child.send("Hello\n\x04")
    child.expect("to go on: haversack chat --resume")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert (tmp_path / "out.txt").read_bytes() == b"[user] Hello\n"


def test_exit_ends_it(configure: Any, model: Any, tmp_path: Path, environment: dict[str, str]) -> None:
    done = run("/exit\nHello\n", "--config", str(configure()), cwd=tmp_path, env=environment)
    assert (done.returncode, done.stdout, model.asked) == (0, "", [])


def test_ctrl_c_keeps_what_came_and_ends_with_130(
    configure: Any, model: Any, tmp_path: Path, environment: dict[str, str]
) -> None:
    model.script = [model.say("one two never", hold_after=2)]
    args = [*PROGRAM, "--config", str(configure()), "--session", "s"]
    running = subprocess.Popen(
        args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=environment
    )
    assert running.stdin is not None
    assert running.stdout is not None
    running.stdin.write(b"Count.\n")
    running.stdin.flush()
    assert running.stdout.read(7) == b"one two"
    running.send_signal(signal.SIGINT)
    _, remarks = running.communicate(timeout=60)
    assert running.returncode == 130
    assert b"stopped; what was said is kept" in remarks
    with haversack.open(tmp_path / "haversack.db") as sack:
        turns = sack.namespace("default").session("s").turns()
    assert [turn.message.text for turn in turns] == ["Count.", "one two"]


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("--resume", "x", "--session", "y"), 2, "--resume or --session"),
        (("--resume",), 3, "no session to resume"),
        (("--service", "clod"), 2, "no chat service is called 'clod'"),
    ],
)
def test_arguments_that_make_no_sense(
    tmp_path: Path, environment: dict[str, str], args: tuple[str, ...], code: int, words: str
) -> None:
    done = run("", *args, cwd=tmp_path, env=environment)
    assert (done.returncode, words in done.stderr) == (code, True)


def test_which_service(configure: Any, model: Any, tmp_path: Path, environment: dict[str, str]) -> None:
    service = {"provider": "openai", "model": "tiny", "base_url": model.address}
    two = str(configure(services={"one": service, "two": service}))
    undecided = run("Hello\n", "--config", two, cwd=tmp_path, env=environment)
    assert undecided.returncode == 2
    assert "say which service to chat with, by --service or chat.service: one, two" in undecided.stderr
    assert run("Hello\n", "--config", two, "--service", "two", cwd=tmp_path, env=environment).returncode == 0
    assert run("Hello\n", "--config", two, "--service", "none", cwd=tmp_path, env=environment).returncode == 0
    named = str(configure(services={"one": service, "chat": service}))
    assert run("Hello\n", "--config", named, cwd=tmp_path, env=environment).returncode == 0
    assert len(model.asked) == 2


def test_a_window_that_nobody_knows_is_asked_for(
    configure: Any, model: Any, tmp_path: Path, environment: dict[str, str]
) -> None:
    done = run("Hello\n", "--config", str(configure(memory={})), cwd=tmp_path, env=environment)
    assert done.returncode == 2
    assert "the context window of 'tiny' is not known" in done.stderr
    assert model.asked == []


def test_every_command_speaks_json(configure: Any, model: Any, tmp_path: Path, environment: dict[str, str]) -> None:
    said = "The boat sailed past the harbour of Veere with the tide. " * 5
    model.script = [model.say(said)] * 8
    talk = "".join(f"Tell me of day {number} on the boat.\n" for number in range(8))
    file = str(configure())
    first = run(
        f"{talk}/remember Alice prefers metric units\n/compact\n/snapshot --to one.snapshot --execute\n",
        *("--json", "--config", file, "--session", "trip"),
        cwd=tmp_path,
        env=environment,
    )
    assert first.returncode == 0, first.stderr
    *_, kept, compacted, taken = map(json.loads, first.stdout.splitlines())
    assert taken["path"] == "one.snapshot"
    lines = [
        *("/memory", "/memory units", "/facts", "/entities", "/insights", "/summaries", "/sessions", "/sessions trip"),
        *("/transcript", "/context units --debug", "/prompt", "/prompt units", "/prime", f"/why {kept['id']} units"),
        *("/debug-budget", "/tool-budget", "/debug-retrieval units", f"/forget {kept['id']}"),
        f"/expand {compacted['summary']}",
        *("/compact", "/lifecycle", "/reorganize", "/migrate", "/migrate --to other.db", "/snapshot", "/doctor"),
        *("/restore one.snapshot", "/reset", "/cost", "/export out.jsonl", "/help", "/help why"),
    ]
    asked = "\n".join(lines)
    done = run(asked, "--json", "--config", file, "--resume", "trip", cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    values = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(values) == len(lines)
    assert {line.split()[0][1:] for line in lines} | {"remember"} == {*COMMANDS, "help"}
