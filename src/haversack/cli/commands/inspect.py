"""`inspect`: the pages in the browser that show what a model would see, over a local store."""

from __future__ import annotations

import click

from haversack.cli import show
from haversack.cli.options import Place, place
from haversack.config import load_config
from haversack.errors import MissingExtraError

__all__ = ["COMMANDS"]


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port on 127.0.0.1; 0 takes any that is free.")
@place
def inspect(place: Place, port: int) -> None:
    """Open the store in the browser: prompts, memories, sessions and health, on this machine only.

    The address that is printed holds a token that opens one browser, once.

    \b
    Example:
      haversack inspect --store memory.db --namespace alice
    """
    try:
        from haversack.inspector.render import WINDOW, Defaults
        from haversack.inspector.run import listen
    except ImportError as error:
        raise MissingExtraError(
            f"the inspector needs more packages ({error.name}): pip install 'haversack[server]'"
        ) from None
    config = load_config(place.config)
    defaults = Defaults(
        namespace=place.namespace, model=config.engine.model, window=config.memory.context_window or WINDOW
    )

    def tell(address: str) -> None:
        if place.as_json:
            show.json_line({"address": address})
        else:
            show.text(f"open {address}")
        show.note("this address opens one browser, once; stop with Ctrl-C")

    with place.open(lasting=True) as sack:
        sack.warm_up()
        listen(sack, defaults, port=port, tell=tell)


COMMANDS = [inspect]
