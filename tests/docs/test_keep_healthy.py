"""What the guide to maintenance shows is run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

from haversack.engine.aging import read_policy
from haversack.lifecycle.policy import Eviction

GUIDE = (Path(__file__).parents[2] / "docs" / "how-to" / "keep-healthy.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def test_the_commands_run_in_order(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/bash", "-euc", "\n".join(blocks("sh"))],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "COLUMNS": "110"},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("sound\n")


def test_the_policy_is_one() -> None:
    (block,) = blocks("yaml")
    policy = read_policy(yaml.safe_load(block))
    assert (policy.max_memories, policy.eviction) == (50_000, (Eviction.WEAKEST, Eviction.OLDEST))
