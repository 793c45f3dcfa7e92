"""From words as they were said to passages that can be recalled: one per short turn, several per long one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from haversack.engine.core import Core
from haversack.model.memory import Kind, Memory, Source, Turn
from haversack.model.message import Message, Role
from haversack.model.text import is_blank
from haversack.recall.chunks import chunk

__all__ = ["passages_of_turn", "split_memory"]


def passages_of_turn(core: Core, turn: Turn, ids: Iterator[str], now: datetime) -> list[Memory]:
    """The turn's words in chunks. A system prompt and a turn without words leave nothing to recall."""
    words = _words(turn.message)
    if turn.message.role is Role.SYSTEM or is_blank(words):
        return []
    whole = Memory(
        id=next(ids),
        kind=Kind.PASSAGE,
        content=words,
        speaker=turn.message.name or turn.message.role.value,
        created_at=now,
        event_time=turn.at,
        metadata=turn.metadata,
        source=Source(session=turn.session, turns=(turn.id,)),
    )
    return split_memory(core, whole, ids)


def split_memory(core: Core, whole: Memory, ids: Iterator[str]) -> list[Memory]:
    """The memory itself when it is short or no passage, or else its chunks, each knowing its place.

    Those that share no turn name the first, so that they go with it.
    """
    if whole.kind is not Kind.PASSAGE:
        return [whole]
    chunks = chunk(whole.content, core.counter(core.settings.model).count_many, target=core.settings.chunk_tokens)
    if len(chunks) == 1:
        return [whole]
    source = replace(whole.source, part=(0, len(chunks)))
    first = replace(whole, content=chunks[0], source=source)
    if not source.turns:
        source = replace(source, memories=(*source.memories, whole.id))
    rest = replace(whole, born=0, changed=0)
    return [
        first,
        *(
            replace(rest, id=next(ids), content=words, source=replace(source, part=(index, len(chunks))))
            for index, words in enumerate(chunks[1:], start=1)
        ),
    ]


def _words(message: Message) -> str:
    calls = (f"{call.name}({call.arguments})" for call in message.tool_calls)
    return "\n".join(filter(None, (message.text, *calls)))
