"""Every command on a real terminal, over a store whose every word tries to move the cursor or reach the clipboard."""

from __future__ import annotations

import json
import os
import pty
import re
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pytest

import haversack
from haversack.cli import main
from haversack.cli.app import program

HOSTILE = (
    "\x1b]52;c;c3RvbGVu\x07\x1b]0;title\x07\x1b]8;;http://example.invalid\x1b\\link\x1b]8;;\x07\x1b[2J\x1b[38;5;201m\x1b[999A"
    "\x9b2J\x9d0;t\x9c\x1bc\x08\x08\x0b\x0c\r\x7f\x0e\u202e\u2066\u200b\U000e0041[red]x[/red]"
)
"""Clipboard, title, link, screen, colour, cursor; the same from C1; reset, backspaces, bidirectional signs, markup."""
NAME = f"n{HOSTILE}"
TALK = f"s{HOSTILE}"
_STYLE = re.compile(r"\x1b\[(?:[0-4]|[39][0-7])?(?:;[0-9])*m|\r\x1b\[2K|\r?\r\n")
"""What the program itself writes: simple styles, its progress line, line ends."""
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


class Terminal:
    """What arrives at the other end of a pseudo-terminal."""

    def __init__(self, end: int) -> None:
        self._end = end
        self._got: list[bytes] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        try:
            while got := os.read(self._end, 65_536):
                self._got.append(got)
        except OSError:
            return  # the program's side is closed

    def text(self) -> str:
        self._reader.join(10)
        os.close(self._end)
        return b"".join(self._got).decode()


