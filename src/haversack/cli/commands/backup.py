"""`backup`, and what `restore` does with it: a namespace as lines that any store can restore."""

from __future__ import annotations

from pathlib import Path

import click

from haversack.cli import show
from haversack.cli.lines import write_lines
from haversack.cli.options import Place, place
from haversack.maintenance.backup import BACKUP

__all__ = ["COMMANDS", "is_backup", "restore_from"]


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@place
def backup(place: Place, *, file: Path) -> None:
    """Write a whole namespace to FILE as lines that any store can restore.

    They show one moment while others go on writing, and hold vectors, places and what keeps erased words away: more
    than `export`, which is for reading and for other programs.

    \b
    Examples:
      haversack backup alice.backup --namespace alice
      haversack backup - --namespace alice | gzip > alice.backup.gz
      haversack restore alice.backup --execute
    """
    with place.open_namespace() as ns:
        written = write_lines(ns.maintenance.backup(), file)
    if str(file) != "-":
        told = f"wrote {written} lines to {file}; they hold private content"
        show.json_line({"file": str(file), "lines": written}) if place.as_json else show.note(told)


def is_backup(file: Path) -> bool:
    """Whether the file begins as a backup does."""
    with file.open("rb") as opened:
        return BACKUP.encode() in opened.read(200)


def restore_from(place: Place, file: Path, name: str | None, *, execute: bool) -> None:
    """Restore a backup into the present store, under its own name or this one."""
    if not execute:
        told = f"would restore the backup {file}; --execute does it"
        show.json_line({"file": str(file), "preview": True}) if place.as_json else show.note(told)
        return
    with place.open(create=True) as sack, file.open("rb") as lines:
        moved = sack.maintenance.restore_backup(lines, namespace=name)
    told = f"restored {moved.memories} memories and {moved.turns} turns of {moved.namespace}"
    show.json_line(moved) if place.as_json else show.note(told)


COMMANDS = [backup]
