"""`chat`: talk with a model that remembers, or see what it would be sent."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from haversack.chat.screen import printable
from haversack.cli import show
from haversack.cli.app import code_of
from haversack.cli.options import Place, place
from haversack.clock import utc_now
from haversack.config import Config, load_config
from haversack.errors import ConfigError, InputError, MissingExtraError, nearest

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
    settings = load_config(place.config)
    with place.open(create=True) as sack:
        talk = _open_talk(
            place, sack, settings, service=service, model=model, name=resume or session, resume=bool(resume)
        )
        try:
            running = _begin(talk, resumed=bool(resume))
        finally:
            talk.tools.close()
    if running.first_failure is not None and not sys.stdin.isatty():
        raise click.exceptions.Exit(code_of(running.first_failure))


def _open_talk(
    place: Place,
    sack: Haversack,
    settings: Config,
    *,
    service: str | None,
    model: str | None,
    name: str | None,
    resume: bool,
) -> Talk:
    from haversack.chat.talk import Talk, choose_session
    from haversack.chat.tools import open_tools
    from haversack.wiring import open_service

    ns = sack.namespace(place.namespace)
    chosen = choose_session(ns, None if name == _LAST else name, resume=resume, now=utc_now())
    called = _service_name(settings, service)
    answering = None if called is None else open_service(settings, called)
    talk = Talk(
        sack=sack,
        ns=ns,
        session=chosen,
        screen=_Terminal(as_json=place.as_json),
        settings=settings.chat,
        model=model or settings.chat.model or (answering.model if answering else settings.engine.model),
        service=answering,
        tools=open_tools(settings.chat.tools),
        compaction=settings.memory.compaction,
    )
    talk.count_costs()
    return talk


def _begin(talk: Talk, *, resumed: bool) -> Chat:
    from haversack.chat.lines import Chat
    from haversack.chat.pipe import chat_in_pipe

    for problem in talk.tools.problems:
        talk.screen.note(f"tool server not reached: {printable(problem)}")
    running = Chat(talk=talk)
    if not sys.stdin.isatty():
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
