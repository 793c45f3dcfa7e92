"""Options that commands share, and the opening of what they name."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec
from click.core import ParameterSource

from haversack.cli.harmless import harmless
from haversack.errors import InputError, NotFoundError, nearest
from haversack.lazy import lazy
from haversack.model.memory import Kind
from haversack.redact import is_address, without_secrets

if TYPE_CHECKING:
    from haversack import config as configuration
    from haversack import wiring
    from haversack.assemble import Layout
    from haversack.engine import settings as engine_settings
    from haversack.engine.haversack import Haversack
    from haversack.engine.namespace import Namespace
    from haversack.engine.session import Session
else:
    configuration = lazy("haversack.config")
    engine_settings = lazy("haversack.engine.settings")
    wiring = lazy("haversack.wiring")

__all__ = [
    "Conditions",
    "Place",
    "conditions",
    "confirmed",
    "known_session",
    "pairs",
    "place",
    "section_weights",
    "weighted",
]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a command works and how it answers."""

    store: str
    namespace: str
    config: str | None
    as_json: bool

    @property
    def shown(self) -> str:
        """The store as it may be printed."""
        return without_secrets(self.store)

    @contextmanager
    def open(self, *, create: bool = False, read_only: bool = False, lasting: bool = False) -> Generator[Haversack]:
        """The store; one that does not exist is an error unless the command may create it.

        A command that is not `lasting` embeds nothing in the background: it is to end when it has answered.
        """
        if not create and not is_address(self.store) and not Path(self.store).exists():
            raise NotFoundError(
                f"there is no store at {self.shown}: import or remember something first, or name one by --store"
            )
        settings = configuration.load_config(self.config)
        if not lasting:
            settings = replace(settings, engine=replace(settings.engine, reembed=engine_settings.Reembed.ASKED))
        with wiring.open_haversack(self.store, read_only=read_only, config=settings) as sack:
            yield sack

    @contextmanager
    def open_namespace(self, *, create: bool = False) -> Generator[Namespace]:
        """The namespace in the store."""
        with self.open(create=create) as sack:
            yield sack.namespace(self.namespace)


def place(command: _Command) -> _Command:
    """Give a command --store, --namespace, --config and --json, handed over as one `place`."""

    @click.option(
        "--store", envvar="HAVERSACK_STORE", default="haversack.db", show_default=True, help="Path of the store."
    )
    @click.option(
        "--namespace", "-n", envvar="HAVERSACK_NAMESPACE", default="default", show_default=True, help="Whose memory."
    )
    @click.option("--config", envvar="HAVERSACK_CONFIG", type=click.Path(dir_okay=False), help="YAML or TOML settings.")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")
    @functools.wraps(command)
    def with_place(store: str, namespace: str, config: str | None, *, as_json: bool, **rest: Any) -> Any:
        here = Place(
            store=_latest("store", store),
            namespace=_latest("namespace", namespace),
            config=_latest("config", config),
            as_json=_latest("as_json", as_json),
        )
        return command(place=here, **rest)

    return with_place  # pyright: ignore[reportReturnType] - click reads the options off the function


def _latest(name: str, value: _Value) -> _Value:
    """What stands behind the command, else before it, else in the environment."""
    context = click.get_current_context()
    before = context.find_root().params.get(name)
    is_behind = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    return value if before in (None, False) or is_behind else before


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """The filter options as they were given."""

    kinds: tuple[str, ...]
    tags: tuple[str, ...]
    session: str | None
    since: str | None
    until: str | None
    where: tuple[str, ...]
    as_of: str | None

    def given(self) -> dict[str, Any]:
        """As keywords for the engine; only what was said."""
        said = {
            "kinds": self.kinds,
            "tags": self.tags,
            "session": self.session,
            "since": self.since,
            "until": self.until,
            "where": pairs("--where", self.where),
            "as_of": self.as_of,
        }
        return {name: value for name, value in said.items() if value is not None and value not in ((), {})}


def conditions(command: _Command) -> _Command:
    """Give a command the filter options, handed over as one `chosen`."""

    @click.option("--kind", "kinds", multiple=True, metavar="KIND", help=f"Only these kinds ({', '.join(Kind)}).")
    @click.option("--tag", "tags", multiple=True, help="Only with all of these tags.")
    @click.option("--session", help="Only from this session.")
    @click.option("--since", metavar="TIME", help="Said or happened at or after (ISO 8601).")
    @click.option("--until", metavar="TIME", help="Said or happened before, or through this date.")
    @click.option("--as-of", metavar="TIME", help="What was true at that moment, with what has ended since.")
    @click.option(
        "--where", multiple=True, metavar="FIELD=VALUE", help="Metadata that must equal; the value may be JSON."
    )
    @functools.wraps(command)
    def with_conditions(
        kinds: tuple[str, ...],
        tags: tuple[str, ...],
        session: str | None,
        since: str | None,
        until: str | None,
        where: tuple[str, ...],
        as_of: str | None,
        **rest: Any,
    ) -> Any:
        for kind in kinds:
            if kind not in set(Kind):
                raise InputError(f"unknown kind {kind!r}: {nearest(kind, list(Kind))}")
        chosen = Conditions(kinds=kinds, tags=tags, session=session, since=since, until=until, where=where, as_of=as_of)
        return command(chosen=chosen, **rest)

    return with_conditions  # pyright: ignore[reportReturnType]


section_weights = click.option(
    "--weight",
    multiple=True,
    metavar="SECTION=NUMBER",
    help="Give a section of the layout this weight; the others keep theirs, 0 switches it off.",
)


def weighted(ns: Namespace, layout: str | None, weights: Sequence[str]) -> dict[str, Layout]:
    """The keyword for a layout (`sections` when none is named) with these weights; nothing when there are none."""
    if not weights:
        return {}
    given: dict[str, float] = {}
    for text in weights:
        section, _, number = text.partition("=")
        try:
            given[section] = float(number)
        except ValueError:
            raise InputError(f"--weight {text!r} must read SECTION=NUMBER") from None
    return {"layout": ns.layout(layout or "sections").with_weights(given)}


def known_session(ns: Namespace, name: str) -> Session:
    """The session, which must have begun: a misspelt name is told, not taken for a new one."""
    session = ns.session(name)
    if not session.turns(limit=1):
        raise NotFoundError(f"no session {name!r} in namespace {ns.name!r}")
    return session


def confirmed(question: str, *, yes: bool) -> bool:
    """Whether to go on: `--yes`, or the person says so at a terminal; never when nobody can be asked."""
    if yes:
        return True
    if not sys.stdin.isatty():
        return False
    return click.confirm(harmless(question, sys.stdout), default=False)


def pairs(option: str, texts: Sequence[str]) -> dict[str, Any]:
    """Fields with their values, from options that read FIELD=VALUE."""
    found: dict[str, Any] = {}
    for text in texts:
        field, mark, value = text.partition("=")
        if not mark or not field:
            raise InputError(f"{option} {text!r} must read FIELD=VALUE")
        try:
            found[field] = msgspec.json.decode(value.encode(errors="replace"))
        except msgspec.DecodeError:
            found[field] = value
    return found
