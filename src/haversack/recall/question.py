"""A query as recall sees it: its words, whom and when it names, and what kind of answer it wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from haversack.errors import InputError, QueryError
from haversack.model.text import clean, is_blank
from haversack.scoring.cues import asks_about_assistant, asks_for_name, asks_for_number, asks_in_first_person
from haversack.scoring.numbers import DIGIT, day_words
from haversack.scoring.temporal import Span, asks_for_latest, asks_when, spans, without_latest
from haversack.scoring.words import key_of, query_keys, split

__all__ = ["Question", "checked_query", "checked_top_k", "matter", "read"]

_DAY = timedelta(days=1)
_POSSESSIVES = ("'s", "\u2019s")
_LONGEST = 20_000
"""Characters of a query that are read; what comes after cannot change what it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What one query says."""

    text: str
    keys: dict[int, str]
    """Searched keys and their words; behind the question's own those of the days that it names in other ways."""
    own: int
    """How many of the keys are those of its own words."""
    all_words: tuple[str, ...]
    """All its words, folded, in order."""
    words: frozenset[str]
    """The same as a set, and those with `'s` without it: names are looked for here."""
    spans: tuple[Span, ...]
    first_person: bool
    about_assistant: bool
    when: bool
    amount: bool
    name: bool
    latest: bool

    @property
    def exact(self) -> bool:
        """Whether it names a number or a time."""
        return (bool(self.spans) and not self.latest) or any(DIGIT.search(word) for word in self.keys.values())


def read(query: str, now: datetime, earliest: datetime) -> Question:
    """Read the query, which `checked_query` let pass."""
    text = clean(query)[:_LONGEST]
    words, named, keys = split(text), spans(text, now, earliest), query_keys(matter(text))
    return Question(
        text=text,
        keys=keys | {key: day for key, day in _days(named).items() if key not in keys},
        own=len(keys),
        all_words=tuple(words),
        words=frozenset(words) | {word[:-2] for word in words if word.endswith(_POSSESSIVES)},
        spans=named,
        first_person=asks_in_first_person(text),
        about_assistant=asks_about_assistant(text),
        when=asks_when(text),
        amount=asks_for_number(text),
        name=asks_for_name(text),
        latest=asks_for_latest(text),
    )


def matter(text: str) -> str:
    """Return what the query is about: without the words that only ask for what holds now, unless it has no others."""
    without = without_latest(text)
    return text if is_blank(without) else without


def _days(named: Sequence[Span]) -> dict[int, str]:
    """The keys of the single days among these times."""
    days = [span.start for span in named if span.end - span.start == _DAY]
    return {key_of(word): word for day in days for word in day_words(day.year, day.month, day.day)[:1]}


def checked_query(query: str) -> None:
    """Raises QueryError when it is blank, InputError when it is no text."""
    if is_blank(clean(query, "query")):
        raise QueryError("the query is blank: say what to look for")


def checked_top_k(top_k: int) -> int:
    """`top_k` when it is a whole number of at least 0; raises InputError otherwise."""
    if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"top_k={top_k!r} must be a whole number, 0 or more")
    return top_k
