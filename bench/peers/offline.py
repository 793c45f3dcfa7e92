"""Keeps every tool of the bench away from the network."""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path

__all__ = ["scratch"]

_SETTINGS = {
    "AGNO_TELEMETRY": "false",
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "FRIDAY_TELEMETRY": "0",
    "HF_HUB_OFFLINE": "1",
    "LANGSMITH_TRACING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "MEM0_TELEMETRY": "False",
    "OTEL_SDK_DISABLED": "true",
    "TRANSFORMERS_OFFLINE": "1",
}
os.environ.update(_SETTINGS)

_folder = tempfile.TemporaryDirectory(prefix="haversack-bench-")
_RAM = "/dev/shm"  # noqa: S108 - the folder made in it is private
_memory = tempfile.TemporaryDirectory(prefix="haversack-bench-", dir=_RAM if Path(_RAM).exists() else None)
os.environ["MEM0_DIR"] = str(Path(_folder.name) / "mem0")

_connect = socket.socket.connect


def _refuse(self: socket.socket, address: object) -> None:
    if self.family == socket.AF_UNIX:
        _connect(self, address)
        return
    raise OSError(f"the bench runs offline; something tried to reach {address!r}")


socket.socket.connect = _refuse  # the last line of defence, should a setting above be ignored


def scratch(name: str, *, on_disk: bool = True) -> Path:
    """A fresh folder for a tool's files; all of them vanish with the process. Off the disk, it lies in memory."""
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=_folder.name if on_disk else _memory.name))
