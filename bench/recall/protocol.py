"""The measurement without a store: conversations as indexes, rank-order packing, true token counts, evidence recall."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import toktok
from numpy.typing import NDArray

from haversack.embed.codec import Quantised, decode_vector, embed_stored
from haversack.embed.embedder import Embedder, WordVectors, has_signs
from haversack.evaluation.conversations import Conversation, Query
from haversack.model.memory import Kind, Memory, Source
from haversack.recall.chunks import chunk
from haversack.recall.index import Index, indexed_text

__all__ = ["BUDGETS", "Stated", "World", "build", "carried", "measure", "recall_at"]

BUDGETS = (256, 512, 1000, 2000, 4000)
_ENCODING = "cl100k_base"

Ranker = Callable[["World", Query], Sequence[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One conversation, indexed and priced."""

    conversation: Conversation
    memories: tuple[Memory, ...]
    """Row i of the index is memory i; a long turn is several."""
    turn_of: tuple[str, ...]
    index: Index
    cost: NDArray[np.int64]
    header: NDArray[np.int64]
    """By session number; the last is that of what belongs to none."""
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A memory that no turn said."""

    id: str
    kind: Kind
    text: str


def count(texts: Sequence[str]) -> list[int]:
    return toktok.batch_count(list(texts), _ENCODING, 1)


def build(
    conversation: Conversation,
    embedder: Embedder | None = None,
    words: WordVectors | None = None,
    stated: Sequence[Stated] = (),
) -> World:
    """Index a conversation, and beside it what was stated outside any session, spread evenly over its time."""
    memories, turn_of = list[Memory](), list[str]()
    for turn in conversation.turns:
        pieces = chunk(turn.text, count)
        for place, piece in enumerate(pieces):
            number = len(memories) + 1
            memories.append(
                Memory(
                    id=f"{number:026d}",
                    kind=Kind.PASSAGE,
                    content=piece,
                    created_at=turn.at,
                    event_time=turn.at,
                    speaker=turn.speaker,
                    source=Source(session=turn.session or None, turns=(turn.id,), part=(place, len(pieces))),
                    born=number,
                )
            )
            turn_of.append(turn.id)
    start = conversation.turns[0].at
    step = (conversation.turns[-1].at - start) / (len(stated) + 1)
    for place, one in enumerate(stated, 1):
        at, number = start + place * step, len(memories) + 1
        memories.append(
            Memory(id=f"{number:026d}", kind=one.kind, content=one.text, created_at=at, event_time=at, born=number)
        )
        turn_of.append(one.id)
    signs = embedder.sign_bytes if has_signs(embedder) else 0
    index = Index(0 if embedder is None else embedder.dimension, words, signs)
    index.put(memories, {} if embedder is None else _vectors(memories, embedder, signs))
    headers = {memory.source.session: f"## {memory.event_time:%A, %d %B %Y, %H:%M}\n" for memory in reversed(memories)}
    return World(
        conversation=conversation,
        memories=tuple(memories),
        turn_of=tuple(turn_of),
        index=index,
        cost=np.array(count([f"- {indexed_text(memory)}\n" for memory in memories])),
        header=np.array([*count([headers[name] for name in index.sessions]), 0]),
        now=max(turn.at for turn in conversation.turns) + timedelta(hours=1),
    )


def _vectors(memories: Sequence[Memory], embedder: Embedder, signs: int) -> dict[str, Quantised]:
    _, data = embed_stored(embedder, [indexed_text(memory) for memory in memories])
    decoded = {
        memory.id: decode_vector(one, embedder.dimension, signs) for memory, one in zip(memories, data, strict=True)
    }
    return {name: vector for name, vector in decoded.items() if vector is not None}


def carried(world: World, rows: Sequence[int], budget: int) -> set[str]:
    """Ids of the turns that stand in the context when rows are packed in this order, skipping what does not fit."""
    spent, opened, kept = 0, set[int](), set[str]()
    sessions, cost, header = world.index.columns.session, world.cost, world.header
    cheapest = int(cost.min())
    for row in rows:
        session = int(sessions[row])
        price = int(cost[row]) + (0 if session in opened else int(header[session]))
        if spent + price <= budget:
            spent += price
            opened.add(session)
            kept.add(world.turn_of[row])
            if budget - spent < cheapest:
                break
    return kept


def recall_at(world: World, query: Query, rows: Sequence[int], budgets: Sequence[int] = BUDGETS) -> list[float]:
    return [len(query.gold & carried(world, rows, budget)) / len(query.gold) for budget in budgets]


def measure(worlds: Sequence[World], ranker: Ranker) -> NDArray[np.float64]:
    """Recall per question (rows) and budget (columns), all conversations in order."""
    return np.array(
        [recall_at(world, query, ranker(world, query)) for world in worlds for query in world.conversation.queries]
    )
