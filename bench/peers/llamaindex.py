"""LlamaIndex: the vector index alone, and the chat `Memory` with its vector block."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.memory import Memory, VectorMemoryBlock
from llama_index.core.schema import BaseNode, TextNode
from llama_index.core.vector_stores import (
    MetadataFilter,
    MetadataFilters,
    SimpleVectorStore,
    VectorStoreQuery,
    VectorStoreQueryResult,
)

from bench.peers.system import Packed, Piece, cut
from bench.peers.vectors import ForLlamaIndex
from bench.recall.conversations import Conversation
from bench.recount import recount, token_ids
from haversack.embed.embedder import Embedder

__all__ = ["ChatMemory", "VectorBlock", "VectorIndex"]


class VectorIndex:
    """`VectorStoreIndex` over its default store."""

    def __init__(self, embedder: Embedder) -> None:
        self._model = ForLlamaIndex(embedder)
        self._index: VectorStoreIndex | None = None

    def load(self, pieces: Sequence[Piece]) -> None:
        nodes = [
            TextNode(
                text=piece.text,
                id_=piece.id,
                metadata={"tenant": piece.tenant},
                excluded_embed_metadata_keys=["tenant"],
            )
            for piece in pieces
        ]
        self._index = VectorStoreIndex(nodes, embed_model=self._model)

    def search(self, question: str, top_k: int, tenant: str) -> list[str]:
        wanted = MetadataFilters(filters=[MetadataFilter(key="tenant", value=tenant)])
        retriever = self._index.as_retriever(similarity_top_k=top_k, filters=wanted)
        return [found.node.node_id for found in retriever.retrieve(question)]

    def close(self) -> None:
        self._index = None


class ChatMemory:
    """`Memory` with `VectorMemoryBlock` as they come, the budget as token limit.

    It keeps 70 % for the newest messages, and the block brings back the 2 batches of older ones that are nearest to the
    newest five messages and the question, or nothing when they overflow. All that it returns is the context.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._model = ForLlamaIndex(embedder)
        self._pieces: list[Piece] = []
        self._memories: dict[int, Memory] = {}

    def add(self, conversation: Conversation) -> None:
        self._pieces = cut(conversation)

    def pack(self, question: str, budgets: Sequence[int], now: datetime) -> list[Packed]:  # noqa: ARG002 - one face for all
        return [self._context(question, budget) for budget in budgets]

    def _context(self, question: str, budget: int) -> Packed:
        if budget not in self._memories:
            self._memories[budget] = self._fill(budget)
        messages = self._memories[budget].get(input=question)
        return _claiming("\n".join(message.content or "" for message in messages), self._pieces)

    def _fill(self, budget: int) -> Memory:
        memory = Memory.from_defaults(
            session_id="bench",
            token_limit=budget,
            token_flush_size=max(1, budget // 10),
            memory_blocks=[VectorMemoryBlock(vector_store=_WithText(), embed_model=self._model, priority=1)],
            tokenizer_fn=token_ids,
        )
        memory.put_messages(_messages(self._pieces))
        return memory

    def close(self) -> None:
        self._memories.clear()


class VectorBlock:
    """`VectorMemoryBlock` alone: exchanges kept one by one, asked with the question only, as many as fit."""

    def __init__(self, embedder: Embedder) -> None:
        self._store = _WithText()
        self._block = VectorMemoryBlock(vector_store=self._store, embed_model=ForLlamaIndex(embedder))
        self._pieces: list[Piece] = []

    def add(self, conversation: Conversation) -> None:
        self._pieces = cut(conversation)
        messages = _messages(self._pieces)
        for start in range(0, len(messages), 2):
            asyncio.run(self._block.aput(messages[start : start + 2]))

    def pack(self, question: str, budgets: Sequence[int], now: datetime) -> list[Packed]:  # noqa: ARG002 - one face for all
        return [self._context(ChatMessage(role="user", content=question), budget) for budget in budgets]

    def _context(self, question: ChatMessage, budget: int) -> Packed:
        """Asks for as many as fit on average, and for fewer until they do fit."""
        wanted = int(budget / self._store.mean_tokens()) + 2
        text = ""
        for top_k in range(wanted, 0, -1):
            self._block.similarity_top_k = top_k
            text = asyncio.run(self._block.aget([question]))
            if recount(text) <= budget:
                return _claiming(text, self._pieces)
        return Packed(text="", claims=())

    def close(self) -> None:
        self._pieces = []


def _messages(pieces: Sequence[Piece]) -> list[ChatMessage]:
    roles = ("user", "assistant")
    return [ChatMessage(role=roles[i % 2], content=piece.text) for i, piece in enumerate(pieces)]


def _claiming(text: str, pieces: Sequence[Piece]) -> Packed:
    return Packed(text=text, claims=tuple(piece for piece in pieces if piece.text in text))


class _WithText(SimpleVectorStore):
    """Its own in-memory store, which leaves the words to an index; the block wants a store that keeps them."""

    stores_text: bool = True
    _nodes: dict[str, BaseNode] = PrivateAttr(default_factory=dict)

    def add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        self._nodes |= {node.node_id: node for node in nodes}
        return super().add(nodes, **kwargs)

    def mean_tokens(self) -> float:
        return sum(len(token_ids(node.get_content())) for node in self._nodes.values()) / max(1, len(self._nodes))

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        found = super().query(query, **kwargs)
        return VectorStoreQueryResult(
            nodes=[self._nodes[key] for key in found.ids or []], similarities=found.similarities, ids=found.ids
        )
