"""`/cost`, `/export`: what it took, and everything out again."""

from __future__ import annotations

from collections.abc import Iterator

import click

from haversack.chat.files import write_new
from haversack.chat.options import as_json, shown
from haversack.chat.spending import FIELD
from haversack.chat.talk import Talk
from haversack.model.memory import Turn

__all__ = ["COMMANDS"]


@click.command()
@as_json
@click.pass_obj
def cost(talk: Talk, *, as_json: bool) -> None:
    """Show what this session's answers took, by model: calls, tokens, and dollars where chat.prices knows the model.

    \b
    Example:
      /cost --json
    """
    by_model = talk.count_costs()
    if shown(talk, as_json, {"session": talk.session.id, "models": by_model, "total": talk.spent}):
        return
    rows = [
        (model, spent.calls, spent.input_tokens, spent.output_tokens, _dollars(spent.dollars), spent.estimated or "")
        for model, spent in sorted(by_model.items())
    ]
    talk.screen.table(("model", "calls", "input", "output", "dollars", "estimated"), rows, empty="no model was called")


@click.command()
@click.argument("file")
@click.option("--transcript", is_flag=True, help="Only this conversation, as Markdown.")
@as_json
@click.pass_obj
def export(talk: Talk, file: str, *, transcript: bool, as_json: bool) -> None:
    """Write everything that is remembered here to a new FILE as JSON lines (`haversack import` reads them).

    The file holds private content: keep it as private as the store.

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
