"""MCP over stdin and stdout. Stdout carries the protocol and nothing else, from before the store opens to the end."""

from __future__ import annotations

import asyncio
import io
import logging
import os
import sys
from contextlib import AbstractContextManager
from typing import TextIO

import anyio
from mcp.server.stdio import stdio_server

from haversack.engine.haversack import Haversack
from haversack.mcp.caller import Caller
from haversack.mcp.server import create_server
from haversack.mcp.tools import ToolOptions
from haversack.mcp.wire import Incoming, Outgoing, Unanswered
from haversack.mcp.work import Work

__all__ = ["serve_stdio"]

_STDOUT, _STDERR = 1, 2


def serve_stdio(
    opened: AbstractContextManager[Haversack],
    *,
    namespace: str,
    options: ToolOptions | None = None,
    log_level: str = "WARNING",
) -> None:
    """Serve one namespace until stdin ends. The store is opened in here, so that nothing it prints can do harm."""
    logging.basicConfig(stream=sys.stderr, level=log_level, force=True)
    wire = _take_stdout()
    with opened as sack:
        asyncio.run(_serve(sack, namespace, options or ToolOptions(), wire))


async def _serve(sack: Haversack, namespace: str, options: ToolOptions, wire: TextIO) -> None:
    server = create_server(lambda _: Caller(sack=sack, namespace=namespace), Work(sack), options)
    async with stdio_server(stdout=anyio.wrap_file(wire)) as (incoming, outgoing):
        unanswered = Unanswered()
        out = Outgoing(outgoing, unanswered)
        await server.run(Incoming(incoming, out, unanswered), out, server.create_initialization_options())


def _take_stdout() -> TextIO:
    """Stdout for the protocol alone: what else writes to it, a print or a library in C, lands on stderr from now on."""
    sys.stdout.flush()
    wire = os.fdopen(os.dup(_STDOUT), "wb")
    os.dup2(_STDERR, _STDOUT)
    return io.TextIOWrapper(wire, encoding="utf-8", newline="\n")
