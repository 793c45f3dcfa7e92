"""`/lifecycle` and its kin: keeping the memory healthy. Previews, unless an exact `--execute` stands behind it."""

from __future__ import annotations

import click

from haversack.chat.options import as_json, shown
from haversack.chat.screen import printable
from haversack.chat.talk import Talk

__all__ = ["COMMANDS"]

_SHOWN = 20
execute_flag = click.option("--execute", is_flag=True, help="Do it; without this the command only previews.")


@click.command()
@execute_flag
@as_json
@click.pass_obj
def lifecycle(talk: Talk, *, execute: bool, as_json: bool) -> None:
    """Promote, fade and end memories as their age and use ask for.

    \b
    Examples:
      /lifecycle
      /lifecycle --execute
    """
    done = talk.ns.maintenance.lifecycle(execute=execute)
    if shown(talk, as_json, done):
        return
    talk.screen.text(printable(str(done)))
    rows = [(each.action, each.memory) for each in done.transitions[:_SHOWN]]
    if rows:
        talk.screen.table(("action", "memory"), rows)
    if done.preview:
        talk.screen.note("a preview: add --execute to do it")


COMMANDS = [lifecycle]
