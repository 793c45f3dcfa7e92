"""`recall`, `context` and `why`: what is remembered, what fits, and what became of one memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from haversack.assemble import LAYOUTS, Format
from haversack.cli import show
from haversack.cli.options import Conditions, Place, conditions, place, section_weights, weighted
from haversack.lazy import lazy
from haversack.private import create

if TYPE_CHECKING:
    from haversack.assemble import Context, picture, verdict
    from haversack.engine.reading import Hit
else:
    picture = lazy("haversack.assemble.picture")
    verdict = lazy("haversack.assemble.verdict")

__all__ = ["COMMANDS", "show_account", "show_verdicts"]


_weights = click.option(
    "--weights",
    default="default",
    show_default=True,
    help="default, balanced (.5/.3/.2 over 30 days) or similarity (nearest by meaning).",
)

_min_relevance = click.option(
    "--min-relevance",
    type=click.FloatRange(0, 1),
    help="Leave out what is less relevant; 0 for nothing. By default what memory.min_relevance says, for a recall 0.",
)


@click.command()
@click.argument("query")
@click.option("--top-k", "-k", type=int, default=10, show_default=True, help="How many at the most.")
@_weights
@_min_relevance
@click.option("--now", metavar="TIME", help="The moment from which ages and relative dates count.")
@conditions
@place
def recall(place: Place, chosen: Conditions, query: str, **asked: Any) -> None:
    """Find the memories that answer QUERY, best first. The query is words, never a query language.

    \b
    Examples:
      haversack recall "which units?" -k 5
      haversack recall "what did we decide?" --kind decision --since 2026-01-01 --json
    """
    with place.open_namespace() as ns:
        ns.index()
        hits = ns.recall(query, **asked, **chosen.given())
    if place.as_json:
        show.json_line(hits)
        return
    rows = [(hit.relevance, hit.kind, hit.memory.event_time, hit.id, show.one_line(_said(hit), 100)) for hit in hits]
    show.table(("relevance", "kind", "when", "id", "content"), rows, empty="nothing is connected with that query")


@click.command()
@click.argument("query")
@click.option("--budget", "-b", type=int, help="Tokens that the text may take, everything included.")
@click.option("--model", "-m", help="Whose tokens: a model's or an encoding's name.")
@click.option("--layout", metavar="NAME", help=f"One of {', '.join(LAYOUTS)}.")
@section_weights
@click.option("--format", metavar="NAME", help=f"One of {', '.join(Format)}.")
@_weights
@_min_relevance
@click.option("--now", metavar="TIME", help="The moment from which ages and relative dates count.")
@click.option("--explain", "-x", is_flag=True, help="Also what the budget went to, and a verdict for every candidate.")
@click.option("--chart", type=click.Path(dir_okay=False, path_type=Path), help="Draw the ledger into this SVG file.")
@conditions
@place
def context(
    place: Place,
    chosen: Conditions,
    query: str,
    *,
    weight: tuple[str, ...],
    chart: Path | None,
    explain: bool,
    **shape: Any,
) -> None:
    """Pack the best context for QUERY that fits the budget, and print it.

    \b
    Examples:
      haversack context "How should I structure my API?" --budget 1500 --model gpt-4o
      haversack context "What did we decide?" --budget 800 --layout sections-audit --explain
      haversack context "Who is Acme?" --layout sections --weight entities=0.5 --weight graph=0
      haversack context "What did we decide?" --budget 800 --chart ledger.svg
    """
    given = {name: value for name, value in shape.items() if value is not None}
    with place.open_namespace() as ns:
        given |= weighted(ns, given.get("layout"), weight)
        ns.index()
        packed = ns.context(query, **given, **chosen.given())
    if chart is not None:
        with create(chart, replace=True) as file:
            file.write(picture.draw_ledger(packed.ledger, query).encode())
        show.note(f"drew {chart}")
    if place.as_json:
        show.json_line(packed.to_dict())
        return
    show.text(packed.text.rstrip("\n"))
    if packed.unanswered:
        show.note("nothing is relevant enough to this question; --min-relevance 0 shows what comes nearest")
    if explain:
        show.heading(f"{packed.tokens} of {packed.budget} tokens ({packed.measure} count)")
        show_account(packed)
        show_verdicts(packed)


@click.command()
@click.argument("query")
@click.argument("memory_id")
@click.option("--budget", "-b", type=int, help="Tokens that the context may take.")
@click.option("--model", "-m", help="Whose tokens: a model's or an encoding's name.")
@click.option("--layout", metavar="NAME", help=f"One of {', '.join(LAYOUTS)}.")
@section_weights
@click.option("--now", metavar="TIME", help="The moment from which ages and relative dates count.")
@conditions
@place
def why(place: Place, chosen: Conditions, query: str, memory_id: str, *, weight: tuple[str, ...], **shape: Any) -> None:
    """Say where and why MEMORY_ID left, or how it came in, when the context for QUERY is packed.

    \b
    Example:
      haversack why "which units?" 01J9ZK3V6W8X4Y2T5R7Q0M1N2P --budget 500
    """
    given = {name: value for name, value in shape.items() if value is not None}
    with place.open_namespace() as ns:
        given |= weighted(ns, given.get("layout"), weight)
        answer = ns.why(query, memory_id, **given, **chosen.given())
    if place.as_json:
        show.json_line(answer)
    else:
        show.text(str(answer))


def show_account(packed: Context) -> None:
    """The ledger as bars: what the budget went to."""
    whole = max(1, packed.budget)
    lines = [(line.name, line.tokens, line.items or "", show.bar(line.tokens / whole)) for line in packed.ledger.lines]
    lines.append(("spare", packed.ledger.spare, "", show.bar(packed.ledger.spare / whole)))
    show.table(("line", "tokens", "items", "of the budget"), lines)


def show_verdicts(packed: Context, most: int = 15) -> None:
    """What each section planned, used and left out; how many candidates met which verdict, and the first of them."""
    if len(packed.sections) > 1:
        show.heading("sections")
        fields = ("name", "planned", "tokens", "candidates", "kept", "shortened", "dropped")
        show.table(fields, [[getattr(row, name) for name in fields] for row in packed.sections if row.candidates])
    counts = {outcome: sum(row.verdict is outcome for row in packed.verdicts) for outcome in verdict.Outcome}
    show.heading("verdicts: " + ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count))
    rows = [
        (row.verdict, row.reason, row.tokens, row.score, row.relevance, row.kind, row.memory_id)
        for row in list(packed.verdicts)[:most]
    ]
    columns = ("verdict", "reason", "tokens", "score", "relevance", "kind", "memory")
    show.table(columns, rows, empty="there was no candidate")
    if (left := len(packed.verdicts) - most) > 0:
        show.note(f"and {left} more (--json lists all)")


def _said(hit: Hit) -> str:
    return f"{hit.memory.speaker}: {hit.content}" if hit.memory.speaker else hit.content


COMMANDS = [recall, context, why]
