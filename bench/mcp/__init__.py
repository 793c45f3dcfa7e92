"""What the MCP door itself costs a model."""
