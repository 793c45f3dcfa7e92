"""HTTP door: versioned REST over the engine, with keys, limits and an audit, and the dakera client on the same port."""

from haversack.server.app import create_app
from haversack.server.settings import Limits, ServerSettings

__all__ = ["Limits", "ServerSettings", "create_app"]
