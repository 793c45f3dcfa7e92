from __future__ import annotations

import json
from io import StringIO
from types import MappingProxyType

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table
from rich.text import Text

from haversack.cli import show
from haversack.engine.settings import LayoutSettings, SectionSettings
from haversack.model.memory import Kind


class _Row(msgspec.Struct):
    layout: LayoutSettings


def test_sets_are_told_in_alphabetical_order_and_mappings_in_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    sections = {"zeal": SectionSettings(kinds=frozenset(Kind)), "art": SectionSettings(kinds=frozenset({Kind.FACT}))}
    show.json_line([_Row(layout=LayoutSettings(sections=MappingProxyType(sections)))])
    told = json.loads(capsys.readouterr().out)[0]["layout"]
    assert list(told["sections"]) == ["zeal", "art"]
    assert [each["kinds"] for each in told["sections"].values()] == [sorted(Kind), ["fact"]]


def drawn(columns: list[str], rows: list[list[str]], numeric: list[bool]) -> str:
    """The table as the library for tables draws it."""
    grid = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for index, name in enumerate(columns):
        last = index == len(columns) - 1
        grid.add_column(name, justify="right" if numeric[index] else "left", no_wrap=not last, overflow="fold")
    for row in rows:
        grid.add_row(*map(Text, row))
    sheet = StringIO()
    Console(file=sheet, width=200, highlight=False, emoji=False).print(grid)
    return sheet.getvalue()


def numbers(row: list[str]) -> list[bool]:
    return [cell.isdecimal() and cell.isascii() for cell in row]


CELLS = st.text(st.characters(exclude_categories=("C", "Z")) | st.sampled_from(" …漢字[]:"), max_size=40).map(str.strip)


@example([["0", "", "\\"]])
@given(st.lists(st.tuples(st.integers(0, 9999).map(str), CELLS, CELLS).map(list), min_size=1, max_size=5))
def test_a_table_in_a_pipe_is_the_one_that_a_terminal_gets(rows: list[list[str]]) -> None:
    columns = ["n", "name", "what"]
    numeric = [all(column) for column in zip(*map(numbers, rows), strict=True)]
    sheet = StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", sheet)
        show.table(columns, rows)
    assert sheet.getvalue() == drawn(columns, rows, numeric)


def test_stored_words_are_data_in_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    long = "word " * 60
    show.table(("what",), [("[bold]x[/bold] :tada:",), (long,)])  # too wide for one line: drawn by the library
    assert "[bold]x[/bold] :tada:" in capsys.readouterr().out
    show.table(("what",), [("[bold]x[/bold] :tada:",)])
    assert capsys.readouterr().out.splitlines()[1] == "[bold]x[/bold] :tada:"
