"""Long work as jobs: what an import does in the background, and the registry that more kinds of work join."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from haversack.engine.importing import Imported
from haversack.engine.jobs import Progress, Work
from haversack.engine.namespace import Namespace
from haversack.transfer import read_files

__all__ = ["import_files"]


def import_files(ns: Namespace, file: Path, form: str | None) -> Work:
    """Bring in one uploaded file; it and its folder are removed at the end."""

    def work(progress: Progress) -> Mapping[str, Any]:
        try:
            reading = read_files([file], format=form)
            done = ns.bring_in(reading, watch=lambda _: progress(reading.read, reading.total))
        finally:
            shutil.rmtree(file.parent, ignore_errors=True)
        return _counts(done)

    return work


def _counts(done: Imported) -> dict[str, Any]:
    return {
        "sessions": len(done.sessions),
        "turns": done.turns,
        "memories": done.memories,
        "records": done.records,
        "known": done.known,
        "forgotten": done.forgotten,
        "bad": done.bad,
        "problems": [f"{problem.place}: {problem.message}" for problem in done.problems[:100]],
    }
