"""The guide to budgets: its programs run in order, its settings are read, its table is the layout."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import yaml

from haversack.assemble import LAYOUTS
from haversack.config import load_config

GUIDE = (Path(__file__).parents[2] / "docs/how-to/budget.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


def test_the_programs_run_in_order(tmp_path: Path) -> None:
    program = [sys.executable, "-c", "\n".join(blocks("python"))]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^decisions +\d+ +\d+ +1 +1 +0 +0$", done.stdout, re.MULTILINE)
    assert re.search(r"^output reserve +1,000", done.stdout, re.MULTILINE)


def test_the_layout_of_ones_own_loads() -> None:
    (block,) = blocks("yaml")
    layout = load_config(yaml.safe_load(block), {}).engine.layout_named()
    assert [(section.name, section.minimum, section.max_items) for section in layout.sections] == [
        ("rules", 0.2, None),
        ("notes", 0.0, 20),
    ]


def test_the_table_is_the_layout() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([\w, ]+) \| (\.\d\d) \|$", GUIDE, re.MULTILINE)
    told = [(name, set(kinds.split(", ")), float(weight)) for name, kinds, weight in rows]
    assert told == [(each.name, set(each.kinds), each.weight) for each in LAYOUTS["sections"].sections]
