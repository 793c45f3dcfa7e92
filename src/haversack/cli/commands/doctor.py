"""`doctor`: what is wrong with a store, what helps, and the mending of what can be mended without loss."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from haversack.cli import show
from haversack.cli.options import Place, place
from haversack.engine.haversack import Haversack
from haversack.errors import ConfigError, InputError, MissingExtraError, StoreError
from haversack.maintenance.health import Health
from haversack.store.fault import Fault
from haversack.store.site import Site
from haversack.wiring import open_haversack, site_of

__all__ = ["COMMANDS"]

_COLUMNS = {
    "namespace": "namespace",
    "memories": "memories",
    "added_last_week": "new in 7 d",
    "duplicates": "duplicates",
    "decayed": "faded",
    "trimmed": "trimmed",
    "deleted": "forgotten",
    "superseded": "superseded",
    "unembedded": "no vector",
}
"""Counts of a namespace's health, and their headings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    store: str
    sound: bool
    faults: tuple[Fault, ...]
    mended: tuple[str, ...]
    health: Health | None


@click.command()
@click.option("--fix", is_flag=True, help="Mend what can be mended without losing anything.")
@click.option("--salvage", type=click.Path(path_type=Path), metavar="NEW", help="Copy all that can be read to NEW.")
@place
def doctor(place: Place, *, fix: bool, salvage: Path | None) -> None:
    """Examine a store, also one that does not open: files, rows, runs, snapshots. Exit code 1 when it is not sound.

    \b
    Examples:
      haversack doctor
      haversack doctor --fix
      haversack doctor --salvage rescued.db
    """
    site = site_of(place.store, config=place.config)
    if site is None:
        raise InputError(f"{place.shown} has no files to examine")
    if salvage is not None:
        saved = site.salvage(salvage)
        if place.as_json:
            show.json_line(saved)
            return
        show.text(f"copied {saved.rows} rows to {salvage}")
        for table in saved.lost_tables:
            show.text(f"  part of {table} could not be read")
        return
    mended = _mended(place, site) if fix else ()
    report = _examined(place, list(site.examine()), mended)
    if place.as_json:
        show.json_line(report)
    else:
        _print(report)
    if not report.sound:
        raise click.exceptions.Exit(1)


def _mended(place: Place, site: Site) -> tuple[str, ...]:
    if any(fault.severe and not fault.mends for fault in site.examine()):
        return ()  # what helps then stands in the report
    done = site.mend()
    with open_haversack(place.store, embedder="none", config=place.config) as sack:
        done += [
            f"closed run {each.run.id}, which was interrupted: {each.advice}" for each in sack.maintenance.reconcile()
        ]
    return tuple(done)


def _examined(place: Place, faults: list[Fault], mended: tuple[str, ...]) -> _Report:
    """Also from inside, where the files allow it to be opened."""
    health: Health | None = None
    if not any(fault.severe for fault in faults):
        try:
            with _opened(place) as sack:
                health = sack.maintenance.health()
        except StoreError as error:
            faults.append(Fault(code="unreadable", what=str(error), helps="restore the last snapshot"))
    found = tuple(faults) if health is None else health.faults
    return _Report(
        store=place.shown,
        sound=not any(fault.severe for fault in found),
        faults=found,
        mended=mended,
        health=health,
    )


def _opened(place: Place) -> Haversack:
    """With the settings' embedder, whose vectors are counted; with none where it cannot be had."""
    try:
        return open_haversack(place.store, config=place.config, read_only=True)
    except (ConfigError, MissingExtraError):
        return open_haversack(place.store, embedder="none", config=place.config, read_only=True)


def _print(report: _Report) -> None:
    for line in report.mended:
        show.text(f"mended: {line}")
    for fault in report.faults:
        show.text(f"{'FAULT' if fault.severe else 'untidy'} ({fault.code}): {fault.what}")
        show.text(f"       {fault.helps}")
    health = report.health
    if health is not None:
        rows = [tuple(getattr(each, name) for name in _COLUMNS) for each in health.namespaces]
        show.table(list(_COLUMNS.values()), rows, empty="the store is empty")
        for advice in health.advice:
            show.text(f"{advice.what}: {advice.helps}")
        last = "never" if health.last_snapshot is None else f"{health.last_snapshot:%Y-%m-%d %H:%M} UTC"
        show.text(f"schema {health.schema}, {health.size or 0:,} bytes, last snapshot {last}")
    show.text("sound" if report.sound else "not sound")


COMMANDS = [doctor]
