"""The command line as a person uses it: arguments in, exit code, stdout and stderr out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from haversack.cli import main


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return msgspec.json.decode(self.out)


Run = Callable[..., Answer]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*args: str) -> Answer:
        with pytest.raises(SystemExit) as leaving:
            main(args)
        printed = capsys.readouterr()
        code = leaving.value.code
        return Answer(code if isinstance(code, int) else 1, printed.out, printed.err)

    return call
