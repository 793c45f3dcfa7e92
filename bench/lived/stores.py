"""Stores for the measurements: through the public API alone, and kept in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import haversack
from bench.evidence import carried, stands_in, words_of
from bench.options import Options
from bench.remembering import remembering
from bench.system import Packed, Piece
from haversack.assemble import Context
from haversack.engine.namespace import Namespace
from haversack.evaluation.conversations import Conversation, Said

__all__ = ["MODEL", "Fresh", "embedders", "evidence", "now_of", "stands", "tell"]

MODEL = "cl100k_base"
Fresh = Callable[[], haversack.Haversack]
"""Opens an empty store."""


@dataclass(frozen=True, slots=True)
class _Opening:
    given: object

    def __call__(self) -> haversack.Haversack:
        return haversack.open(":memory:", embedder=self.given)  # pyright: ignore[reportArgumentType]


def embedders(options: Options) -> dict[str, Fresh]:
    """Return how to open a store with each embedder that is asked for and installed."""
    from bench.available import usable

    names = usable(options.embedders)
    slow = remembering([name for name in names if name == "onnx"], options.vectors)
    return {name: _Opening(slow.get(name, name)) for name in names}


def tell(ns: Namespace, turns: Iterable[Said]) -> None:
    """Add turns to their sessions, in order."""
    by_session: dict[str, list[Mapping[str, object]]] = {}
    for turn in turns:
        role = turn.speaker if turn.speaker in ("user", "assistant") else "user"
        message: dict[str, object] = {"role": role, "content": turn.text, "at": turn.at, "metadata": {"turn": turn.id}}
        by_session.setdefault(turn.session, []).append(
            message if role == turn.speaker else {**message, "name": turn.speaker}
        )
    for session, messages in by_session.items():
        ns.session(session).extend(messages)


def now_of(conversation: Conversation) -> datetime:
    """Return the moment of the questions: an hour behind the last turn."""
    return max(turn.at for turn in conversation.turns) + timedelta(hours=1)


def stands(words: str, text: str) -> bool:
    """Whether these words stand in the text (four fifths of them, in order)."""
    found = words_of(text)
    return stands_in(words_of(words), found, f" {' '.join(found)} ")


def evidence(ns: Namespace, context: Context | None, text: str, gold: Sequence[str] | frozenset[str]) -> float:
    """Return the share of gold turns that the context claims and whose words stand in the text."""
    kept = [] if context is None else [row for row in context.kept if str(row.metadata.get("turn")) in gold]
    contents = {memory.id: memory for memory in ns.get_many([row.memory_id for row in kept])}
    claims = tuple(
        Piece(
            id=row.memory_id,
            turn=str(row.metadata["turn"]),
            text=contents[row.memory_id].content,
            at=contents[row.memory_id].event_time,
        )
        for row in kept
    )
    return carried(Packed(text=text, claims=claims), gold)
