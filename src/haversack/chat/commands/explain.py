"""`/context`, `/prompt`, `/prime`, `/why`, and the commands that explain budgets and retrieval."""

from __future__ import annotations

from collections.abc import Sequence

import click
import msgspec

from haversack.assemble import SHAPES, Context, Ledger, Outcome, Prompt, Verdict
from haversack.chat.files import write_new
from haversack.chat.options import as_json, file_option, one_line, query_words, shown
from haversack.chat.screen import printable
from haversack.chat.status import compaction_state
from haversack.chat.talk import Talk
from haversack.recall import Hit
from haversack.scoring.signals import weightiest

__all__ = ["COMMANDS"]

_PRIVATE = "this holds private content: what you said, and what is remembered"
_ROWS = 20


@click.command()
@query_words
@click.option("--budget", "-b", type=int, help="Tokens that the context may take, everything included.")
@click.option("--debug", is_flag=True, help="Also the ledger, the sections and a verdict for every candidate.")
@file_option
@as_json
@click.pass_obj
def context(talk: Talk, query: str | None, budget: int | None, file: str | None, *, debug: bool, as_json: bool) -> None:
    """Show the memories that fit for QUERY.

    By default for what you said last.

    \b
    Examples:
      /context which units --budget 300 --debug
      /context --file context.md
    """
    packed = talk.ns.context(query or talk.asked(), budget=budget, model=talk.model)
    if file is not None:
        size = write_new(file, [packed.text.encode()])
        talk.screen.note(f"wrote {size} bytes to {file}; {_PRIVATE}")
    elif shown(talk, as_json, packed.to_dict()):
        return
    else:
        talk.screen.text(printable(packed.text.rstrip()) or "no memory is connected with that")
    if debug:
        _debug(talk, packed)


@click.command()
@query_words
@click.option("--shape", default="openai", show_default=True, metavar="NAME", help=f"One of {', '.join(SHAPES)}.")
@file_option
@as_json
@click.pass_obj
def prompt(talk: Talk, query: str | None, shape: str, file: str | None, *, as_json: bool) -> None:
    """Show the whole prompt that was sent last, or for QUERY.

    It holds private content.

    \b
    Examples:
      /prompt
      /prompt what did we decide --shape anthropic --json
    """
    built = talk.latest() if query is None else talk.preview(query)
    request = built.request(shape)
    talk.screen.note(_PRIVATE)
    if file is not None:
        talk.screen.note(f"wrote {write_new(file, [msgspec.json.encode(request)])} bytes to {file}")
    elif not shown(talk, as_json, {**built.to_dict(), "request": request}):
        _show_prompt(talk, built)


@click.command()
@as_json
@click.pass_obj
def prime(talk: Talk, *, as_json: bool) -> None:
    """Show what a conversation here begins with.

    Known facts, entities, insights, summaries, and the last turns of earlier sessions.

    \b
    Example:
      /prime
    """
    primed = talk.session.prime(model=talk.model)
    prior = [{"role": str(message.role), "text": message.text} for message in primed.prior.messages]
    if shown(talk, as_json, {"tokens": primed.tokens, "context": primed.context.to_dict(), "earlier": prior}):
        return
    talk.screen.text(printable(primed.context.text.rstrip()) or "there is nothing to begin with yet")
    for said in prior:
        talk.screen.text(f"[{said['role']}] {one_line(said['text'])}")
    talk.screen.note(f"{primed.tokens:,} tokens")


@click.command()
@click.argument("memory_id", metavar="ID")
@query_words
@as_json
@click.pass_obj
def why(talk: Talk, memory_id: str, query: str | None, *, as_json: bool) -> None:
    """Say why memory ID is, or is not, in the context.

    In the one for QUERY; by default for what you said last.

    \b
    Example:
      /why 01J9ZK3V6W8X4Y2T5R7Q0M1N2P which units
    """
    answer = talk.ns.why(query or talk.asked(), memory_id, model=talk.model)
    rows = [row for row in talk.last.verdicts if row.memory_id == memory_id] if talk.last and query is None else []
    if shown(talk, as_json, {"context": answer, "last_prompt": [_row(row) for row in rows]}):
        return
    for row in rows:
        where = f" in {row.section}" if row.section else ""
        talk.screen.text(f"in the last prompt: {row.verdict}{where}, {row.reason}, {row.tokens} tokens")
    talk.screen.text(printable(str(answer)))


@click.command("debug-budget")
@as_json
@click.pass_obj
def debug_budget(talk: Talk, *, as_json: bool) -> None:
    """Show what the last prompt's window went to.

    And how full it was, and what compaction makes of it.

    \b
    Example:
      /debug-budget --json
    """
    built = talk.latest()
    seen, metrics = talk.reading(), talk.session.monitor.get_metrics()
    state = compaction_state(talk)
    if shown(talk, as_json, {"ledger": built.ledger.to_dict(), "reading": seen, "monitor": metrics, "state": state}):
        return
    _show_ledger(talk, built.ledger)
    if seen is not None:
        talk.screen.text(
            f"{seen.total_tokens:,} of {seen.available_budget:,} tokens, {seen.utilization_pct:.1f} %: {seen.severity}"
        )
    talk.screen.text(f"compaction {state}; trend {metrics['trend']:+.1f}; runs {metrics['total_compactions']}")
    counts = {outcome: sum(row.verdict is outcome for row in built.turns) for outcome in Outcome}
    talk.screen.text("turns: " + (", ".join(f"{n} {outcome}" for outcome, n in counts.items() if n) or "none"))
    for event in built.events:
        talk.screen.text(f"prefix: {event}")


