"""What commands share: the talk as first argument, `--json`, words that need no quotes, and ways to show things."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from haversack.chat.screen import printable
from haversack.chat.talk import Talk
from haversack.model.memory import Memory, Turn

__all__ = [
    "FIRST_WORDS",
    "as_json",
    "file_option",
    "first_words",
    "limit_option",
    "memory_rows",
    "one_line",
    "query_words",
    "shown",
]

_Command = TypeVar("_Command", bound=Callable[..., Any])
FIRST_WORDS = 100
"""Characters of a memory or a turn in a table."""

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
file_option = click.option("--file", metavar="PATH", help="Write to a new file instead; it holds private content.")
limit_option = click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many to show."
)


def query_words(command: _Command) -> _Command:
    """Give a command all its bare words as one `query`; None when there are none."""
    return click.argument("query", nargs=-1, callback=_join)(command)


def _join(_context: click.Context, _param: click.Parameter, words: tuple[str, ...]) -> str | None:
    return " ".join(words) or None


def shown(talk: Talk, asked_for_json: bool, value: object) -> bool:  # noqa: FBT001 - the flag as it was given
    """Print the value as JSON where that was asked for; whether it was."""
    if asked_for_json or talk.screen.as_json:
        talk.screen.json(value)
        return True
    return False


def first_words(thing: Memory | Turn) -> str:
    """What it says, on one line."""
    return one_line(thing.content if isinstance(thing, Memory) else thing.message.text)


def one_line(words: str, limit: int = FIRST_WORDS) -> str:
    """The words on one line, cut with an ellipsis."""
    line = " ".join(printable(words).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def memory_rows(memories: Iterable[Memory]) -> list[tuple[object, ...]]:
    """Rows under id, kind, when, importance, content."""
    return [(each.id, each.kind, each.event_time, each.importance, first_words(each)) for each in memories]
