"""`sessions`, `history` and `stats`: what is there."""

from __future__ import annotations

from dataclasses import asdict

import click

from haversack.cli import show
from haversack.cli.options import Place, place
from haversack.errors import NotFoundError

__all__ = ["COMMANDS"]


@click.command()
@click.argument("session_id", required=False, metavar="[SESSION]")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many to show.")
@place
def sessions(place: Place, session_id: str | None, limit: int) -> None:
    """List conversations, or show the turns of one.

    \b
    Examples:
      haversack sessions
      haversack sessions 2026-03-02 --limit 200
    """
    with place.open_namespace() as ns:
        if session_id is None:
            found = ns.sessions()[:limit]
            if place.as_json:
                show.json_line(found)
                return
            rows = [(info.id, info.turns, info.first_at, info.last_at) for info in found]
            show.table(("session", "turns", "first", "last"), rows, empty="no sessions yet")
            return
        turns = ns.session(session_id).turns(limit=limit)
    if not turns:
        raise NotFoundError(f"there is no session {session_id!r} in namespace {place.namespace!r}")
    if place.as_json:
        show.json_line(turns)
        return
    rows = [(turn.position, turn.at, turn.message.name or turn.message.role, turn.message.text) for turn in turns]
    show.table(("#", "at", "who", "said"), rows)


@click.command()
@click.argument("subject")
@place
def history(place: Place, subject: str) -> None:
    """Show what was told on SUBJECT, and from when until when each of it is true.

    \b
    Example:
      haversack history alice/city
    """
    with place.open_namespace() as ns:
        found = ns.knowledge.history(subject)
    if place.as_json:
        show.json_line(found)
        return
    rows = [(one.valid_from or one.event_time, one.valid_to, one.id, one.content) for one in found]
    show.table(("from", "until", "id", "content"), rows, empty=f"nothing was told on {subject!r}")


@click.command()
@place
def stats(place: Place) -> None:
    """Count what is remembered, here and in the other namespaces.

    \b
    Example:
      haversack stats --json
    """
    with place.open() as sack:
        names = sack.namespaces()
        counts = {name: sack.namespace(name).stats() for name in names}
        lacking = {name: sack.namespace(name).unembedded() for name in names}
    if place.as_json:
        shown = {name: asdict(census) | {"unembedded": lacking[name]} for name, census in counts.items()}
        show.json_line({"store": place.shown, "namespaces": shown})
        return
    rows = [
        (
            name,
            sum(census.memories.values()),
            census.sessions,
            census.turns,
            census.deleted,
            census.tombstones,
            lacking[name],
            _kinds(census.memories),
        )
        for name, census in counts.items()
    ]
    columns = ("namespace", "memories", "sessions", "turns", "forgotten", "erased", "no vector", "kinds")
    show.table(columns, rows, empty="the store is empty")


def _kinds(memories: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(memories.items(), key=lambda pair: -pair[1]))


@click.command()
@click.option("--least", type=click.IntRange(min=1), default=2, show_default=True, help="Left out at least so often.")
@place
def trimmed(place: Place, least: int) -> None:
    """List important memories that keep being left out for want of room, with the budget that would carry them.

    \b
    Example:
      haversack trimmed --namespace alice
    """
    with place.open_namespace() as ns:
        rows = ns.trimmed(least=least)
    if place.as_json:
        show.json_line(rows)
        return
    show.table(
        ("left out", "carried", "importance", "id", "content", "advice"),
        [(r.trimmed, r.carried, r.importance, r.memory_id, show.one_line(r.content, 50), r.advice) for r in rows],
        empty="no important memory keeps being left out",
    )


COMMANDS = [sessions, history, stats, trimmed]
