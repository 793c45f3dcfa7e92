"""Lifecycle of memories: decay, promotion, policies, the plan of what maintenance would do. Pure."""

from __future__ import annotations

from haversack.lifecycle.decay import DecayConfig

__all__ = ["DecayConfig"]
