"""The guide's commands are commands, and what they promise happens."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import haversack

_GUIDE = (Path(__file__).parents[3] / "docs" / "how-to" / "inspect.md").read_text(encoding="utf-8")


def _run(arguments: list[str], place: Path) -> str:
    program = [sys.executable, "-c", "from haversack.cli import main; main()"]
    done = subprocess.run([*program, *arguments], cwd=place, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_commands_are_commands(tmp_path: Path) -> None:
    _, inspect, context = map(shlex.split, re.findall(r"^```sh\n(.*?)\n^```$", _GUIDE, re.MULTILINE | re.DOTALL))
    assert "--port" in _run([*inspect[1:], "--help"], tmp_path)
    with haversack.open(tmp_path / "memory.db", embedder="none") as sack:
        ns = sack.namespace("alice")
        ns.remember("We decided to paint the hull blue", kind="decision")
        expected = ns.context("What did we decide?", budget=800)
    assert "paint the hull blue" in _run(context[1:], tmp_path)
    root = ET.parse(tmp_path / "ledger.svg").getroot()  # noqa: S314 - our own picture
    assert f"{expected.tokens} of 800 tokens used" in "".join(root.itertext())
