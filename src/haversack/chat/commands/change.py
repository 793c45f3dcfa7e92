"""`/remember`, `/forget`, `/compact`, `/expand`: what a person changes in passing."""

from __future__ import annotations

from typing import Any

import click

from haversack.chat.behind import count_compactions
from haversack.chat.options import as_json, first_words, one_line, shown
from haversack.chat.screen import printable
from haversack.chat.talk import Talk
from haversack.errors import ServiceError
from haversack.model.memory import Kind

__all__ = ["COMMANDS"]

_SHOWN = 20


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--kind", default="fact", show_default=True, metavar="KIND", help=f"One of {', '.join(Kind)}.")
@click.option("--importance", type=float, default=0.5, show_default=True, help="From 0 to 1.")
@click.option("--tag", "tags", multiple=True, help="A tag; may be given several times.")
@click.option("--entity", "entities", multiple=True, help="A person, place or thing it is about.")
@click.option("--pin", "pinned", is_flag=True, help="Always carried, before anything else.")
@click.option("--supersedes", metavar="ID", help="The memory that this one replaces.")
@as_json
@click.pass_obj
def remember(talk: Talk, words: tuple[str, ...], *, as_json: bool, **details: Any) -> None:
    """Keep one thing for good. Words need no quotes.

    \b
    Example:
      /remember Alice prefers metric units --importance 0.8 --entity Alice
    """
    given = {name: value for name, value in details.items() if value not in (None, (), False)}
    kept = talk.ns.remember(" ".join(words), **given)
    if not shown(talk, as_json, kept):
        talk.screen.text(f"{kept.id}  {kept.kind}  {first_words(kept)}")


@click.command()
@click.argument("memory_ids", nargs=-1, required=True, metavar="ID...")
@click.option("--hard", is_flag=True, help="For good: gone from every file of the store, with what was derived.")
@click.option("--execute", is_flag=True, help="Do it; without this the command only previews.")
@as_json
@click.pass_obj
def forget(talk: Talk, memory_ids: tuple[str, ...], *, hard: bool, execute: bool, as_json: bool) -> None:
    """Forget memories.

    Previews unless --execute is given. A soft forget can be undone by `haversack restore-memory`.

    \b
    Examples:
      /forget 01J9ZK3V6W8X4Y2T5R7Q0M1N2P
      /forget 01J9ZK3V6W8X4Y2T5R7Q0M1N2P --hard --execute
    """
    done = talk.ns.forget(memory_ids, hard=hard, preview=not execute)
    if execute:
        talk.last = None
    if shown(talk, as_json, done):
        return
    talk.screen.text(printable(str(done)))
    for memory_id in (*done.memories, *done.derived)[:_SHOWN]:
        talk.screen.text(f"  {memory_id}")
    if not execute:
        talk.screen.note("a preview: add --execute to do it")


@click.command()
@click.option("--to-free", type=click.IntRange(min=1), help="Tokens to free; by default all that is old.")
@as_json
@click.pass_obj
def compact(talk: Talk, to_free: int | None, *, as_json: bool) -> None:
    """Put a summary in place of old turns in prompts.

    The turns stay stored and recallable, and /expand shows them.

    \b
    Example:
      /compact
    """
    result = talk.session.compact(to_free=to_free)
    if not shown(talk, as_json, result):
        talk.screen.text(
            f"{result.outcome}: {result.turns_summarized} turns behind a summary, {result.results_cleared} tool "
            f"results cleared, {result.tokens_before} -> {result.tokens_after} tokens"
        )
        if result.summary:
            talk.screen.text(f"summary {result.summary} (/expand {result.summary})")
        for reason in result.reasons:
            talk.screen.text(f"  {printable(reason)}")
    talk.compacted = count_compactions(talk)
    if result.errors:
        raise ServiceError(one_line("; ".join(result.errors)))


@click.command()
@click.argument("name", metavar="ID")
@click.option("--reopen", is_flag=True, help="The summary stops standing for them: prompts show the turns again.")
@as_json
@click.pass_obj
def expand(talk: Talk, name: str, *, reopen: bool, as_json: bool) -> None:
    """Show the turns that a summary stands for.

    As they were said; ID may also be a tool result that was cleared.

    \b
    Example:
      /expand 01J9ZK3V6W8X4Y2T5R7Q0M1N2P --reopen
    """
    turns = talk.session.expand(name, reopen=reopen)
    if not shown(talk, as_json, turns):
        rows = [(turn.position, turn.at, str(turn.message.role), printable(turn.message.text)) for turn in turns]
        talk.screen.table(("#", "at", "who", "said"), rows)


COMMANDS = [remember, forget, compact, expand]
