"""`forget` and `restore-memory`: a preview with exact counts first, then the act."""

from __future__ import annotations

from typing import Any

import click

from haversack.cli import show
from haversack.cli.options import Conditions, Place, conditions, confirmed, place
from haversack.engine.forgetting import Forgotten
from haversack.engine.haversack import Haversack
from haversack.errors import InputError

__all__ = ["COMMANDS"]


@click.command()
@click.argument("memory_ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--hard", is_flag=True, help="For good: gone from every file of the store, with what was derived from it."
)
@click.option("--snapshots", is_flag=True, help="With --hard: from the store's snapshots too, which are rewritten.")
@click.option("--all", "everything", is_flag=True, help="The whole namespace.")
@click.option("--execute", is_flag=True, help="Do it; without this the command only previews.")
@click.option("--yes", is_flag=True, help="Do not ask before a hard forget.")
@conditions
@place
def forget(
    place: Place,
    chosen: Conditions,
    memory_ids: tuple[str, ...],
    *,
    hard: bool,
    snapshots: bool,
    everything: bool,
    execute: bool,
    yes: bool,
) -> None:
    """Forget memories by ID, by filter, or --all. Previews unless --execute is given.

    A soft forget hides memories until `restore-memory`. With --hard they are erased, and so are the session turns
    that hold their words and everything derived from them. Snapshots that may still hold them are named.

    \b
    Examples:
      haversack forget 01J9ZK3V6W8X4Y2T5R7Q0M1N2P
      haversack forget --session 2026-03-02 --hard --execute
    """
    if not (memory_ids or everything or chosen.given()):
        raise click.UsageError("say what to forget: IDs, filters, or --all")
    if everything and (memory_ids or chosen.given()):
        raise click.UsageError("--all is everything: leave it out to forget by IDs or filters")
    if snapshots and not hard:
        raise InputError("--snapshots goes with --hard: a soft forget can be undone, and leaves snapshots as they are")
    request: dict[str, Any] = {"hard": hard, "everything": everything, **chosen.given()}
    with place.open() as sack:
        ns = sack.namespace(place.namespace)
        planned = ns.forget(memory_ids or None, preview=True, **request)
        if not execute:
            _tell(place, planned)
            return
        if hard and not confirmed(f"{planned}. This cannot be undone. Go on?", yes=yes):
            _tell(place, planned, "nothing was forgotten: a hard forget asks first; --yes answers for scripts")
            raise click.exceptions.Exit(1)
        done = ns.forget(memory_ids or None, **request)
        if snapshots:
            done = sack.maintenance.forget_in_snapshots(done)
        _tell(place, done)
        if hard:
            _tell_of_snapshots(sack, done)


@click.command("restore-memory")
@click.argument("memory_ids", nargs=-1, required=True, metavar="ID...")
@place
def restore_memory(place: Place, memory_ids: tuple[str, ...]) -> None:
    """Undo a soft forget.

    \b
    Example:
      haversack restore-memory 01J9ZK3V6W8X4Y2T5R7Q0M1N2P
    """
    with place.open_namespace() as ns:
        back = ns.restore(memory_ids)
    if place.as_json:
        show.json_line(back)
    else:
        show.text(f"restored {len(back)} memories")


def _tell_of_snapshots(sack: Haversack, done: Forgotten) -> None:
    for each in done.rewritten or ():
        show.note(
            f"{each.path}: rewritten without {each.memories} memories and {each.turns} session turns,"
            f" now {each.after[:16]}…"
        )
    for each in sack.maintenance.still_holding(done):
        show.note(f"{each.path} may hold it until it is removed; `--snapshots` rewrites snapshots as well")
    show.note(f"certificate {done.certificate}")


def _tell(place: Place, outcome: Forgotten, of_preview: str = "a preview: add --execute to do it") -> None:
    if place.as_json:
        show.json_line(outcome)
        return
    show.text(str(outcome))
    for memory_id in (*outcome.memories, *outcome.derived)[:20]:
        show.text(f"  {memory_id}")
    if (left := len(outcome.memories) + len(outcome.derived) - 20) > 0:
        show.text(f"  and {left} more (--json lists all)")
    if outcome.preview:
        show.note(of_preview)


COMMANDS = [forget, restore_memory]
