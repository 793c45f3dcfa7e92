"""Turning text into vectors: the protocol in `embedder`, one adapter per file beside it."""
