"""What the README and the examples show is run, so that it stays true."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def run(program: list[str], place: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "COLUMNS": "110"}
    done = subprocess.run(program, cwd=place, env=env, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_python_blocks_run_in_order(tmp_path: Path) -> None:
    shown = run([sys.executable, "-c", "\n".join(blocks("python"))], tmp_path)
    assert "(Alice) Let's plan the trip to Lisbon in May" in shown
    assert "would forget for good: 1 memories" in shown


def test_the_shell_blocks_run_in_order(tmp_path: Path) -> None:
    make, *commands = blocks("sh")
    assert re.findall(r"^make (\w+)", make, re.MULTILINE) == ["demo", "test"]
    shown = run(["/bin/bash", "-euc", "\n".join(commands)], tmp_path)
    assert "- Alice prefers metric units" in shown


def test_the_sample_is_what_the_demo_prints(tmp_path: Path) -> None:
    (sample,) = re.findall(r"<!-- demo -->\n```text\n(.*?)```\n<!-- /demo -->", README, re.DOTALL)
    assert sample.strip()
    assert sample in run(["haversack", "demo"], tmp_path)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_run(example: Path, tmp_path: Path) -> None:
    assert run([sys.executable, str(example)], tmp_path)


def test_what_the_readme_links_to_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
