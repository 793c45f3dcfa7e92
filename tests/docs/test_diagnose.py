"""The guide to missing and oversized context is run as it stands, and each answer holds what the guide promises."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs/how-to/diagnose.md"

PROMISED = {
    "A stored fact never appears": ("kept at pack: fits", "rank 1 of", "score", "the last one kept scored"),
    "It keeps being trimmed": ("no important memory keeps being left out",),
    "Passages are absent": ("verdicts: ", "dropped", "no_room"),
    "Later sections are missing": ("planned", "passages"),
    "Summaries are absent in a long chat": ("turns of the conversation", "no_room"),
    "An earlier session is not remembered": ("2 of 18 considered", "2026-09-21-last-week", "2026-09-13-stepping"),
    "A header with nothing under it, a prompt over its window": ("the largest part is",),
    "The output is cut short": ("tokens sent (exact count), 800 kept for the answer", "spare"),
    "Tool schemas crowd out memory": ("tools/tide_table", "left out", "irrelevant", "send_mail"),
    "A misspelt setting has no effect": ("engine.budgt: did you mean 'budget'", "engine.budget", "default"),
    "Compaction ran but the use is unchanged": ("turns behind a summary", "tokens in"),
    "Old facts disappeared": ("importance 0.90, last used", "strength", "decays below 0.2"),
    "The store itself may be damaged": ("sound",),
}


@pytest.mark.slow
def test_every_answer_of_the_guide(tmp_path: Path) -> None:
    first, *rows = GUIDE.read_text("utf-8").split("\n## ")
    titles = [row.partition("\n")[0] for row in rows]
    assert titles == list(PROMISED)
    blocks = ["\n".join(re.findall(r"^```sh\n(.*?)^```$", row, re.MULTILINE | re.DOTALL)) for row in (first, *rows)]
    script = "\necho '## next'\n".join(blocks)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/bash", "-euc", f"exec 2>&1\n{script}"],
        cwd=tmp_path, env={**os.environ, "PATH": path, "COLUMNS": "160"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    _, *answers = done.stdout.split("## next\n")
    for title, answer in zip(titles, answers, strict=True):
        for words in PROMISED[title]:
            assert words in answer, title
