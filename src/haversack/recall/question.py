"""A query as recall sees it: its words, whom and when it names, and what kind of answer it wants."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from haversack.errors import InputError, QueryError
from haversack.model.text import clean, is_blank
from haversack.scoring.temporal import Span, asks_for_latest, asks_when, spans
from haversack.scoring.words import query_keys, split

__all__ = ["Question", "checked_top_k", "read"]

_LONGEST = 20_000
"""Characters of a query that are read; what comes after cannot change what it is about."""
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|our|us)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What one query says."""

    text: str
    keys: dict[int, str]
    """Searched keys and their words."""
    words: frozenset[str]
    """All its words, folded: names are looked for here."""
    spans: tuple[Span, ...]
    first_person: bool
    when: bool
    latest: bool


def read(query: str, now: datetime, earliest: datetime) -> Question:
    """Read the query; raises QueryError when it is blank, InputError when it is no text."""
    if is_blank(clean(query, "query")):
        raise QueryError("the query is blank: say what to look for")
    text = clean(query)[:_LONGEST]
    return Question(
        text=text,
        keys=query_keys(text),
        words=frozenset(split(text)),
        spans=spans(text, now, earliest),
        first_person=_FIRST_PERSON.search(text.lower()) is not None,
        when=asks_when(text),
        latest=asks_for_latest(text),
    )


def checked_top_k(top_k: int) -> int:
    """`top_k` when it is a whole number of at least 0; raises InputError otherwise."""
    if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"top_k={top_k!r} must be a whole number, 0 or more")
    return top_k
