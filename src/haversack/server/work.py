"""Long work as jobs: what an import does in the background, and the registry that more kinds of work join."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from haversack.engine.importing import Imported
from haversack.engine.jobs import Progress, Work
from haversack.engine.keys import Scope
from haversack.server.caller import In
from haversack.server.upload import Upload
from haversack.transfer import ReadLimits, read_files

__all__ = ["import_upload"]

_NAMED = 100
"""Ids and problems that a job's result names."""


def import_upload(here: In, upload: Upload, name: str, form: str | None, limits: ReadLimits) -> Work:
    """Bring in what the caller may write of an uploaded file, which is removed at the end."""
    may_administer = here.caller.key.scope.covers(Scope.ADMIN)

    def work(progress: Progress) -> Mapping[str, Any]:
        try:
            reading = read_files([upload.opened(name)], format=form, limits=limits)
            done = here.ns.bring_in(
                reading, may_administer=may_administer, watch=lambda _: progress(reading.read, reading.total)
            )
        finally:
            upload.close()
        if done.replaced:
            here.note("replace by import", ids=done.replaced, count=len(done.replaced))
        return _counts(done)

    return work


def _counts(done: Imported) -> dict[str, Any]:
    return {
        "sessions": len(done.sessions),
        "turns": done.turns,
        "memories": done.memories,
        "replaced": done.replaced[:_NAMED],
        "records": done.records,
        "known": done.known,
        "forgotten": done.forgotten,
        "bad": done.bad,
        "problems": [f"{problem.place}: {problem.message}" for problem in done.problems[:_NAMED]],
    }
