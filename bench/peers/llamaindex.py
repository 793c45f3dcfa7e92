"""LlamaIndex: the vector index alone, and the chat `Memory` with its vector block."""

from __future__ import annotations

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
from bench.recount import token_ids
from haversack.embed.embedder import Embedder

__all__ = ["ChatMemory", "VectorIndex"]


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
    """`Memory` with `VectorMemoryBlock`; the budget is its token limit.

    As it comes, it keeps 70 % for the newest messages and the block brings back the 2 nearest batches of older ones, or
    nothing when they overflow. Tuned for recall, the newest get 10 %, a batch is one exchange, the question alone is
    searched with, and as many batches are asked for as fit into 70 % on average. All that it returns is the context.
    """

    def __init__(self, embedder: Embedder, *, tuned: bool = False) -> None:
        self._model = ForLlamaIndex(embedder)
        self._tuned = tuned
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
        text = "\n".join(message.content or "" for message in messages)
        return Packed(text=text, claims=tuple(piece for piece in self._pieces if piece.text in text))

    def _fill(self, budget: int) -> Memory:
        store = _WithText()
        block = VectorMemoryBlock(vector_store=store, embed_model=self._model, priority=1)
        memory = Memory.from_defaults(
            session_id="bench",
            token_limit=budget,
            chat_history_token_ratio=0.1 if self._tuned else 0.7,
            token_flush_size=1 if self._tuned else max(1, budget // 10),
            memory_blocks=[block],
            tokenizer_fn=token_ids,
        )
        roles = ("user", "assistant")
        memory.put_messages(
            [ChatMessage(role=roles[i % 2], content=piece.text) for i, piece in enumerate(self._pieces)]
        )
        if self._tuned:
            block.retrieval_context_window = 1
            block.similarity_top_k = max(1, int(0.7 * budget / store.mean_tokens()))
        return memory

    def close(self) -> None:
        self._memories.clear()


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
