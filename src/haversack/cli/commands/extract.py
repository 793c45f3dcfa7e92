"""`extract`: read what sessions said for facts, preferences, decisions and the like."""

from __future__ import annotations

import click

from haversack.cli import show
from haversack.cli.options import Place, known_session, place
from haversack.compaction.extraction.extractor import Extracted

__all__ = ["COMMANDS"]


@click.command()
@click.argument("session", required=False)
@place
def extract(place: Place, session: str | None) -> None:
    """Read the turns of SESSION, or of all sessions, that were not read yet, and remember what they state.

    Uses the chat service of memory.extraction.llm_service, or reads plain statements by rules when none is named.

    \b
    Examples:
      haversack extract
      haversack extract 2026-03-02 --config haversack.yaml
    """
    with place.open_namespace() as ns:
        done = ns.extract() if session is None else {session: known_session(ns, session).extract()}
    if place.as_json:
        show.json_line(done)
    else:
        _show(done)
    if any(each.errors for each in done.values()):
        raise click.exceptions.Exit(1)


def _show(done: dict[str, Extracted]) -> None:
    rows = [
        (name, each.turns, len(each.added), len(each.ended), len(each.skipped), "; ".join(each.errors))
        for name, each in done.items()
    ]
    show.table(
        ("session", "turns read", "remembered", "ended", "refused", "stopped by"),
        rows,
        empty="every turn was read before",
    )


COMMANDS = [extract]
