"""`import` and `export`: chat exports, memory dumps and documents in; everything out again."""

from __future__ import annotations

from pathlib import Path

import click

from haversack.cli import show
from haversack.cli.lines import write_lines
from haversack.cli.options import Place, place
from haversack.config import load_config
from haversack.engine.importing import Imported
from haversack.errors import NotFoundError
from haversack.transfer import FORMATS, Reading, read_files

__all__ = ["COMMANDS"]


@click.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--format", "form", metavar="NAME", help=f"Found out by looking; or one of {', '.join(FORMATS)}.")
@click.option("--strict", is_flag=True, help="Stop at the first bad record instead of going on without it.")
@place
def bring_in(place: Place, files: tuple[Path, ...], form: str | None, *, strict: bool) -> None:
    """Remember what FILEs hold: chat exports, memory dumps, documents. Importing the same file again adds nothing.

    Bad records are reported with their place and left out; the rest lands. Exit code 1 says that some were.

    \b
    Examples:
      haversack import conversations.json --namespace alice
      haversack import notes/*.md --format markdown
    """
    if missing := [str(file) for file in files if not file.exists()]:
        raise NotFoundError(f"no such file: {', '.join(missing)}")
    reading = read_files(files, format=form, limits=load_config(place.config).imports)
    with place.open_namespace(create=True) as ns:
        done = ns.bring_in(reading, strict=strict, watch=lambda so_far: _progress(reading, so_far))
    show.progress_note("")
    if place.as_json:
        show.json_line(
            {
                "format": reading.format,
                "sessions": len(done.sessions),
                **_counts(done),
                "replaced": done.replaced,
                "problems": done.problems,
            }
        )
    else:
        _tell(done, reading)
    if done.bad:
        raise click.exceptions.Exit(1)


@click.command("export")
@click.argument("file", metavar="[FILE]", default="-", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@place
def take_out(place: Place, file: Path) -> None:
    """Write a namespace to FILE (or stdout) as JSON lines; importing them elsewhere gives an equal namespace.

    The file holds everything that was said, softly forgotten memories included: keep it as private as the store.

    \b
    Examples:
      haversack export alice.jsonl --namespace alice
      haversack export - | gzip > backup.jsonl.gz
    """
    with place.open_namespace() as ns:
        lines = ns.take_out()
        written = write_lines(lines, file)
    if place.as_json and str(file) != "-":
        show.json_line({"file": str(file), "lines": written})
    else:
        show.note(f"wrote {written} lines to {file}; they hold private content")


def _progress(reading: Reading, done: Imported) -> None:
    share = reading.read / reading.total if reading.total else 1.0
    show.progress_note(
        f"{show.bar(share, 20)} {share:4.0%}  {done.turns} turns, {done.memories} memories  {reading.file}"
    )


def _counts(done: Imported) -> dict[str, int]:
    return {
        "turns": done.turns,
        "memories": done.memories,
        "records": done.records,
        "known": done.known,
        "forgotten": done.forgotten,
        "bad": done.bad,
    }


def _tell(done: Imported, reading: Reading) -> None:
    for problem in done.problems[:20]:
        show.note(f"{'note' if problem.warning else 'bad'}: {problem}")
    if (left := len(done.problems) - 20) > 0:
        show.note(f"and {left} more (--json lists all)")
    imported = done.turns + done.memories + done.records
    show.text(
        f"{imported} imported, {done.bad} bad ({reading.format or 'nothing to read'}): {done.turns} turns of "
        f"{len(done.sessions)} sessions, {done.memories} memories; {done.known} were there already"
        + (f"; {len(done.replaced)} took the place of other words" if done.replaced else "")
        + (f"; {done.forgotten} stay forgotten" if done.forgotten else "")
    )


COMMANDS = [bring_in, take_out]
