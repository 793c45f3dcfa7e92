"""Haversack: the memory and context-budget engine for LLM agents.

    import haversack

    with haversack.open("memory.db") as sack:
        ns = sack.namespace("user-alice")
        ns.remember("Alice prefers metric units", importance=0.8)
        print(ns.context("Which units should I use?", budget=500).text)

These names are the whole face; they are loaded when first used, so that importing the package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from haversack.assemble import Context, Layout, Ledger, Prompt
    from haversack.budget import Budget
    from haversack.engine.asynchronous import to_async
    from haversack.engine.haversack import Haversack
    from haversack.engine.namespace import Namespace
    from haversack.engine.session import Session
    from haversack.errors import HaversackError
    from haversack.model.memory import Kind, Memory, Source
    from haversack.wiring import open_haversack as open  # noqa: A004 - said as haversack.open

__all__ = [
    "Budget",
    "Context",
    "Haversack",
    "HaversackError",
    "Kind",
    "Layout",
    "Ledger",
    "Memory",
    "Namespace",
    "Prompt",
    "Session",
    "Source",
    "open",
    "to_async",
]

_ROOMS = {
    "Budget": "budget",
    "Context": "assemble",
    "Haversack": "engine.haversack",
    "HaversackError": "errors",
    "Kind": "model.memory",
    "Layout": "assemble",
    "Ledger": "assemble",
    "Memory": "model.memory",
    "Namespace": "engine.namespace",
    "Prompt": "assemble",
    "Session": "engine.session",
    "Source": "model.memory",
    "open_haversack": "wiring",
    "to_async": "engine.asynchronous",
}


def __getattr__(name: str) -> Any:
    found = "open_haversack" if name == "open" else name
    if found not in _ROOMS:
        raise AttributeError(f"module 'haversack' has no attribute {name!r}")
    value = getattr(import_module(f"haversack.{_ROOMS[found]}"), found)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
