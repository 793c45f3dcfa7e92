"""`chat`: talk with a model that remembers, or see what it would be sent."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from haversack.chat.screen import printable
from haversack.cli import show
from haversack.cli.app import code_of
from haversack.cli.options import Place, place
from haversack.clock import utc_now
from haversack.config import Config, load_config
from haversack.errors import ConfigError, HaversackError, InputError, MissingExtraError, RefusedError, nearest
from haversack.llm.port import close_service
from haversack.maintenance import restore as restoring
from haversack.store.site import Site
from haversack.wiring import open_haversack, open_service, site_of

if TYPE_CHECKING:
    from haversack.chat.lines import Chat
    from haversack.chat.talk import Talk
    from haversack.engine.haversack import Haversack

__all__ = ["COMMANDS"]

_LAST = "\0last"
_SHOWN = 4


@click.command()
@click.option(
    "--resume",
    metavar="[SESSION]",
    is_flag=False,
    flag_value=_LAST,
    help="Go on in the last session, or in the one named.",
)
@click.option("--session", metavar="NAME", help="Talk in a session of this name; by default a new one.")
@click.option("--service", metavar="NAME", help="A service of the configuration; `none` to talk without one.")
@click.option("--model", "-m", help="Whose tokens and window count; the service's model by default.")
@place
def chat(place: Place, resume: str | None, session: str | None, service: str | None, model: str | None) -> None:
    """Talk with a model that remembers. Without a configured service, see what it would be sent.

    Each line is a message; /help lists the commands. Reads lines from a pipe as well, with answers on stdout; the exit
    code is that of the first failure. A backslash at the end of a line goes on in the next.

    \b
    Examples:
      haversack chat --config haversack.yaml
      haversack chat --resume
      echo "Which units do I like?" | haversack chat --service none
    """
    if resume is not None and session is not None:
        raise InputError("give --resume or --session, not both")
    chosen = _Choice(service=service, model=model, session=resume or session, resume=resume is not None)
    failure = _converse(place, chosen)
    if failure is not None and not _is_watched():
        raise click.exceptions.Exit(code_of(failure))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """With whom to talk, and where."""

    service: str | None
    model: str | None
    session: str | None = None
    resume: bool = False


def _converse(place: Place, chosen: _Choice) -> HaversackError | None:
    """Talk until the end, over a restored store again where that was asked for; returns the first failure."""
    settings = load_config(place.config)
    first: HaversackError | None = None
    while True:
        with place.open(create=True, lasting=True) as sack:
            talk = _open_talk(place, sack, settings, chosen)
            try:
                running = _begin(talk, resumed=chosen.resume)
            finally:
                talk.tools.close()
                close_service(talk.service)
        first = first or running.first_failure
        site = site_of(place.store, config=place.config)
        if talk.restore_from is None or site is None:
            return first
        show.note(str(restoring.restore_over(site, talk.restore_from, utc_now())))
        chosen = replace(chosen, session=None, resume=False)


def _open_talk(place: Place, sack: Haversack, settings: Config, choice: _Choice) -> Talk:
    from haversack.chat.talk import Talk, check_window, choose_session
    from haversack.chat.tools import open_tools

    ns = sack.namespace(place.namespace)
    name = None if choice.session == _LAST else choice.session
    called = _service_name(settings, choice.service)
    answering = None if called is None else open_service(settings, called)
    model = choice.model or settings.chat.model or (answering.model if answering else settings.engine.model)
    check_window(model, settings.memory)
    talk = Talk(
        sack=sack,
        ns=ns,
        session=choose_session(ns, name, resume=choice.resume, now=utc_now()),
        screen=_Terminal(as_json=place.as_json),
        settings=settings.chat,
        model=model,
        service=answering,
        tools=open_tools(settings.chat.tools),
        memory=settings.memory,
        outside=_Edge(place),
    )
    talk.count_costs()
    return talk


def _begin(talk: Talk, *, resumed: bool) -> Chat:
    from haversack.chat.lines import Chat
    from haversack.chat.pipe import chat_in_pipe

    for problem in talk.tools.problems:
        talk.screen.note(f"tool server not reached: {printable(problem)}")
    running = Chat(talk=talk)
    if not _is_watched():
        chat_in_pipe(running, sys.stdin)
        return running
    try:
        from haversack.chat.terminal import chat_in_terminal
    except ModuleNotFoundError as error:
        raise MissingExtraError("chat in a terminal needs: pip install 'haversack[chat]'") from error
    _greet(talk, resumed=resumed)
    chat_in_terminal(running)
    return running


def _greet(talk: Talk, *, resumed: bool) -> None:
    who = f"{talk.service.model}" if talk.service else "no service is configured: prompts are shown, not sent"
    talk.screen.note(f"session {printable(talk.session.id)} in {printable(talk.ns.name)}; {who}")
    if not resumed:
        return
    turns = talk.session.turns()
    talk.screen.note(f"resumed with {len(turns)} turns" + ("; the last ones:" if turns else ""))
    for turn in turns[-_SHOWN:]:
        talk.screen.text(f"[{turn.message.role}] {show.one_line(turn.message.text, 200)}")


def _is_watched() -> bool:
    """Whether a person sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _service_name(settings: Config, asked: str | None) -> str | None:
    """The service to talk with; None for none."""
    if asked == "none" and "none" not in settings.services:
        return None
    name = asked or settings.chat.service
    if name is not None:
        if name not in settings.services:
            known = nearest(name, settings.services) if settings.services else "none is configured under `services`"
            raise ConfigError(f"no chat service is called {name!r}: {known}")
        return name
    if "chat" in settings.services:
        return "chat"
    if len(settings.services) > 1:
        raise ConfigError(
            f"say which service to chat with, by --service or chat.service: {', '.join(settings.services)}"
        )
    return next(iter(settings.services), None)


class _Edge:
    """What the chat cannot do from inside."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def schema(self) -> tuple[int, int]:
        site = self._site()
        return site.schema(site.path), site.newest_schema

    def plan_restore(self, snapshot: Path) -> restoring.Restored:
        return restoring.plan(self._site(), snapshot)

    def open_store(self, place: str) -> AbstractContextManager[Haversack]:
        return open_haversack(place, config=self._place.config)

    def _site(self) -> Site:
        site = site_of(self._place.store, config=self._place.config)
        if site is None:
            raise RefusedError("capability", f"{self._place.shown} has no files")
        return site


class _Terminal:
    """Shows what the chat says the way that all commands do."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def text(self, words: str) -> None:
        show.text(words)

    def piece(self, words: str) -> None:
        sys.stdout.write(words)
        sys.stdout.flush()

    def note(self, words: str) -> None:
        show.note(words)

    def heading(self, words: str) -> None:
        show.heading(words)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str = "nothing") -> None:
        show.table(columns, rows, empty=empty)

    def json(self, value: object) -> None:
        show.json_line(value)

    def bar(self, share: float) -> str:
        return show.bar(share, 20)


COMMANDS = [chat]
