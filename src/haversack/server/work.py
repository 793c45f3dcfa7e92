"""Long work as jobs: what an import does in the background, and the registry that more kinds of work join."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from haversack.engine.importing import Imported
from haversack.engine.jobs import Progress, Work
from haversack.engine.namespace import Namespace
from haversack.server.upload import Upload
from haversack.transfer import ReadLimits, read_files

__all__ = ["import_upload"]


def import_upload(ns: Namespace, upload: Upload, name: str, form: str | None, limits: ReadLimits) -> Work:
    """Bring in an uploaded file, which is removed at the end."""

    def work(progress: Progress) -> Mapping[str, Any]:
        try:
            reading = read_files([upload.opened(name)], format=form, limits=limits)
            done = ns.bring_in(reading, watch=lambda _: progress(reading.read, reading.total))
        finally:
            upload.close()
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
