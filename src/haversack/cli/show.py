"""How answers look: JSON for scripts, tables and bars for people. On a terminal stored words move no cursor."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, cast

import click
import msgspec

from haversack.cli.harmless import harmless
from haversack.lazy import lazy

if TYPE_CHECKING:
    from rich import cells, markup
    from rich import console as consoles
    from rich import table as tables
    from rich import text as texts
else:
    cells = lazy("rich.cells")
    consoles = lazy("rich.console")
    markup = lazy("rich.markup")
    tables = lazy("rich.table")
    texts = lazy("rich.text")

__all__ = ["bar", "data", "heading", "json_line", "note", "one_line", "progress_note", "table", "text"]

_PIPE_WIDTH = 200
"""Columns where nobody's terminal says how many there are."""
_GAP = "  "
_BLOCKS = " ▏▎▍▌▋▊▉█"


def json_line(value: object) -> None:
    """The value as one line of JSON: dataclasses as objects, times in ISO 8601, sets in alphabetical order."""
    for line in data([msgspec.json.encode(_ordered(value), enc_hook=_plain)]):
        click.echo(line)


def text(words: str) -> None:
    """Words exactly as they are; on a terminal, without what it would obey."""
    click.echo(harmless(words, sys.stdout), color=True)  # else the framework takes escape codes out of a pipe


def data(lines: Iterable[bytes]) -> Iterable[bytes]:
    """Lines for stdout in the same way: a pipe or a file gets every byte."""
    return (harmless(line.decode(), sys.stdout).encode() for line in lines) if sys.stdout.isatty() else lines


def note(words: str) -> None:
    """A remark for the person, kept off stdout so that pipes stay clean."""
    click.echo(harmless(words, sys.stderr), err=True)


def heading(words: str) -> None:
    """A title over what follows."""
    _console().print(f"\n[bold]{markup.escape(harmless(words, sys.stdout))}[/bold]")


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str = "nothing") -> None:
    """Rows under headings; numbers stand right, stored text is shown as data and never interpreted."""
    body = [[_cell(value) for value in row] for row in rows]
    if not body:
        note(empty)
        return
    numeric = [all(_is_number(row[index]) for row in body) for index in range(len(columns))]
    if not sys.stdout.isatty() and (lines := _plain_table([list(columns), *body], numeric)) is not None:
        text("\n".join(lines))
        return
    grid = tables.Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for index, name in enumerate(columns):
        grid.add_column(
            name, justify="right" if numeric[index] else "left", no_wrap=index != len(columns) - 1, overflow="fold"
        )
    for row in body:
        grid.add_row(*(texts.Text(harmless(cell, sys.stdout)) for cell in row))
    _console().print(grid)


def bar(share: float, width: int = 30) -> str:
    """A horizontal bar for a share from 0 to 1."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_BLOCKS[rest] if rest else "")).ljust(width)


def one_line(words: str, limit: int = 80) -> str:
    """The words on one line, cut with an ellipsis, control characters shown as they are named."""
    line = "".join(sign if sign.isprintable() else " " for sign in " ".join(words.split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def progress_note(words: str) -> None:
    """A progress line that replaces itself; shown only where a person watches."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[2K{harmless(words, sys.stderr)}")
        sys.stderr.flush()


def _plain_table(rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> list[str] | None:
    """The lines of a table in a pipe; None where it is too wide or holds signs that only a terminal's rules place.

    They are those of the library that draws tables; loading it takes longer than answering most questions.
    """
    if not all(cell.isprintable() for row in rows for cell in row):
        return None
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    if sum(widths) + len(_GAP) * (len(widths) - 1) > _PIPE_WIDTH:
        return None
    return [
        _GAP.join(_placed(cell, width, right=right) for cell, width, right in zip(row, widths, numeric, strict=True))
        for row in rows
    ]


def _placed(cell: str, width: int, *, right: bool) -> str:
    room = " " * (width - _width(cell))
    return room + cell if right else cell + room


def _width(cell: str) -> int:
    """Columns; the ellipsis of `one_line` takes one, and is no reason to load the table of wide signs."""
    return len(cell) if cell.replace("…", "").isascii() else cells.cell_len(cell)


def _console() -> consoles.Console:
    class Pipe(consoles.Console):
        def on_broken_pipe(self) -> None:
            raise  # noqa: PLE0704 - called where the error is being handled; the program knows what to do

    return Pipe(highlight=False, emoji=False, width=None if sys.stdout.isatty() else _PIPE_WIDTH)


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case float():
            return f"{value:.3f}"
        case datetime():
            return value.strftime("%Y-%m-%d %H:%M")
        case _:
            return str(value)


def _is_number(cell: str) -> bool:
    return cell.replace(".", "", 1).replace(",", "").lstrip("-").isdigit()


def _ordered(value: Any) -> Any:
    """The value with its sets sorted. Mappings keep their order, which may mean something."""
    kind = cast("type[Any]", type(value))
    if issubclass(kind, AbstractSet):
        return sorted(value)
    if issubclass(kind, Mapping):
        return {key: _ordered(each) for key, each in value.items()}
    if issubclass(kind, list | tuple):
        return [_ordered(each) for each in value]
    if issubclass(kind, msgspec.Struct):
        return {name: _ordered(getattr(value, name)) for name in kind.__struct_fields__}
    if is_dataclass(kind):
        return {field.name: _ordered(getattr(value, field.name)) for field in fields(kind)}
    return value


def _plain(value: object) -> object:
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(f"no JSON for {type(value).__name__}")
