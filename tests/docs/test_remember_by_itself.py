"""The guide to memory that looks after itself: its programs run in order, its settings are read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from haversack.config import load_config

GUIDE = (Path(__file__).parents[2] / "docs" / "how-to" / "remember-by-itself.md").read_text(encoding="utf-8")


def test_its_programs_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for program in re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL):
        exec(compile(program, "guide", "exec"), names)  # noqa: S102 - it is ours
    assert capsys.readouterr().out.splitlines() == [
        "['Alice lives in Oslo']",
        "['Alice lives in Rome']",
        "2 ()",
        "[('Alice', 'Acme'), ('Alice', 'Acme', 'Oslo')]",
    ]


def test_its_settings_are_read(tmp_path: Path) -> None:
    (settings,) = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    file = tmp_path / "settings.yaml"
    file.write_text(settings, encoding="utf-8")
    memory = load_config(file, {}).memory
    assert memory.extraction is not None
    assert (memory.extraction.llm_service, memory.extraction.every) == ("small", 6)
    assert (memory.costs.caps.dollars, memory.costs.prices["gpt-4o-mini"].output) == (0.5, 0.6)
