"""Variants of a conversation, so that weights are learned from more shapes than the two sets have."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby

from haversack.evaluation.conversations import Conversation, Said

__all__ = ["as_documents", "as_roles", "in_blocks", "user_only"]


def as_roles(conversation: Conversation, which: int) -> Conversation:
    """A chat of two people as one of them would have it with an assistant; only questions about that one are kept."""
    names = sorted({turn.speaker for turn in conversation.turns})
    self_name, other = names[which], names[1 - which]
    roles = {self_name: "user", other: "assistant"}
    kept = [query for query in conversation.queries if self_name in query.text and other not in query.text]
    return replace(
        conversation,
        turns=tuple(replace(turn, speaker=roles[turn.speaker]) for turn in conversation.turns),
        queries=tuple(replace(query, text=_in_first_person(query.text, self_name)) for query in kept),
    )


def in_blocks(conversation: Conversation, size: int = 3) -> Conversation:
    """Turns joined by `size` inside their session, without a speaker: what an import of documents looks like."""
    turns, block_of = list[Said](), dict[str, str]()
    for _, group in groupby(conversation.turns, key=lambda turn: turn.session):
        said = list(group)
        for start in range(0, len(said), size):
            block = said[start : start + size]
            text = "\n".join(f"{turn.speaker}: {turn.text}" for turn in block)
            turns.append(replace(block[0], speaker="", text=text))
            block_of |= {turn.id: block[0].id for turn in block}
    queries = [replace(query, gold=frozenset(block_of[turn] for turn in query.gold)) for query in conversation.queries]
    return replace(conversation, turns=tuple(turns), queries=tuple(queries))


def as_documents(conversation: Conversation) -> Conversation:
    """The same blocks outside any session: documents that were remembered one by one."""
    blocks = in_blocks(conversation)
    return replace(blocks, turns=tuple(replace(turn, session="") for turn in blocks.turns))


def user_only(conversation: Conversation) -> Conversation:
    """What the user said, and the questions that it answers."""
    turns = tuple(turn for turn in conversation.turns if turn.speaker == "user")
    ids = {turn.id for turn in turns}
    kept = [replace(query, gold=query.gold & ids) for query in conversation.queries]
    return replace(conversation, turns=turns, queries=tuple(query for query in kept if query.gold))


_FIRST_PERSON = (
    (r"\bdoes {0}\b", "do I"),
    (r"\bis {0}\b", "am I"),
    (r"\bhas {0}\b", "have I"),
    (r"\b{0}'s\b", "my"),
    (r"\b{0}\b", "I"),
)


def _in_first_person(text: str, name: str) -> str:
    for pattern, words in _FIRST_PERSON:
        text = re.sub(pattern.format(name), words, text)
    return text
