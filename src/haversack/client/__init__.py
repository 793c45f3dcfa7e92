"""A typed client of the HTTP server, for programs elsewhere: `Client`, and `AsyncClient` with the same calls awaited.

    with Client("http://localhost:3300", key="hvs_…") as memory:
        memory.remember("alice", content="Alice prefers metric units")
        print(memory.context("alice", query="which units?", budget=500).text)

Its calls and shapes are generated from the server's OpenAPI document by `generate`; it knows nothing of the engine.
"""

from haversack.client.calls import AsyncClient, Client
from haversack.client.transport import ApiError

__all__ = ["ApiError", "AsyncClient", "Client"]
