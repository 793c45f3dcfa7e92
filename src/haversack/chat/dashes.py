"""What to say when text that begins with a dash was read as an option; for commands of the chat and of the program."""

from __future__ import annotations

import click

__all__ = ["hint_at_dashes"]


def hint_at_dashes(error: click.ClickException) -> str:
    """Return how to give such text to a command that takes any; nothing where an option was misspelt."""
    if not isinstance(error, click.NoSuchOption) or error.possibilities or error.ctx is None:
        return ""
    takes = [each for each in error.ctx.command.params if isinstance(each, click.Argument)]
    if not takes:
        return ""
    words = takes[0]
    what = words.metavar or f"{words.name or ''}{'' if words.nargs == 1 else '...'}".upper()
    return f"text that begins with a dash goes behind --, as in: {error.ctx.command_path} -- {what}"
