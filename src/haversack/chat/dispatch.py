"""From a line behind a slash to its command; the errors name what is near, and `/help` is here."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click

from haversack.chat.commands import COMMANDS, GROUPS
from haversack.chat.dashes import hint_at_dashes
from haversack.chat.options import as_json, shown
from haversack.chat.screen import printable
from haversack.chat.talk import Talk
from haversack.errors import InputError, nearest

__all__ = ["LEAVING", "is_command", "leaves", "names", "options_of", "run_command"]

LEAVING = ("exit", "quit")
"""These end the chat, as Ctrl-D does."""
_WIDTH = 100
_KEYS = """
/help COMMAND explains one, with an example. // sends a message that begins with /.
Alt-Enter, or \\ at the end of a line, begins a new line.
Ctrl-C stops an answer, Ctrl-D or /exit leaves."""


@click.command("help")
@click.argument("name", required=False)
@as_json
@click.pass_obj
def _help(talk: Talk, name: str | None, *, as_json: bool) -> None:
    """List the commands, or explain one.

    \b
    Example:
      /help context
    """
    if name is not None:
        chosen = _command(name.removeprefix("/"))
        context = click.Context(chosen, info_name=f"/{chosen.name}", max_content_width=_WIDTH)
        if not shown(talk, as_json, {"command": f"/{chosen.name}", "help": chosen.get_help(context)}):
            talk.screen.text(chosen.get_help(context))
        return
    groups = {title: {f"/{each.name}": _about(each) for each in GROUPS[title]} for title in GROUPS}
    if shown(talk, as_json, groups):
        return
    for title, commands in groups.items():
        talk.screen.heading(title)
        for command, about in commands.items():
            talk.screen.text(f"  {command:<17} {about}")
    talk.screen.text(_KEYS)


def _about(command: click.Command) -> str:
    return (command.help or "").partition("\n")[0]


_ALL = {**COMMANDS, "help": _help}


def is_command(line: str) -> bool:
    """Whether a line is a command and no message."""
    return line.startswith("/") and not line.startswith("//")


def leaves(line: str) -> bool:
    """Whether the line ends the chat."""
    return is_command(line) and line[1:].strip() in LEAVING


def names() -> dict[str, str]:
    """Every command and what it does in short."""
    known = {name: _about(command) for name, command in sorted(_ALL.items())}
    return known | {"exit": "Leave, as Ctrl-D does."}


def options_of(name: str) -> list[str]:
    """The options that a command takes."""
    command = _ALL.get(name)
    found = [option for param in command.params for option in param.opts if option.startswith("--")] if command else []
    return sorted(found)


def run_command(talk: Talk, line: str) -> None:
    """Carry out one line; raises HaversackError."""
    name, _, rest = line[1:].strip().partition(" ")
    command = _command(name)
    try:
        with command.make_context(f"/{name}", _words(rest), obj=talk, max_content_width=_WIDTH) as context:
            command.invoke(context)
    except click.exceptions.Exit:
        return  # --help was shown
    except click.ClickException as error:
        told = "; ".join(filter(None, (error.format_message(), hint_at_dashes(error))))
        raise InputError(f"{printable(told)} (/help {name})") from None


def _command(name: str) -> click.Command:
    found = _ALL.get(name)
    if found is None:
        raise InputError(
            f"no command /{printable(name)}: {nearest(name, [*_ALL, *LEAVING])}; // sends a message that begins with /"
        )
    return found


def _words(rest: str) -> list[str]:
    """Split at spaces; double quotes keep words together, an apostrophe or a backslash is only itself."""
    reader = shlex.shlex(rest, posix=True)
    reader.whitespace_split, reader.quotes, reader.escape, reader.commenters = True, '"', "", ""
    try:
        return list(_read(reader))
    except ValueError:
        return rest.split()


def _read(reader: shlex.shlex) -> Iterator[str]:
    while (word := reader.get_token()) is not None:
        yield word
