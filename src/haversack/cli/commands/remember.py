"""`remember`: keep one thing, or each line of stdin."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click

from haversack.cli import show
from haversack.cli.options import Place, pairs, place
from haversack.model.memory import Kind, Memory

__all__ = ["COMMANDS"]


@click.command()
@click.argument("content")
@click.option("--kind", default="fact", show_default=True, metavar="KIND", help=f"One of {', '.join(Kind)}.")
@click.option("--importance", type=float, default=0.5, show_default=True, help="From 0 to 1.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be given several times.")
@click.option("--entity", "entities", multiple=True, help="A person, place or thing it is about.")
@click.option("--metadata", multiple=True, metavar="FIELD=VALUE", help="A field to find it by; the value may be JSON.")
@click.option("--pin", "pinned", is_flag=True, help="Always carried, before anything else.")
@click.option("--at", "event_time", metavar="TIME", help="When it was said or happened (ISO 8601); now by default.")
@click.option("--begins", "valid_from", metavar="TIME", help="When it begins to be true; when it was said by default.")
@click.option("--expires", "expires_at", metavar="TIME", help="When it stops being true.")
@click.option("--subject", metavar="NAME", help="What it is about, like alice/city: a newer one ends the older one.")
@click.option("--supersedes", metavar="ID", help="The memory that this one replaces.")
@place
def remember(place: Place, content: str, **details: Any) -> None:
    """Keep one thing: CONTENT, or each line of stdin when CONTENT is `-`.

    \b
    Examples:
      haversack remember "Alice prefers metric units" --importance 0.8 --tag units
      cat facts.txt | haversack remember - --kind fact
    """
    details["metadata"] = pairs("--metadata", details["metadata"])
    given = {name: value for name, value in details.items() if value is not None and value != ()}
    lines = _lines() if content == "-" else iter([content])
    with place.open_namespace(create=True) as ns:
        kept = ns.remember_many([{"content": line, **given} for line in lines])
    if place.as_json:
        show.json_line(kept)
    else:
        _tell(kept)


def _lines() -> Iterator[str]:
    return (line.rstrip("\n") for line in sys.stdin if line.strip())


def _tell(kept: list[Memory]) -> None:
    if not kept:
        show.note("nothing came from stdin: nothing is remembered")
    for memory in kept:
        show.text(f"{memory.id}  {memory.kind}  {show.one_line(memory.content)}")
        if memory.superseded_by is not None:
            show.note(f"{memory.id} is kept but not recalled: {memory.superseded_by} says the same, or ended it")


COMMANDS = [remember]
