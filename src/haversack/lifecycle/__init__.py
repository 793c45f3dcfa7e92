"""Lifecycle of memories: decay, promotion, policies, the plan of what maintenance would do. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haversack.lazy import offered

if TYPE_CHECKING:
    from haversack.lifecycle.decay import DecayConfig

__all__ = ["DecayConfig"]

__getattr__, __dir__ = offered(
    __name__,
    {
        "haversack.lifecycle.decay": "DecayConfig",
    },
)
