"""MCP door: the engine's verbs as tools for any MCP client; `stdio` and `http` serve it."""