@click.command("tool-budget")
@as_json
@click.pass_obj
def tool_budget(talk: Talk, *, as_json: bool) -> None:
    """Show what tools' schemas take, and which are sent.

    \b
    Example:
      /tool-budget
    """
    built = talk.latest()
    lines = [line for line in built.ledger.lines if line.name.startswith("tools/")]
    report = built.tool_report
    told = {"tools": len(talk.tools.schemas), "tokens": built.ledger.tokens("tools"), "lines": lines, "report": report}
    if shown(talk, as_json, told | {"problems": list(talk.tools.problems)}):
        return
    whole = max(1, built.ledger.budget)
    rows = [(printable(line.name), line.tokens, talk.screen.bar(line.tokens / whole)) for line in lines]
    talk.screen.table(("schema", "tokens", "of the window"), rows, empty="no tools: name MCP servers under chat.tools")
    if report is not None:
        talk.screen.text(printable(str(report)))
    for problem in talk.tools.problems:
        talk.screen.note(f"not reached: {printable(problem)}")


@click.command("debug-retrieval")
@query_words
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True, help="How many to show.")
@as_json
@click.pass_obj
def debug_retrieval(talk: Talk, query: str | None, limit: int, *, as_json: bool) -> None:
    """Show what recall finds, and what scores are made of.

    For QUERY; by default for what you said last.

    \b
    Example:
      /debug-retrieval which units
    """
    hits = talk.ns.recall(query or talk.asked(), top_k=limit)
    if shown(talk, as_json, hits):
        return
    rows = [(hit.score, hit.relevance, hit.kind, hit.id, f"{one_line(hit.content)}\n{_signals(hit)}") for hit in hits]
    talk.screen.table(
        ("score", "relevance", "kind", "id", "content, and parts"), rows, empty="nothing is connected with that"
    )


def _signals(hit: Hit) -> str:
    adds = hit.formula.adds(hit.parts)
    return " ".join(f"{name} {hit.parts[name]:.2f} ({adds[name]:+.2f})" for name in weightiest(hit.parts, hit.formula))


def _debug(talk: Talk, packed: Context) -> None:
    talk.screen.heading(f"{packed.tokens} of {packed.budget} tokens ({packed.measure} count), layout {packed.layout}")
    _show_ledger(talk, packed.ledger)
    columns = ("section", "planned", "tokens", "candidates", "kept", "shortened", "dropped")
    sections = [
        (one.name, one.planned, one.tokens, one.candidates, one.kept, one.shortened, one.dropped)
        for one in packed.sections
    ]
    talk.screen.table(columns, sections, empty="no section has anything")
    _show_verdicts(talk, packed.verdicts)


def _show_prompt(talk: Talk, built: Prompt) -> None:
    for message in built.parts:
        talk.screen.heading(str(message.role))
        calls = [f"calls {call.name} {call.arguments}" for call in message.tool_calls]
        talk.screen.text(printable("\n".join(filter(None, [message.text.rstrip(), *calls]))))
    if built.tools:
        talk.screen.heading(f"{len(built.tools)} tools (/tool-budget)")
    talk.screen.heading(f"{built.tokens} of {built.ledger.budget} tokens, {built.ledger.reserved} kept for the answer")
    _show_ledger(talk, built.ledger)


def _show_ledger(talk: Talk, ledger: Ledger) -> None:
    whole = max(1, ledger.budget)
    lines = [(printable(line.name), line.tokens, line.items or "") for line in ledger.lines]
    lines += [("answer reserve", ledger.reserved, "")] if ledger.reserved else []
    lines += [("spare", ledger.spare, "")]
    rows = [(*line, talk.screen.bar(line[1] / whole)) for line in lines]
    talk.screen.table(("line", "tokens", "items", "of the whole"), rows)


def _show_verdicts(talk: Talk, verdicts: Sequence[Verdict]) -> None:
    counts = {outcome: sum(row.verdict is outcome for row in verdicts) for outcome in Outcome}
    talk.screen.heading("verdicts: " + (", ".join(f"{n} {one}" for one, n in counts.items() if n) or "none"))
    rows = [
        (row.verdict, row.reason, row.tokens, row.score, row.relevance, row.kind, row.memory_id)
        for row in verdicts[:_ROWS]
    ]
    columns = ("verdict", "reason", "tokens", "score", "relevance", "kind", "memory")
    talk.screen.table(columns, rows, empty="there was no candidate")


def _row(row: Verdict) -> dict[str, object]:
    return {"verdict": row.verdict, "reason": row.reason, "section": row.section, "tokens": row.tokens}


COMMANDS = [context, prompt, prime, why, debug_budget, tool_budget, debug_retrieval]
