"""A stdio server with a plug-in that prints wherever it can, and that waits where a test tells it to.

Usage: plugged_server.py STORE [FIFO]. A memory with `slow` in it is embedded once the FIFO was opened and closed.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from haversack.embed.embedder import Vectors
from haversack.mcp.stdio import serve_stdio
from haversack.wiring import open_haversack

print("a banner at import", file=sys.stderr)  # noqa: T201 - this and the others are what plug-ins do


class Plugged:
    model = "plugged"
    dimension = 8

    def __init__(self, fifo: str | None) -> None:
        self._fifo = fifo

    def embed(self, texts: Sequence[str]) -> Vectors:
        print("printed by the plug-in: größer 🚋")  # noqa: T201
        os.write(1, b"written past Python\n")
        subprocess.run([sys.executable, "-c", "print('printed by a child')"], check=True, timeout=60)
        logging.getLogger("plugged").warning("a warning of the plug-in")
        for text in texts:
            if "slow" in text and self._fifo:
                Path(self._fifo).read_bytes()
            if "broken" in text:
                raise RuntimeError("the plug-in broke: secret-detail")
        return np.eye(8, dtype=np.float32)[[len(text) % 8 for text in texts]]

    def embed_query(self, text: str) -> Vectors:
        print("printed at a query")  # noqa: T201
        return np.eye(8, dtype=np.float32)[len(text) % 8]


if __name__ == "__main__":
    store, *rest = sys.argv[1:]
    plugged = Plugged(rest[0] if rest else None)
    serve_stdio(open_haversack(store, embedder=plugged), namespace="n", log_level="DEBUG")
