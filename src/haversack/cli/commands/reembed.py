"""`reembed`: vectors for what was remembered without the present embedder."""

from __future__ import annotations

import click

from haversack.cli import show
from haversack.cli.options import Place, place

__all__ = ["COMMANDS"]


@click.command()
@place
def reembed(place: Place) -> None:
    """Embed the memories of a namespace that have no vector of the present embedder.

    After another embedder was chosen, or while its service was down. It may be stopped at any time and goes on where it
    was. `serve`, `mcp`, `chat`, `inspect` and programs do it by themselves in the background.

    \b
    Example:
      haversack reembed --namespace alice
    """
    with place.open_namespace() as ns:
        done = ns.reembed(_progress)
    if place.as_json:
        show.json_line(done)
    else:
        show.text(f"{done['embedded']} embedded, {done['left']} left without a vector")
    if done["left"]:
        raise click.exceptions.Exit(1)


def _progress(done: int, total: int) -> None:
    show.progress_note(f"{show.bar(done / total, 20)} {done / total:4.0%}  {done} of {total} memories")


COMMANDS = [reembed]
