"""What the guide shows is run, so that it stays true."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from haversack.mcp.tools import TOOLS

_GUIDE = (Path(__file__).parents[3] / "docs" / "how-to" / "mcp.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", _GUIDE, re.MULTILINE | re.DOTALL)


def _run(program: list[str], place: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        program, cwd=place, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_program_prints_what_the_guide_says(tmp_path: Path) -> None:
    (program,), (printed,) = _blocks("python"), _blocks("text")
    assert _run([sys.executable, "-c", program], tmp_path).strip() == printed.strip()


def test_the_commands_are_commands(tmp_path: Path) -> None:
    server = json.loads(_blocks("json")[0])["mcpServers"]["memory"]
    _run([server["command"], *server["args"], "--help"], tmp_path)
    _, commands = _blocks("sh")
    create, serve = map(shlex.split, commands.splitlines())
    assert "hvs_" in _run(create, tmp_path)
    _run([*serve, "--help"], tmp_path)


def test_every_tool_has_its_row() -> None:
    assert re.findall(r"^\| `(\w+)` \|", _GUIDE, re.MULTILINE) == [tool.name for tool in TOOLS]
