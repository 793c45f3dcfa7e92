"""`cost`: what calls of models for memory work took."""

from __future__ import annotations

from collections.abc import Sequence

import click

from haversack.cli import show
from haversack.cli.options import Place, place
from haversack.llm.cost import GROUPINGS, Call, total_by

__all__ = ["COMMANDS"]


@click.command()
@click.option(
    "--by", type=click.Choice(list(GROUPINGS)), default="purpose", show_default=True, help="What a row stands for."
)
@click.option("--since", metavar="TIME", help="Calls at or after (ISO 8601).")
@click.option("--until", metavar="TIME", help="Calls before, or through this date.")
@click.option("--all", "everywhere", is_flag=True, help="Of all namespaces.")
@place
def cost(place: Place, by: str, since: str | None, until: str | None, *, everywhere: bool) -> None:
    """Show what calls of models for memory work (extraction, compaction) took: tokens, and dollars where priced.

    Prices and caps stand under memory.costs. What the chat's own answers cost is told by its /cost.

    \b
    Examples:
      haversack cost
      haversack cost --by day --since 2026-03-01 --json
    """
    with place.open() as sack:
        names = sack.namespaces() if everywhere else [place.namespace]
        calls = [call for name in names for call in sack.namespace(name).costs(since=since, until=until)]
    if place.as_json:
        show.json_line(calls)
    else:
        _show(calls, by)


def _show(calls: Sequence[Call], by: str) -> None:
    totals = [*sorted(total_by(calls, GROUPINGS[by]).items()), *total_by(calls, lambda _: "all").items()]
    rows = [
        (name, count, f"{given:,}", f"{made:,}", f"${dollars:.4f}") for name, (count, given, made, dollars) in totals
    ]
    show.table((by, "calls", "tokens in", "tokens out", "dollars"), rows, empty="no model was called")
    if unpriced := sorted({call.model for call in calls if call.dollars is None}):
        show.note(f"no price is set for {', '.join(unpriced)} (memory.costs.prices): these count as $0")
    if estimated := sum(call.estimated for call in calls):
        show.note(f"{estimated} calls reported no usage: their tokens were counted here")


COMMANDS = [cost]
