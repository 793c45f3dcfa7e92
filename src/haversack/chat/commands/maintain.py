"""Keeping the memory healthy. What changes something previews, unless an exact `--execute` stands there."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from haversack.chat.behind import before_maintenance
from haversack.chat.options import as_json, one_line, shown
from haversack.chat.screen import printable
from haversack.chat.talk import Talk, choose_session
from haversack.clock import utc_now
from haversack.errors import HaversackError
from haversack.maintenance.health import NamespaceHealth

__all__ = ["COMMANDS"]

_SHOWN = 20
_execute = click.option("--execute", is_flag=True, help="Do it; without this the command only previews.")


@click.command()
@_execute
@as_json
@click.pass_obj
def lifecycle(talk: Talk, *, execute: bool, as_json: bool) -> None:
    """Promote, fade, revive and end what is due.

    By the age and use of memories, and the policy in force.

    \b
    Examples:
      /lifecycle
      /lifecycle --execute
    """
    done = talk.ns.maintenance.lifecycle(execute=execute)
    if not shown(talk, as_json, done):
        lines = [f"  {each.memory}  {each.action} ({each.reason})" for each in done.transitions[:_SHOWN]]
        _tell(talk, [str(done), *lines], preview=done.preview)


@click.command()
@click.option("--step", "steps", multiple=True, metavar="STEP", help="Only this step; may be given more than once.")
@_execute
@as_json
@click.pass_obj
def reorganize(talk: Talk, steps: tuple[str, ...], *, execute: bool, as_json: bool) -> None:
    """Dedupe, prune and sum up what is remembered here.

    After a backup, and verified at the end; nothing is destroyed.

    \b
    Examples:
      /reorganize
      /reorganize --execute
    """
    if execute:
        before_maintenance(talk)
    done = talk.ns.maintenance.reorganize(steps=steps or None, execute=execute)
    if shown(talk, as_json, done):
        return
    what = done.decision
    lines = [str(done), *(f"  {name}: {count}" for name, count in what.analysis.items())]
    lines += [f"  hide {each.hide} behind {each.keep} ({each.similarity:.2f})" for each in what.duplicates[:_SHOWN]]
    lines += [f"  end {each.memory} ({each.reason})" for each in what.pruned[:_SHOWN]]
    lines += [f"  sum up what is said of {one_line(each.about)}" for each in what.syntheses[:_SHOWN]]
    lines += [f"backup: {done.backup}"] if done.backup else []
    lines += [f"run {done.run}: `haversack reorganize --undo {done.run}` takes it back"] if done.run else []
    _tell(talk, lines, preview=done.preview)


@click.command()
@click.option("--to", metavar="STORE", help="Copy everything into this new store.")
@_execute
@as_json
@click.pass_obj
def migrate(talk: Talk, to: str | None, *, execute: bool, as_json: bool) -> None:
    """Tell the store's schema, or copy the store.

    \b
    Examples:
      /migrate
      /migrate --to other.db --execute
    """
    if to is None:
        found, newest = talk.outside.schema()
        if not shown(talk, as_json, {"schema": found, "newest": newest}):
            _tell(talk, [f"schema {found}; {newest} is the newest: opening the store brought it up to date"])
        return
    with ExitStack() as stack:
        mine = talk.sack.maintenance
        target = stack.enter_context(talk.outside.open_store(to)).maintenance if execute else mine
        moved = mine.copy_to(target, execute=execute)
    if not shown(talk, as_json, moved):
        memories, turns = sum(each.memories for each in moved), sum(each.turns for each in moved)
        verb = "copied" if execute else "would copy"
        _tell(talk, [f"{verb} {memories} memories and {turns} turns to {printable(to)}"], preview=not execute)


@click.command()
@click.option("--to", type=click.Path(path_type=Path), help="A file or a folder; by default the store's own folder.")
@_execute
@as_json
@click.pass_obj
def snapshot(talk: Talk, to: Path | None, *, execute: bool, as_json: bool) -> None:
    """Take a verified copy of the whole store in one file.

    It holds private content.

    \b
    Examples:
      /snapshot
      /snapshot --execute
    """
    keeping = talk.sack.maintenance
    if not execute:
        planned = keeping.plan_snapshot(to)
        told = {"target": str(planned.target), "bytes": planned.bytes, "namespaces": planned.namespaces}
        if not shown(talk, as_json, told):
            names = len(planned.namespaces)
            _tell(talk, [f"would copy {names} namespaces to {printable(str(planned.target))}"], preview=True)
        return
    taken = keeping.snapshot(to)
    if not shown(talk, as_json, {"path": str(taken.path), "bytes": taken.size}):
        _tell(talk, [f"{taken.path}: {len(taken.manifest.namespaces)} namespaces, {taken.size:,} bytes, verified"])
    talk.screen.note("the snapshot holds private content: keep it as private as the store")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@_execute
@as_json
@click.pass_obj
def restore(talk: Talk, file: Path, *, execute: bool, as_json: bool) -> None:
    """Put a snapshot FILE in the place of this store.

    The present store is kept beside it, and the chat goes on in a new session.

    \b
    Examples:
      /restore haversack.db.snapshots/haversack-20261129T120000Z-0abc12.snapshot
      /restore before.snapshot --execute
    """
    planned = talk.outside.plan_restore(file)
    told = {"snapshot": str(file), "taken_at": planned.manifest.taken_at, "kept": str(planned.kept)}
    if not shown(talk, as_json, {**told, "preview": not execute}):
        lines = [str(planned)]
        lines += [f"the present store would be kept at {planned.kept}"] if planned.kept else []
        _tell(talk, lines, preview=not execute)
    if execute:
        talk.restore_from = file


@click.command()
@click.option("--confirm", metavar="NAME", help="The namespace's name, typed out.")
@click.option("--no-snapshot", is_flag=True, help="Take no snapshot before; then nothing is left anywhere.")
@_execute
@as_json
@click.pass_obj
def reset(talk: Talk, confirm: str | None, *, no_snapshot: bool, execute: bool, as_json: bool) -> None:
    """Erase everything that is remembered here, for good.

    This is no cure for poor recall: try /why and /doctor first.

    \b
    Examples:
      /reset
      /reset --execute --confirm alice
    """
    if execute:
        before_maintenance(talk)
    done = talk.ns.maintenance.reset(execute=execute, confirm=confirm, snapshot=not no_snapshot)
    if execute:
        talk.start_anew(choose_session(talk.ns, None, resume=False, now=utc_now()))
    if not shown(talk, as_json, done):
        lines = [str(done)]
        lines += [f"a snapshot still holds everything: {done.snapshot}"] if done.snapshot else []
        lines += [] if execute else [f"to do it: /reset --execute --confirm {printable(done.confirm)}"]
        _tell(talk, lines, preview=done.preview)


@click.command()
@as_json
@click.pass_obj
def doctor(talk: Talk, *, as_json: bool) -> None:
    """Examine the store, and say what helps.

    Faults of its files, growth, duplicates, unfinished runs.

    \b
    Example:
      /doctor --json
    """
    health = talk.sack.maintenance.health()
    if not shown(talk, as_json, health):
        lines = [
            f"{'FAULT' if fault.severe else 'untidy'} ({fault.code}): {fault.what}: {fault.helps}"
            for fault in health.faults
        ]
        _tell(talk, lines)
        columns = ("namespace", "memories", "new in 7 d", "duplicates", "faded", "trimmed", "forgotten")
        talk.screen.table(columns, [_counts(each) for each in health.namespaces], empty="the store is empty")
        last = "never" if health.last_snapshot is None else f"{health.last_snapshot:%Y-%m-%d %H:%M} UTC"
        advice = [f"{each.what}: {each.helps}" for each in health.advice]
        _tell(talk, [*advice, f"last snapshot {last}", "sound" if health.is_sound else "not sound"])
    if not health.is_sound:
        raise HaversackError("the store is not sound: `haversack doctor --fix` mends what can be mended")


def _counts(each: NamespaceHealth) -> tuple[object, ...]:
    name = printable(each.namespace)
    return (name, each.memories, each.added_last_week, each.duplicates, each.decayed, each.trimmed, each.deleted)


def _tell(talk: Talk, lines: Sequence[str], *, preview: bool = False) -> None:
    for line in lines:
        talk.screen.text(printable(line))
    if preview:
        talk.screen.note("a preview: add --execute to do it")


COMMANDS = [lifecycle, reorganize, migrate, snapshot, restore, reset, doctor]
