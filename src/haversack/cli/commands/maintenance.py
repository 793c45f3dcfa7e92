"""`snapshot`, `restore`, `migrate` and `reset`: the store as a whole. All preview until told to act."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from haversack.cli import show
from haversack.cli.commands.backup import is_backup, restore_from
from haversack.cli.harmless import harmless
from haversack.cli.options import Place, confirmed, place
from haversack.clock import utc_now
from haversack.config import read_key_file
from haversack.engine.haversack import Haversack
from haversack.errors import InputError, NotFoundError
from haversack.maintenance import restore as restoring
from haversack.maintenance.move import Moved
from haversack.maintenance.snapshot import Snapshot
from haversack.maintenance.snapshot import verify as verify_snapshot
from haversack.store.site import Site
from haversack.wiring import open_haversack, site_of
from haversack.wiring import rekey as write_anew

__all__ = ["COMMANDS"]

_FILE = click.Path(path_type=Path)


@click.command()
@click.option("--to", type=_FILE, help="File or folder; by default STORE.snapshots beside the store.")
@click.option("--only", metavar="NAMESPACE", help="One namespace alone.")
@click.option("--execute", is_flag=True, help="Take it; without this the command says where it would go.")
@click.option("--list", "list_", is_flag=True, help="List the snapshots that are known.")
@click.option("--verify", type=_FILE, metavar="FILE", help="Read a snapshot whole, compare and open it.")
@click.option("--scheduled", is_flag=True, help="Take one only if it is due, and remove those that need not be kept.")
@click.option("--every", type=click.FloatRange(min=0, min_open=True), metavar="HOURS", help="Set the schedule.")
@click.option("--keep", nargs=3, type=int, metavar="LAST DAILY WEEKLY", help="Set how many scheduled ones are kept.")
@place
def snapshot(  # noqa: PLR0913 - its options
    place: Place,
    *,
    to: Path | None,
    only: str | None,
    execute: bool,
    list_: bool,
    verify: Path | None,
    scheduled: bool,
    every: float | None,
    keep: tuple[int, int, int] | None,
) -> None:
    """Take a consistent, verified copy of the store in one file, while others go on writing.

    A timer that runs `haversack snapshot --scheduled` keeps the schedule.

    \b
    Examples:
      haversack snapshot --execute
      haversack snapshot --only alice --to /backup --execute
      haversack snapshot --every 24 --keep 7 7 4
    """
    if verify is not None:
        site = site_of(place.store, config=place.config)
        if site is None:
            raise InputError(f"{place.shown} has no files: name a store by --store, whose key opens the snapshot")
        manifest = verify_snapshot(site, verify)
        _tell(place, manifest, [f"{verify} is whole: taken {manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC"])
        return
    with place.open() as sack:
        if list_:
            _list(place, sack.maintenance.snapshots())
        elif every is not None or keep is not None:
            _schedule(place, sack, every, keep)
        elif scheduled:
            taken = sack.maintenance.keep_schedule()
            _tell(place, taken, [_taken(taken) if taken is not None else "none is due"])
        elif execute:
            taken = sack.maintenance.snapshot(to, namespace=only)
            _tell(place, taken, [_taken(taken)])
        else:
            planned = sack.maintenance.plan_snapshot(to, namespace=only)
            what = (
                f"would copy {len(planned.namespaces)} namespaces, at most {planned.bytes:,} bytes, to {planned.target}"
            )
            _tell(place, planned, [what], preview=True)


@click.command()
@click.argument("file", type=_FILE, required=False)
@click.option("--to", type=_FILE, help="A new place, instead of the present store's.")
@click.option("--only", metavar="NAMESPACE", help="One namespace, into the present store, which must not have it.")
@click.option("--execute", is_flag=True, help="Do it; without this the command only previews.")
@click.option("--confirm", is_flag=True, help="Remove the store that the last restore replaced.")
@click.option("--roll-back", is_flag=True, help="Put the store that the last restore replaced back in its place.")
@place
def restore(
    place: Place,
    *,
    file: Path | None,
    to: Path | None,
    only: str | None,
    execute: bool,
    confirm: bool,
    roll_back: bool,
) -> None:
    """Restore a snapshot FILE. It is verified first; the store that it replaces is kept until --confirm.

    FILE may also be a namespace's backup: that goes into the present store, under its own name or that of --only.

    \b
    Examples:
      haversack restore haversack.db.snapshots/haversack-20261129T120000Z-0abc12.snapshot
      haversack restore FILE --execute
      haversack restore FILE --to other.db --execute
      haversack restore FILE --only alice --execute
    """
    site = _site(place)
    if confirm or roll_back:
        path = restoring.confirm(site) if confirm else restoring.roll_back(site, utc_now())
        _tell(place, {"path": str(path)}, [f"removed {path}" if confirm else f"back in place; the other one is {path}"])
        return
    if file is None:
        raise InputError("name the snapshot's FILE, or give --confirm or --roll-back")
    if is_backup(file):
        restore_from(place, file, only, execute=execute)
        return
    if only is not None:
        _restore_namespace(place, file, only, execute=execute)
        return
    if not execute:
        done = restoring.plan(site, file, to)
    else:
        done = restoring.restore_over(site, file, utc_now()) if to is None else restoring.restore_beside(site, file, to)
    lines = [str(done)]
    if done.kept is not None:
        lines.append(f"the present store {'would be' if done.preview else 'is'} kept at {done.kept} until --confirm")
    _tell(place, done, lines, preview=done.preview)


@click.command()
@click.option("--to", metavar="STORE", help="Copy everything into this new store instead.")
@click.option("--only", "names", multiple=True, metavar="NAMESPACE", help="Only this namespace; may be repeated.")
@click.option("--execute", is_flag=True, help="Do it; without this the command only previews.")
@place
def migrate(place: Place, *, to: str | None, names: tuple[str, ...], execute: bool) -> None:
    """Bring the schema up to date, or copy the store to another place or back-end with --to.

    A copy is compared by counts and hashes at the end; one that was interrupted goes on when it is asked for again.

    \b
    Examples:
      haversack migrate
      haversack migrate --to other.db --execute
    """
    if to is None:
        _schema(place, execute=execute)
        return
    with place.open() as sack:
        chosen = list(names) or None
        if not execute:
            _moved(place, sack.maintenance.copy_to(sack.maintenance, chosen), to, preview=True)
            return
        with open_haversack(to, config=place.config) as target:
            _moved(place, sack.maintenance.copy_to(target.maintenance, chosen, execute=True, watch=_watch), to)


@click.command()
@click.option("--all", "everything", is_flag=True, help="Every namespace of the store.")
@click.option("--execute", is_flag=True, help="Do it; without this the command only previews.")
@click.option("--confirm", metavar="NAME", help="The namespace's name (with --all, the store's file name), typed out.")
@click.option("--no-snapshot", is_flag=True, help="Take no snapshot before; then nothing is left anywhere.")
@place
def reset(place: Place, *, everything: bool, execute: bool, confirm: str | None, no_snapshot: bool) -> None:
    """Erase a whole namespace for good. Previews unless --execute is given; then its name has to be typed.

    \b
    Examples:
      haversack reset --namespace alice
      haversack reset --namespace alice --execute --confirm alice
    """
    with place.open() as sack:
        names = None if everything else [place.namespace]
        planned = sack.maintenance.reset(names)
        if not execute:
            lines = [str(planned), f"to do it: --execute --confirm {planned.confirm!r}"]
            _tell(place, planned, lines, preview=True)
            return
        if confirm is None and confirmed(f"{planned}. Erase it?", yes=False):
            confirm = click.prompt(harmless(f"Type {planned.confirm} to confirm", sys.stdout))
        done = sack.maintenance.reset(names, execute=True, confirm=confirm, snapshot=not no_snapshot)
    lines = [str(done)]
    lines += [f"a snapshot still holds everything: {done.snapshot}"] if done.snapshot else []
    _tell(place, done, lines)


@click.command()
@click.option("--new-key-file", type=_FILE, metavar="FILE", help="The new key; the present one is where settings say.")
@click.option("--decrypt", is_flag=True, help="Take the encryption away instead.")
@click.option("--execute", is_flag=True, help="Do it; without this the command only previews.")
@place
def rekey(place: Place, *, new_key_file: Path | None, decrypt: bool, execute: bool) -> None:
    """Encrypt the store, give it another key, or take its encryption away. Every program must have closed it.

    The store is written anew under the new key, compared, and put in place in one step. Snapshots keep the key that
    they were taken under: take a new one, and remove those that nobody should open any more.

    \b
    Examples:
      haversack rekey --new-key-file new.key --execute
      HAVERSACK_ENCRYPTION__KEY_FILE=old.key haversack rekey --new-key-file new.key --execute
    """
    if (new_key_file is None) == (not decrypt):
        raise InputError("give --new-key-file FILE, or --decrypt")
    new_key = None if new_key_file is None else read_key_file(new_key_file)
    site = _site(place)
    if site.schema(site.path) == 0:
        raise NotFoundError(f"there is no store at {place.shown}")
    what = "without encryption" if new_key is None else f"under the key in {new_key_file}"
    if not execute:
        _tell(place, {"store": place.shown, "preview": True}, [f"would write {place.shown} anew {what}"], preview=True)
        return
    rows = write_anew(place.store, new_key=new_key, config=place.config)
    lines = [f"{place.shown} is written {what}: {sum(rows.values())} rows", "snapshots keep the key that they had"]
    _tell(place, {"store": place.shown, "preview": False, "rows": rows}, lines)


def _site(place: Place) -> Site:
    site = site_of(place.store, config=place.config)
    if site is None:
        raise InputError(f"{place.shown} has no files to restore")
    return site


def _restore_namespace(place: Place, file: Path, only: str, *, execute: bool) -> None:
    planned = restoring.plan(_site(place), file)
    if only not in planned.manifest.namespaces:
        raise NotFoundError(f"{file} holds no namespace {only!r}")
    if not execute:
        chosen = {only: planned.manifest.namespaces[only]}
        shown = replace(planned, manifest=replace(planned.manifest, namespaces=chosen), replaced={}, kept=None)
        _tell(place, shown, [str(shown)], preview=True)
        return
    with place.open(create=True) as sack:
        moved = sack.maintenance.restore_namespace(file, only)
    _tell(place, moved, [f"restored {moved.memories} memories and {moved.turns} turns of {only}"])


def _schema(place: Place, *, execute: bool) -> None:
    site = _site(place)
    found, newest = site.schema(site.path), site.newest_schema
    if found == 0:
        raise NotFoundError(f"there is no store at {place.shown}")
    if execute and found < newest:
        site.open(site.path).close()
    done = execute and found < newest
    lines = [f"schema {found}, and {newest} is the newest" if found < newest else f"schema {found} is the newest"]
    lines += ["brought up to date; a copy of the old one stands beside it"] if done else []
    _tell(place, {"schema": found, "newest": newest, "migrated": done}, lines, preview=found < newest and not execute)


def _list(place: Place, found: list[Snapshot]) -> None:
    if place.as_json:
        show.json_line([{**_record(each)} for each in found])
        return
    rows: list[tuple[object, ...]] = []
    for each in found:
        about = each.manifest
        rows.append((each.path, about.taken_at, each.size, about.only or "all", about.reason))
    show.table(("file", "taken", "bytes", "holds", "why"), rows, empty="no snapshots yet")


def _record(snapshot: Snapshot) -> dict[str, object]:
    return {"path": str(snapshot.path), "size": snapshot.size, "manifest": snapshot.manifest}


def _schedule(place: Place, sack: Haversack, every: float | None, keep: tuple[int, int, int] | None) -> None:
    schedule = sack.maintenance.schedule()
    if every is not None:
        schedule = replace(schedule, every_hours=every)
    if keep is not None:
        last, daily, weekly = keep
        schedule = replace(schedule, keep_last=last, keep_daily=daily, keep_weekly=weekly)
    sack.maintenance.set_schedule(schedule)
    what = (
        f"every {schedule.every_hours:g} hours; keeps the last {schedule.keep_last}, {schedule.keep_daily} daily and "
        f"{schedule.keep_weekly} weekly ones"
    )
    _tell(place, schedule, [what])


def _taken(snapshot: Snapshot) -> str:
    names = len(snapshot.manifest.namespaces)
    return f"{snapshot.path}: {names} namespaces, {snapshot.size:,} bytes, verified"


def _moved(place: Place, moved: list[Moved], to: str, *, preview: bool = False) -> None:
    verb = "would copy" if preview else "copied"
    memories, turns = sum(each.memories for each in moved), sum(each.turns for each in moved)
    lines = [f"{verb} {memories} memories and {turns} turns to {to}"]
    lines += [] if preview else [f"  {each.namespace or '(keys, audit)'}: sha256 {each.sha256}" for each in moved]
    _tell(place, moved, lines, preview=preview)


def _watch(what: str, count: int) -> None:
    show.progress_note(f"{count} {what}")


def _tell(place: Place, value: object, lines: list[str], *, preview: bool = False) -> None:
    if place.as_json:
        show.json_line(_record(value) if isinstance(value, Snapshot) else value)
        return
    for line in lines:
        show.text(line)
    if preview:
        show.note("a preview: add --execute to do it")


COMMANDS = [snapshot, restore, migrate, reset, rekey]
