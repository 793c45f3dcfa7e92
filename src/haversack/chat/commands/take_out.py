"""`/cost`, `/export`: what it took, and everything out again."""

from __future__ import annotations

from collections.abc import Iterator

import click

from haversack.chat.files import write_new
from haversack.chat.options import as_json, shown
from haversack.chat.screen import printable
from haversack.chat.spending import FIELD
from haversack.chat.talk import Talk
from haversack.llm.cost import total_by
from haversack.model.memory import Turn

__all__ = ["COMMANDS"]


@click.command()
@as_json
@click.pass_obj
def cost(talk: Talk, *, as_json: bool) -> None:
    """Show what answers and memory work took.

    In this session, by model and purpose, with the prices of memory.costs.prices.

    \b
    Example:
      /cost --json
    """
    by_model = talk.count_costs()
    work = [call for call in talk.ns.costs() if call.session == talk.session.id]
    told = {"session": talk.session.id, "models": by_model, "total": talk.spent, "memory_work": work}
    if shown(talk, as_json, told):
        return
    rows = [
        (f"answers, {printable(model)}", one.calls, one.input_tokens, one.output_tokens, _dollars(one.dollars))
        for model, one in sorted(by_model.items())
    ]
    unpriced = {str(call.purpose) for call in work if call.dollars is None}
    rows += [
        (purpose, calls, given, made, _dollars(None if purpose in unpriced else dollars))
        for purpose, (calls, given, made, dollars) in sorted(total_by(work, lambda call: str(call.purpose)).items())
    ]
    talk.screen.table(("for", "calls", "input", "output", "dollars"), rows, empty="no model was called")
    if talk.spent.estimated:
        talk.screen.note(f"{talk.spent.estimated} answers reported no usage: their tokens were counted here")


@click.command()
@click.argument("file")
@click.option("--transcript", is_flag=True, help="Only this conversation, as Markdown.")
@as_json
@click.pass_obj
def export(talk: Talk, file: str, *, transcript: bool, as_json: bool) -> None:
    """Write what is remembered here to a new FILE.

    All of it as JSON lines, which `haversack import` reads. The file holds private content: keep it as private as the
    store.

    \b
    Examples:
      /export alice.jsonl
      /export talk.md --transcript
    """
    size = write_new(file, _markdown(talk) if transcript else talk.ns.take_out())
    if not shown(talk, as_json, {"file": file, "bytes": size}):
        talk.screen.text(f"wrote {size:,} bytes to {file}")
    talk.screen.note("the file holds private content: keep it as private as the store")


def _markdown(talk: Talk) -> Iterator[bytes]:
    yield f"# {talk.session.id}\n".encode()
    for turn in talk.session.turns():
        yield _paragraph(turn).encode()


def _paragraph(turn: Turn) -> str:
    kept = turn.metadata.get(FIELD)
    ended = kept.get("ended") if isinstance(kept, dict) else None
    who = turn.message.name or str(turn.message.role)
    calls = [f"`{call.name}` `{call.arguments}`" for call in turn.message.tool_calls]
    said = "\n\n".join(filter(None, [turn.message.text, *calls]))
    return f"\n**{who}** ({turn.at:%Y-%m-%d %H:%M}{f', {ended}' if ended else ''})\n\n{said}\n"


def _dollars(amount: float | None) -> str:
    return "unknown" if amount is None else f"{amount:.4f}"


COMMANDS = [cost, export]
