"""`keys`: who may do what over HTTP."""

from __future__ import annotations

from datetime import datetime, timedelta

import click

from haversack.cli import show
from haversack.cli.options import Place, place
from haversack.clock import utc_now
from haversack.engine.haversack import Haversack
from haversack.engine.keys import Issued, Key, Scope
from haversack.errors import InputError
from haversack.model.times import read_time

__all__ = ["COMMANDS"]

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


@click.group()
def keys() -> None:
    """Make, list, rotate and revoke the keys of the HTTP server.

    \b
    Examples:
      haversack keys create agent --scope write --for 'user-*' --expires 90d
      haversack keys rotate ID --grace 1h
    """


@keys.command()
@click.argument("name")
@click.option(
    "--scope", default=Scope.READ.value, show_default=True, metavar="SCOPE", help=f"One of {', '.join(Scope)}."
)
@click.option(
    "--for",
    "namespaces",
    multiple=True,
    metavar="PATTERN",
    help="A namespace, or PREFIX*; several allowed; all if none.",
)
@click.option("--expires", metavar="WHEN", help="A time (ISO 8601), or how long from now: 12h, 90d.")
@place
def create(place: Place, name: str, scope: str, namespaces: tuple[str, ...], expires: str | None) -> None:
    """Make a key and show its secret, this once.

    \b
    Example:
      haversack keys create agent --scope write --for alice
    """
    until = None if expires is None else _moment(expires)
    with place.open(create=True) as sack:
        issued = sack.keys.create(name, scope=scope, namespaces=namespaces or None, expires_at=until)
    _tell(place, issued)


@keys.command("list")
@place
def list_keys(place: Place) -> None:
    """Every key, revoked and expired ones included; never a secret.

    \b
    Example:
      haversack keys list --json
    """
    with place.open() as sack:
        found = sack.keys.all()
    if place.as_json:
        show.json_line(found)
        return
    columns = ("id", "name", "scope", "namespaces", "created", "expires", "state", "last used", "uses")
    show.table(columns, [_row(key) for key in found], empty="no keys yet")


@keys.command()
@click.argument("key_id", metavar="ID")
@click.option(
    "--grace", default="0s", show_default=True, help="How long the old key goes on working: 30m, 24h, up to 7d."
)
@place
def rotate(place: Place, key_id: str, grace: str) -> None:
    """A new key with the same rights in place of this one. ID may be a name, as for revoke.

    \b
    Example:
      haversack keys rotate mzxw6ytboi5dcmbr --grace 24h
    """
    with place.open() as sack:
        issued = sack.keys.rotate(_id_of(sack, key_id), grace=_span(grace))
    _tell(place, issued)


@keys.command()
@click.argument("key_id", metavar="ID")
@click.option("--with-children", is_flag=True, help="Also the keys that it made, and those that they made.")
@place
def revoke(place: Place, key_id: str, *, with_children: bool) -> None:
    """From now on the key opens nothing. ID may be the key's name, where only one live key has it.

    \b
    Examples:
      haversack keys revoke mzxw6ytboi5dcmbr --with-children
      haversack keys revoke "phone of Alice"
    """
    with place.open() as sack:
        chosen = _id_of(sack, key_id)
        revoked = sack.keys.revoke(chosen, children=with_children)
        left = [key for key in sack.keys.children(chosen) if key.is_live(utc_now())]
    for key in revoked:
        if place.as_json:
            show.json_line(key)
        else:
            show.text(f"revoked {key.id} ({key.name})")
    if left:
        show.note(f"{len(left)} keys that it made still open: revoke them as well by --with-children")


def _tell(place: Place, issued: Issued) -> None:
    if place.as_json:
        show.json_line(issued)
        return
    show.text(issued.secret)
    reach = "every namespace" if issued.key.namespaces is None else ", ".join(issued.key.namespaces)
    show.note(f"{issued.key.name}: {issued.key.scope} in {reach}. Keep the secret: it is not shown again.")


def _id_of(sack: Haversack, given: str) -> str:
    """The id of the key that was named by its id or, unambiguously, by its name; what is neither stays as it is."""
    known = sack.keys.all()
    if any(key.id == given for key in known):
        return given
    named = [key.id for key in known if key.name == given and key.is_live(utc_now())]
    if len(named) > 1:
        raise InputError(f"{len(named)} live keys are called {given!r}: name one by its id, {' or '.join(named)}")
    return named[0] if named else given


def _row(key: Key) -> tuple[object, ...]:
    state = "revoked" if key.revoked_at else "rotated" if key.replaced_by else "live"
    reach = "*" if key.namespaces is None else ", ".join(key.namespaces)
    return (key.id, key.name, key.scope, reach, key.created_at, key.expires_at, state, key.last_used_at, key.uses)


def _moment(text: str) -> datetime:
    return utc_now() + _span(text) if text[-1:] in _UNITS else read_time(text, "--expires")


def _span(text: str) -> timedelta:
    number, unit = text[:-1], text[-1:]
    if unit not in _UNITS or not number.isascii() or not number.isdigit():
        raise InputError(f"{text!r} is no span of time: write a number with s, m, h or d, as in 24h")
    return timedelta(**{_UNITS[unit]: int(number)})


COMMANDS = [keys]