@contextmanager
def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Generator[Terminal]:
    """Stdout and stderr lead to a pseudo-terminal, stdin to nothing."""
    here, there = pty.openpty()
    terminal = Terminal(here)
    with (
        os.fdopen(there, "w", encoding="utf-8") as out,
        os.fdopen(os.dup(there), "w", encoding="utf-8") as err,
        Path(os.devnull).open(encoding="utf-8") as nothing,
        monkeypatch.context() as patch,
    ):
        patch.setattr("sys.stdout", out)
        patch.setattr("sys.stderr", err)
        patch.setattr("sys.stdin", nothing)
        yield terminal


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with hostile words in every field."""
    folder = tmp_path_factory.mktemp("hostile")
    with haversack.open(folder / "m.db") as sack:
        ns = sack.namespace(NAME)
        talk = ns.session(TALK)
        for number in range(12):
            talk.add("user", f"I live in Rome. Turn {number} {HOSTILE}", name=f"w{HOSTILE}", metadata={"k": HOSTILE})
            talk.add("assistant", f"Well {HOSTILE} " + "a long answer about the sea " * 30)
        ns.session(f"other{HOSTILE}").add("user", f"I work at Acme{HOSTILE}")
        for number in range(3):
            ns.remember(
                f"tea {number} {HOSTILE}",
                tags=[f"t{HOSTILE}"],
                entities=[f"e{HOSTILE}"],
                metadata={f"m{HOSTILE}": HOSTILE},
                subject=f"subject{HOSTILE}",
                importance=0.9,
            )
        ns.remember(f"a passage {HOSTILE}", kind="passage", speaker=f"p{HOSTILE}")
        sack.keys.create(f"key{HOSTILE}", namespaces=[NAME])
    (folder / "book.md").write_text(f"# Title{HOSTILE}\n\nTea is green.{HOSTILE}\n", encoding="utf-8")
    (folder / "broken.jsonl").write_text(f'{{"role": "{HOSTILE}"}}\n{{', encoding="utf-8")
    return folder


@pytest.fixture
def shown(place: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What one command shows, the program's own styles taken out."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm-256color")

    def run(*args: str) -> str:
        with at_a_terminal(monkeypatch) as terminal, pytest.raises(SystemExit):
            main(["--store", "m.db", "--namespace", NAME, *args])
        return _STYLE.sub("\n", terminal.text())

    return run


def ids(place: Path) -> dict[str, str]:
    with haversack.open(place / "m.db") as sack:
        ns = sack.namespace(NAME)
        return {"memory": ns.recall("tea", kinds=["fact"])[0].id, "key": sack.keys.all()[0].id}


LASTING = {"serve", "mcp", "inspect", "chat"}
"""They run until they are stopped; chat has its own test, the others print an address and no stored word."""
CASES: dict[str, list[list[str]]] = {
    "demo": [["--store", "demo.db"]],
    "import": [["book.md"], ["broken.jsonl"], ["broken.jsonl", "--json"]],
    "export": [[]],
    "backup": [["-"], ["all.backup"], [f"no{HOSTILE}/all.backup"]],
    "remember": [[f"again {HOSTILE}", "--tag", HOSTILE]],
    "recall": [["tea"], ["tea", "--json"]],
    "context": [
        ["tea"],
        ["tea", "--explain"],
        ["tea", "--json"],
        *(["tea", "--format", form, "--layout", "sections"] for form in ("markdown", "xml", "json", "plain")),
    ],
    "why": [["tea", "MEMORY"], [f"tea {HOSTILE}", "MEMORY"]],
    "history": [[f"subject{HOSTILE}"], [f"subject{HOSTILE}", "--json"], [f"no{HOSTILE}"]],
    "forget": [["MEMORY"], ["--session", TALK], [f"no{HOSTILE}"]],
    "restore-memory": [["MEMORY"], [f"no{HOSTILE}"]],
    "prompt": [[TALK, "tea"], [TALK, "tea", "--explain"], [TALK, "tea", "--json"], [f"new{HOSTILE}", "tea"]],
    "compact": [[TALK], [f"no{HOSTILE}"]],
    "expand": [[TALK, f"no{HOSTILE}"]],
    "extract": [[], [TALK], [f"no{HOSTILE}"]],
    "cost": [[], ["--all"]],
    "sessions": [[], [TALK], [TALK, "--json"], [f"no{HOSTILE}"]],
    "stats": [[], ["--json"]],
    "trimmed": [["--least", "1"]],
    "config": [[], ["--config", f"no{HOSTILE}.yaml"]],
    "bench": [[f"no{HOSTILE}"]],
    "lifecycle": [[], ["--stats"], ["--show-policy"], ["--execute"], ["--undo", f"no{HOSTILE}"]],
    "share": [["MEMORY", "--to", f"team{HOSTILE}", "--by", f"me{HOSTILE}"], [], ["--accept", HOSTILE, "--by", "me"]],
    "reorganize": [[], ["--execute"], ["--runs"]],
    "reembed": [[]],
    "migrate": [[], ["--to", f"copy{HOSTILE}.db"], ["--to", "copy.db", "--only", NAME]],
    "snapshot": [["--to", "all.snapshot", "--execute"], ["--list"], ["--to", f"x{HOSTILE}"]],
    "restore": [["all.snapshot"], ["all.snapshot", "--only", NAME], [f"no{HOSTILE}"]],
    "reset": [[], ["--all"], ["--execute", "--confirm", HOSTILE]],
    "rekey": [[], ["--new-key-file", f"no{HOSTILE}"]],
    "doctor": [[], ["--json"]],
    "keys create": [[f"k{HOSTILE}", "--for", NAME], ["--scope", HOSTILE, "x"]],
    "keys list": [[], ["--json"]],
    "keys rotate": [["KEY"], [f"no{HOSTILE}"]],
    "keys revoke": [["KEY"], [f"no{HOSTILE}"]],
    f"no{HOSTILE}": [[]],
}


def commands() -> set[str]:
    """Every command that there is, those of groups with the group's name before them."""
    context = click.Context(program)
    found: set[str] = set()
    for name in program.list_commands(context):
        command: Any = program.get_command(context, name)
        found |= {f"{name} {each}" for each in command.commands} if isinstance(command, click.Group) else {name}
    return found


def test_every_command_is_tried() -> None:
    assert commands() == {name for name in CASES if HOSTILE not in name} | LASTING


@pytest.mark.parametrize("command", CASES, ids=lambda name: name.replace(HOSTILE, "-such-command"))
def test_stored_words_move_no_cursor(command: str, shown: Callable[..., str], place: Path) -> None:
    for args in CASES[command]:
        known = ids(place)
        given = [known.get(arg.lower(), arg) if arg.isupper() else arg for arg in args]
        text = shown(*(command.split(" ", 1) if HOSTILE not in command else [command]), *given)
        assert not _OBEYED.search(text), (args, _OBEYED.findall(text), text)


def test_a_pipe_gets_every_byte(place: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    def piped(*args: str) -> bytes:
        with pytest.raises(SystemExit):
            main(["--store", str(place / "m.db"), "--namespace", NAME, *args])
        return capsysbinary.readouterr().out

    with haversack.open(place / "m.db") as sack:
        ns = sack.namespace(NAME)
        lines, turns = b"".join(ns.take_out()), ns.session(TALK).turns()
    assert piped("export") == lines
    said = json.loads(piped("sessions", TALK, "--json"))
    assert [row["message"]["parts"][0]["text"] for row in said] == [turn.message.text for turn in turns]
    assert f"I work at Acme{HOSTILE}".encode() in piped("prompt", f"other{HOSTILE}", "Where do I work?")
