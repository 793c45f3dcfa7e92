"""`prompt`, `compact` and `expand`: what a model call gets, sessions made short, and opened again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click
import msgspec

from haversack.assemble import LAYOUTS, SHAPES, Format, Prompt
from haversack.cli import show
from haversack.cli.commands.ask import show_verdicts
from haversack.cli.options import Place, known_session, place, section_weights, weighted
from haversack.compaction import CompactionResult
from haversack.errors import InputError

__all__ = ["COMMANDS"]


@click.command()
@click.argument("session")
@click.argument("query", required=False)
@click.option("--system", default="", help="The system text.")
@click.option(
    "--tools", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="JSON list of tool schemas."
)
@click.option(
    "--tool-budget", is_flag=True, help="Send only the tools worth it, as memory.tools says: 25 % of the window, 20."
)
@click.option("--model", "-m", help="Whose tokens and window.")
@click.option("--window", type=int, help="Tokens of the model's context.")
@click.option("--output", type=int, help="Tokens kept free for the answer.")
@click.option("--layout", metavar="NAME", help=f"One of {', '.join(LAYOUTS)}.")
@section_weights
@click.option("--format", metavar="NAME", help=f"One of {', '.join(Format)}.")
@click.option("--shape", default="openai", show_default=True, metavar="NAME", help=f"One of {', '.join(SHAPES)}.")
@click.option("--now", metavar="TIME", help="The moment from which ages and relative dates count.")
@click.option("--explain", "-x", is_flag=True, help="Also a verdict for every turn, earlier session and memory.")
@place
def prompt(
    place: Place,
    session: str,
    query: str | None,
    *,
    tools: Path | None,
    tool_budget: bool,
    weight: tuple[str, ...],
    shape: str,
    explain: bool,
    **wanted: Any,
) -> None:
    """Show the whole prompt of one model call for SESSION: system, history, memories, tools and QUERY in one window.

    Without QUERY the session's last turn is the question. The prompt holds private content.

    \b
    Examples:
      haversack prompt 2026-03-02 "What did we decide?" --model gpt-4o --window 8000
      haversack prompt 2026-03-02 "What did we decide?" --window 4000 --explain
      haversack prompt 2026-03-02 "And the tides?" --layout cached --json
    """
    given = {name: value for name, value in wanted.items() if value is not None}
    if tools is not None:
        given["tools"] = _schemas(tools)
    if tool_budget:
        given["tool_budget"] = True
    with place.open_namespace() as ns:
        given |= weighted(ns, given.get("layout"), weight)
        talk = ns.session(session)
        ns.index()
        built = talk.prompt(query, **given)
        if not talk.turns(limit=1):
            show.note(f"there is no session {session!r} yet: this is what its first call would be")
        others = sum(info.id != session for info in ns.sessions()) if explain else 0
    if place.as_json:
        show.json_line({**built.to_dict(), "request": built.request(shape)})
        return
    _show(built, shape)
    if explain:
        _explain(built, others)
    show.note("this prompt holds private content")


@click.command()
@click.argument("session")
@click.option("--to-free", type=click.IntRange(min=1), help="Tokens to free; by default all that is old.")
@place
def compact(place: Place, session: str, to_free: int | None) -> None:
    """Put summaries in place of SESSION's old turns in prompts. The turns stay stored, recallable and expandable.

    Uses the chat service of memory.compaction.llm_service, or selects sentences when none is named.

    \b
    Example:
      haversack compact 2026-03-02
    """
    with place.open_namespace() as ns:
        result = known_session(ns, session).compact(to_free=to_free)
    if place.as_json:
        show.json_line(result)
    else:
        show.text(_outcome(result))
    if result.errors:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("session")
@click.argument("name", metavar="ID")
@click.option("--reopen", is_flag=True, help="The summary stops standing for them: prompts show the turns again.")
@place
def expand(place: Place, session: str, name: str, *, reopen: bool) -> None:
    """Show the turns of SESSION that the summary (or the pointer to a tool result) ID stands for, as they were said.

    \b
    Example:
      haversack expand 2026-03-02 01J9ZK3V6W8X4Y2T5R7Q0M1N2P
    """
    with place.open_namespace() as ns:
        turns = ns.session(session).expand(name, reopen=reopen)
    if place.as_json:
        show.json_line(turns)
        return
    rows = [(turn.position, turn.at, turn.message.name or turn.message.role, turn.message.text) for turn in turns]
    show.table(("#", "at", "who", "said"), rows)


def _schemas(file: Path) -> list[dict[str, Any]]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=list[dict[str, Any]])
    except msgspec.DecodeError as error:
        raise InputError(f"{file} must hold a JSON list of tool schemas: {error}") from None


def _show(built: Prompt, shape: str) -> None:
    for message in built.messages(shape):
        show.heading(str(message.get("role", message.get("type", ""))))
        content = message.get("content")
        show.text(content if isinstance(content, str) else msgspec.json.encode(message).decode())
    ledger = built.ledger
    count = "exact count" if ledger.exact else "upper bound"
    show.heading(f"{ledger.total} of {ledger.budget} tokens sent ({count}), {ledger.reserved} kept for the answer")
    whole = max(1, ledger.budget)
    lines = [(line.name, line.tokens, line.items or "", show.bar(line.tokens / whole)) for line in ledger.lines]
    lines += [
        (name, size, "", show.bar(size / whole))
        for name, size in (("answer", ledger.reserved), ("spare", ledger.spare))
    ]
    show.table(("line", "tokens", "items", "of the window"), lines)
    if built.tool_report is not None:
        show.text(f"\n{built.tool_report}")


def _explain(built: Prompt, others: int) -> None:
    """What became of turns, earlier sessions and memories."""
    fates = Counter((str(row.verdict), str(row.reason)) for row in built.turns)
    tokens = Counter[tuple[str, str]]()
    for row in built.turns:
        tokens[str(row.verdict), str(row.reason)] += row.tokens
    show.heading("turns of the conversation and of earlier sessions")
    show.table(
        ("verdict", "reason", "turns", "tokens"),
        [(*fate, count, tokens[fate]) for fate, count in fates.most_common()],
        empty="there is no history",
    )
    show.heading(f"earlier sessions: {len(built.sessions)} of {others} considered (memory.priming.previous_sessions)")
    rows = [(row.id, row.messages, row.kept, row.reason) for row in built.sessions]
    show.table(("session", "messages", "kept", "reason"), rows, empty="no earlier session was considered")
    if built.context is not None:
        show_verdicts(built.context)


def _outcome(result: CompactionResult) -> str:
    told = f"{result.outcome}: {result.turns_summarized} turns behind a summary, "
    told += f"{result.results_cleared} tool results cleared, "
    told += f"{result.tokens_before} -> {result.tokens_after} tokens in {result.duration_ms / 1000:.1f} s"
    if result.summary:
        told += f"\nsummary {result.summary}"
    return "\n".join([told, *(f"  {reason}" for reason in (*result.reasons, *result.errors))])


COMMANDS = [prompt, compact, expand]
