"""The guide says what the program does: its commands, its settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from haversack.chat.commands import COMMANDS
from haversack.config import load_config

GUIDE = (Path(__file__).parents[3] / "docs/how-to/chat.md").read_text()
SETTINGS = re.findall(r"```yaml\n(.*?)```", GUIDE, flags=re.DOTALL)


def test_every_command_is_in_the_guide_and_no_other() -> None:
    table = GUIDE.partition("## Commands")[2].partition("## Tools")[0]
    named = {name for row in table.splitlines() if row.startswith("| `/") for name in re.findall(r"`/([a-z-]+)", row)}
    assert named == set(COMMANDS) | {"help"}


@pytest.mark.parametrize("text", SETTINGS)
def test_its_settings_load(text: str, tmp_path: Path) -> None:
    file = tmp_path / "haversack.yaml"
    file.write_text(text)
    assert load_config(file, {})
