"""`mcp`: the memory as tools for any MCP client."""

from __future__ import annotations

import click

from haversack.cli.options import Place, place
from haversack.config import load_config
from haversack.errors import InputError, MissingExtraError

__all__ = ["COMMANDS"]

_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


@click.command()
@click.option("--http", is_flag=True, help="Serve streamable HTTP at /mcp instead of stdin and stdout.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: the address to listen at.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="With --http; 0: any free."
)
@click.option("--open", "without_keys", is_flag=True, help="With --http: ask for no key; loopback only.")
@click.option("--allow-host", "names", multiple=True, metavar="NAME", help="With --http: a name it is called by.")
@click.option(
    "--hold-back",
    multiple=True,
    type=click.Choice(("instructions", "secrets")),
    help="Show no model what looks like these: contexts leave it out, lists show a blank entry.",
)
@click.option("--log-level", type=click.Choice(_LEVELS, case_sensitive=False), default="WARNING", show_default=True)
@place
def mcp(
    place: Place,
    host: str,
    port: int,
    names: tuple[str, ...],
    hold_back: tuple[str, ...],
    log_level: str,
    *,
    http: bool,
    without_keys: bool,
) -> None:
    """Serve the memory to MCP clients (Model Context Protocol). Logs go to stderr.

    Over stdin and stdout the namespace is the one named here. Over HTTP each request shows a key
    (Authorization: Bearer hvs_...), and ?namespace=NAME in the address chooses among those that it reaches.

    \b
    Examples:
      haversack mcp --store memory.db --namespace alice
      haversack mcp --http --port 8765
    """
    try:
        from haversack.mcp.stdio import serve_stdio
        from haversack.mcp.tools import ToolOptions
    except ModuleNotFoundError as error:
        raise MissingExtraError("serving MCP needs: pip install 'haversack[mcp]'") from error
    config = load_config(place.config)
    options = ToolOptions(settings=config.engine, hold_back=hold_back)
    if not http:
        if without_keys or names:
            raise InputError("--open and --allow-host are about HTTP: add --http")
        serve_stdio(
            place.open(create=True, lasting=True), namespace=place.namespace, options=options, log_level=log_level
        )
        return
    from haversack.mcp.http import HttpOptions, serve_http

    served = config.server
    reached = HttpOptions(
        host=host, port=port, open=without_keys, names=names, limits=served.limits, tokens=served.tokens
    )
    with place.open(create=True, lasting=True) as sack:
        serve_http(sack, namespace=place.namespace, http=reached, options=options, log_level=log_level)


COMMANDS = [mcp]
