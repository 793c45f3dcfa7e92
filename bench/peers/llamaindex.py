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
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.vector_stores import (
    MetadataFilter,
    MetadataFilters,
    SimpleVectorStore,
    VectorStoreQuery,
    VectorStoreQueryResult,
)

from bench.peers.vectors import ForLlamaIndex
from bench.recount import recount, token_ids
from bench.system import Packed, Piece, cut
from haversack.embed.embedder import Embedder
from haversack.evaluation.conversations import Conversation

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
    """`VectorMemoryBlock` alone: exchanges kept one by one, asked with the question only, fitted by a postprocessor."""

    def __init__(self, embedder: Embedder) -> None:
        self._fitting = _Fitting()
        self._block = VectorMemoryBlock(
            vector_store=_WithText(),
            embed_model=ForLlamaIndex(embedder),
            similarity_top_k=500,
            node_postprocessors=[self._fitting],
        )
        self._pieces: list[Piece] = []

    def add(self, conversation: Conversation) -> None:
        self._pieces = cut(conversation)
        messages = _messages(self._pieces)
        for start in range(0, len(messages), 2):
            asyncio.run(self._block.aput(messages[start : start + 2]))

    def pack(self, question: str, budgets: Sequence[int], now: datetime) -> list[Packed]:  # noqa: ARG002 - one face for all
        return [self._context(ChatMessage(role="user", content=question), budget) for budget in budgets]

    def _context(self, question: ChatMessage, budget: int) -> Packed:
        self._fitting.budget = budget
        return _claiming(asyncio.run(self._block.aget([question])), self._pieces)

    def close(self) -> None:
        self._pieces = []


class _Fitting(BaseNodePostprocessor):
    """Keeps the best nodes that fit, each counted with the blank line behind it."""

    budget: int = 0

    def _postprocess_nodes(
        self,
        nodes: list[NodeWithScore],
        query_bundle: QueryBundle | None = None,  # noqa: ARG002 - its signature
    ) -> list[NodeWithScore]:
        kept, left = [], self.budget
        for node in nodes:
            price = recount(node.get_content() + "\n\n")
            if price <= left:
                kept.append(node)
                left -= price
            if left < 10:
                break
        return kept


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

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        found = super().query(query, **kwargs)
        return VectorStoreQueryResult(
            nodes=[self._nodes[key] for key in found.ids or []], similarities=found.similarities, ids=found.ids
        )
