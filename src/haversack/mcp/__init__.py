"""MCP door: the engine's verbs as tools for any MCP client, over stdio or streamable HTTP."""

from haversack.mcp.http import HttpOptions, create_app, serve_http
from haversack.mcp.server import offered_tools
from haversack.mcp.stdio import serve_stdio
from haversack.mcp.tools import ToolOptions

__all__ = ["HttpOptions", "ToolOptions", "create_app", "offered_tools", "serve_http", "serve_stdio"]
