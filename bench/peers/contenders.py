"""Which peers take part, each with Haversack's embedders where it takes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bench.peers import fts5, langchain, mem0
from bench.peers.composite import Composite
from bench.peers.fts5 import Fts5
from bench.peers.hybrid import Hybrid
from bench.peers.langchain import LangChain
from bench.peers.llamaindex import ChatMemory, VectorBlock, VectorIndex
from bench.peers.mem0 import Mem0
from bench.system import Searching, System
from haversack.embed.embedder import Embedder

__all__ = ["contenders"]


def contenders(embedders: Mapping[str, Embedder]) -> dict[str, Callable[[], System]]:
    systems: dict[str, Callable[[], System]] = {
        "SQLite FTS5, porter": lambda: Searching(Fts5(), join=fts5.join),
    }
    for name, vectors in embedders.items():
        systems |= _with(name, vectors)
    return systems


def _with(name: str, vectors: Embedder) -> dict[str, Callable[[], System]]:
    return {
        f"LangChain vectors, {name}": lambda: Searching(LangChain(vectors), join=langchain.join),
        f"LlamaIndex vectors, {name}": lambda: Searching(VectorIndex(vectors), join=langchain.join),
        f"LlamaIndex Memory, {name}": lambda: ChatMemory(vectors),
        f"LlamaIndex vector block, {name}": lambda: VectorBlock(vectors),
        f"mem0 without LLM, {name}": lambda: Searching(Mem0(vectors), join=mem0.join),
        f"reciprocal rank, {name}": lambda: Searching(Hybrid(Fts5(), LangChain(vectors)), join=fts5.join),
        f"composite .5/.3/.2, {name}": lambda: Composite(vectors),
    }
