"""The HTTP server under load, and its interface under generated requests."""
