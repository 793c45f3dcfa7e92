"""`serve`: the HTTP door."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from haversack.cli import show
from haversack.cli.options import Place, place
from haversack.config import Config, load_config
from haversack.engine.haversack import Haversack
from haversack.engine.keys import Scope
from haversack.errors import MissingExtraError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["COMMANDS"]


@click.command()
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; beyond loopback takes keys."
)
@click.option("--port", type=click.IntRange(0, 65535), default=3300, show_default=True)
@click.option("--open", "without_keys", is_flag=True, help="Ask this machine's programs for no key; loopback only.")
@click.option("--embedder", help="default, none or onnx; the settings choose when it is not given.")
@place
def serve(place: Place, host: str, port: int, embedder: str | None, *, without_keys: bool) -> None:
    """Answer over HTTP until it is stopped; what was acknowledged is kept. Pages for the browser are at /inspector.

    Every request shows a key. In a terminal the first start makes one, and shows it this once. With --open, programs
    of this machine need none, until the store has its first key.

    \b
    Examples:
      haversack serve
      haversack serve --open
      haversack keys create ops --scope admin && haversack serve --host 0.0.0.0
    """
    try:
        from haversack.server.run import serve as listen
    except ImportError as error:
        raise MissingExtraError(
            f"serving needs more packages ({error.name}): pip install 'haversack[server]'"
        ) from None
    from haversack.wiring import open_haversack

    config = load_config(place.config)
    settings = replace(config.server, open=config.server.open or without_keys)
    with open_haversack(place.store, embedder=embedder, config=config) as sack:
        if not settings.open and settings.tokens is None and not sack.keys.ever_existed() and sys.stdout.isatty():
            _make_first_key(sack)
        show.note(f"listening on http://{host}:{port} over {place.shown}; stop with Ctrl-C")
        listen(sack, settings, host=host, port=port, pages=_pages(sack, config, by_key=not settings.open))


def _make_first_key(sack: Haversack) -> None:
    """Only in a terminal: elsewhere what is printed may be kept by somebody."""
    show.text(sack.keys.create("first", scope=Scope.ADMIN).secret)
    show.note("this is the store's first key: admin in every namespace. Keep it: it is not shown again.")


def _pages(sack: Haversack, config: Config, *, by_key: bool) -> dict[str, ASGIApp]:
    """The inspector, for beside the routes; where its packages are missing, the server goes without it."""
    try:
        from haversack.inspector.render import WINDOW, Defaults
        from haversack.inspector.run import pages_of
    except ImportError as error:
        show.note(f"no pages at /inspector ({error.name} is missing): pip install 'haversack[server]'")
        return {}
    defaults = Defaults(model=config.engine.model, window=config.memory.context_window or WINDOW)
    return pages_of(sack, defaults, by_key=by_key)


COMMANDS = [serve]
