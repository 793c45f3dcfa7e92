"""Files written and read back in one step."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from haversack.transfer import DocumentEntry, MemoryEntry, Problem, Reading, SessionEntry, read_files


@dataclass
class Result:
    reading: Reading
    found: list[Any]

    @property
    def problems(self) -> list[str]:
        """As printed, without the folder."""
        return [str(one).rsplit("/", 1)[-1] for one in self.found if isinstance(one, Problem) and not one.warning]

    @property
    def warnings(self) -> list[str]:
        return [str(one).rsplit("/", 1)[-1] for one in self.found if isinstance(one, Problem) and one.warning]

    @property
    def sessions(self) -> list[SessionEntry]:
        return [one for one in self.found if isinstance(one, SessionEntry)]

    @property
    def memories(self) -> list[MemoryEntry]:
        return [one for one in self.found if isinstance(one, MemoryEntry)]

    @property
    def documents(self) -> list[DocumentEntry]:
        return [one for one in self.found if isinstance(one, DocumentEntry)]

    @property
    def lines(self) -> list[list[str]]:
        """Per session, `role: words`."""
        return [[f"{turn.message.role}: {turn.message.text}" for turn in one.turns] for one in self.sessions]


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Result]:
    """Writes each name=content (bytes, text, or JSON values; a list for .jsonl is its lines) and reads the files."""

    def write_and_read(files: dict[str, Any], format_name: str | None = None) -> Result:
        paths = [tmp_path / name for name in files]
        for path, content in zip(paths, files.values(), strict=True):
            path.write_bytes(encode(path.suffix, content))
        reading = read_files(paths, format=format_name)
        return Result(reading, list(reading))

    return write_and_read


def encode(suffix: str, content: Any) -> bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    if suffix == ".jsonl":
        return "".join(json.dumps(line) + "\n" for line in content).encode()
    return json.dumps(content, indent=1).encode()
