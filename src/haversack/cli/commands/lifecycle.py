"""`lifecycle` and `reorganize`: what maintenance would do to a namespace, then the act; runs and undoing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import yaml

from haversack.cli import show
from haversack.cli.options import Place, place
from haversack.engine.namespace import Namespace
from haversack.errors import InputError
from haversack.lifecycle.policy import Policy
from haversack.maintenance.recover import Recovery

__all__ = ["COMMANDS"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_SHOWN = 20


def _runs(command: _Command) -> _Command:
    """Options about runs that were: --runs, --recover, --undo."""
    listing = click.option("--runs", "list_runs", is_flag=True, help="List the namespace's maintenance runs.")
    undoing = click.option("--undo", metavar="RUN", help="Put back what a run changed.")
    recovering = click.option("--recover", metavar="RUN", help="Reconcile an interrupted run from its journal.")
    return listing(undoing(recovering(command)))


@click.command()
@click.option("--execute", is_flag=True, help="Do it; without this the command only previews.")
@click.option("--stats", is_flag=True, help="Count stages, growth and duplicates instead.")
@click.option("--flush", is_flag=True, help="First count noted uses into the memories (--execute always does).")
@click.option("--policy", "policy_file", type=click.Path(exists=True, dir_okay=False), help="Set the policy from YAML.")
@click.option("--show-policy", is_flag=True, help="Print the policy in force.")
@_runs
@place
def lifecycle(  # noqa: PLR0913 - its options
    place: Place,
    *,
    execute: bool,
    stats: bool,
    flush: bool,
    policy_file: str | None,
    show_policy: bool,
    list_runs: bool,
    undo: str | None,
    recover: str | None,
) -> None:
    """Promote, fade, revive, end and erase what is due by the namespace's policy. Previews unless --execute is given.

    \b
    Examples:
      haversack lifecycle --namespace alice
      haversack lifecycle --namespace alice --execute
      haversack lifecycle --policy policy.yaml
      haversack lifecycle --undo 01J9ZK3V6W8X4Y2T5R7Q0M1N2P
    """
    with place.open_namespace() as ns:
        if _told_of_runs(place, ns, list_runs=list_runs, undo=undo, recover=recover):
            return
        if policy_file is not None or show_policy:
            _policy(place, ns, policy_file)
            return
        if stats:
            health = ns.maintenance.health()
            _tell(place, health, [f"{name}: {value}" for name, value in _fields(health).items()])
            return
        done = ns.maintenance.lifecycle(execute=execute, flush=flush)
    lines = [str(done)]
    shown = done.transitions[:_SHOWN]
    lines += [f"  {each.memory}  {each.action} ({each.reason}, strength {each.strength:.2f})" for each in shown]
    _tell(place, done, lines, left=len(done.transitions) - _SHOWN, preview=done.preview)


@click.command()
@click.option("--execute", is_flag=True, help="Do it; without this the command only previews.")
@click.option("--step", "steps", multiple=True, metavar="STEP", help="Only this step; may be given more than once.")
@_runs
@place
def reorganize(
    place: Place,
    *,
    execute: bool,
    steps: tuple[str, ...],
    list_runs: bool,
    undo: str | None,
    recover: str | None,
) -> None:
    """Back up, analyze, dedupe, prune, synthesize and verify a namespace. Previews unless --execute is given.

    Nothing is destroyed: duplicates are kept behind what they repeat, what ended is softly deleted, and --undo puts
    everything back.

    \b
    Examples:
      haversack reorganize --namespace alice
      haversack reorganize --namespace alice --step dedupe --execute
      haversack reorganize --recover 01J9ZK3V6W8X4Y2T5R7Q0M1N2P
    """
    with place.open_namespace() as ns:
        if _told_of_runs(place, ns, list_runs=list_runs, undo=undo, recover=recover):
            return
        done = ns.maintenance.reorganize(steps=steps or None, execute=execute)
    what = done.decision
    lines = [str(done), *(f"  {name}: {count}" for name, count in what.analysis.items())]
    lines += [f"  hide {each.hide} behind {each.keep} ({each.similarity:.2f})" for each in what.duplicates[:_SHOWN]]
    lines += [f"  end {each.memory} ({each.reason})" for each in what.pruned[:_SHOWN]]
    for each in what.syntheses[:_SHOWN]:
        lines.append(f"  sum up {len(each.memory.source.memories)} statements about {show.one_line(each.about)}")
    lines += [f"backup: {done.backup}"] if done.backup else []
    lines += [f"{len(done.left)} memories were changed meanwhile and left alone"] if done.left else []
    lines += [f"run {done.run}: --undo takes it back"] if done.run else []
    _tell(place, done, lines, preview=done.preview)


def _told_of_runs(place: Place, ns: Namespace, *, list_runs: bool, undo: str | None, recover: str | None) -> bool:
    """Whether the command was about runs that were, and has answered."""
    if sum((list_runs, undo is not None, recover is not None)) > 1:
        raise InputError("give only one of --runs, --undo and --recover")
    if list_runs:
        found = ns.maintenance.runs()
        if place.as_json:
            show.json_line(found)
            return True
        rows = [(run.id, run.verb, run.state, run.started_at, run.steps, sum(run.counts.values())) for run in found]
        show.table(("run", "verb", "state", "started", "steps", "touched"), rows, empty="no runs yet")
        return True
    if undo is not None:
        _recovered(place, ns.maintenance.undo(undo))
    elif recover is not None:
        _recovered(place, ns.maintenance.recover(recover))
    return undo is not None or recover is not None


def _recovered(place: Place, found: Recovery) -> None:
    lines = [
        f"run {found.run.id} ({found.run.verb}) is {found.run.state}: {found.steps} steps had landed, each whole",
        f"{found.standing} memories were as it left them, {len(found.changed_since)} were changed since",
    ]
    lines += [f"{len(found.restored)} memories are as they were before"] if found.restored else []
    lines += [f"{len(found.erased)} memories are gone for good"] if found.erased else []
    lines += [f"removed {name}" for name in found.removed]
    _tell(place, found, [*lines, *([found.advice] if found.advice else [])])


def _policy(place: Place, ns: Namespace, file: str | None) -> None:
    policy = ns.maintenance.policy()
    if file is not None:
        try:
            settings = yaml.safe_load(Path(file).read_text("utf-8-sig"))
        except (UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
            raise InputError(f"{file} cannot be read as YAML: {error}") from None
        if not isinstance(settings, dict):
            raise InputError(f"{file} must hold settings of a policy")
        policy = ns.maintenance.set_policy(settings)  # pyright: ignore[reportUnknownArgumentType] - checked there
    _tell(place, policy, _policy_lines(policy))


def _policy_lines(policy: Policy) -> list[str]:
    values = {**_fields(policy), "decay": ""}
    lines = [f"{name}: {value}" for name, value in values.items() if name not in {"decay", "dedup"}]
    lines += [f"decay.{name}: {value}" for name, value in _fields(policy.decay).items()]
    return lines + [f"dedup.{name}: {value}" for name, value in _fields(policy.dedup).items()]


def _fields(value: object) -> dict[str, Any]:
    names: tuple[str, ...] = tuple(getattr(value, "__dataclass_fields__", ()))
    return {name: _plain(getattr(value, name)) for name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, frozenset):
        return ", ".join(sorted(value))  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, tuple):
        return ", ".join(map(str, value))  # pyright: ignore[reportUnknownArgumentType]
    return ", ".join(f"{key} {item:g}" for key, item in value.items()) if hasattr(value, "keys") else value


def _tell(place: Place, value: object, lines: list[str], *, left: int = 0, preview: bool = False) -> None:
    if place.as_json:
        show.json_line(value)
        return
    for line in lines:
        show.text(line)
    if left > 0:
        show.text(f"  and {left} more (--json lists all)")
    if preview:
        show.note("a preview: add --execute to do it")


COMMANDS = [lifecycle, reorganize]
