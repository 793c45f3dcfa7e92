"""An MCP server with three tools: one that answers, one that fails, one that never ends. It also writes to stderr.

Over stdin and stdout, or over HTTP at the port that is its argument.
"""

from __future__ import annotations

import asyncio
import sys

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("tides")


@server.tool()
def high_water(port: str) -> str:
    """When the water is high in a port."""
    sys.stderr.write(f"asked for {port}\n")
    return f"High water in {port} at 06:00."


@server.tool()
def broken() -> str:
    """Always fails."""
    raise ToolError("the gauge is stuck")


@server.tool()
async def endless() -> str:
    """Never answers."""
    await asyncio.sleep(3600)
    return "never"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    server.run()
