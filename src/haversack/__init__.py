"""Haversack: the memory and context-budget engine for LLM agents.

    import haversack

    with haversack.open("memory.db") as sack:
        ns = sack.namespace("user-alice")
        ns.remember("Alice prefers metric units", importance=0.8)
        print(ns.context("Which units should I use?", budget=500).text)

These names are the whole face; they are loaded when first used, so that importing the package is quick.
"""

from typing import TYPE_CHECKING

from haversack.lazy import offered

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

__getattr__, __dir__ = offered(
    __name__,
    {
        "haversack.assemble": "Context, Layout, Ledger, Prompt",
        "haversack.budget": "Budget",
        "haversack.engine.asynchronous": "to_async",
        "haversack.engine.haversack": "Haversack",
        "haversack.engine.namespace": "Namespace",
        "haversack.engine.session": "Session",
        "haversack.errors": "HaversackError",
        "haversack.model.memory": "Kind, Memory, Source",
        "haversack.wiring": "open_haversack as open",
    },
)
