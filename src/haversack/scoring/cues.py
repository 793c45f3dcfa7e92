"""Cues in the wording of texts and queries, cheap and bound to English. Pure; `words` are a text's folded words."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

__all__ = [
    "asks_about_assistant",
    "asks_for_name",
    "asks_for_number",
    "asks_in_first_person",
    "mentions_name",
    "mentions_number",
    "mentions_time",
    "states_preference",
]

_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten twice once first second third".split()  # noqa: SIM905
)
_TIMES = frozenset(
    """yesterday today tonight tomorrow ago last next recently soon since weekend day days week weeks month months year
    years hours monday tuesday wednesday thursday friday saturday sunday january february march april june july august
    september october november december summer winter spring autumn""".split()  # noqa: SIM905
)
_PREFERENCES = frozenset(
    """always never whenever prefer prefers preferred preference preferences rather favourite
    favorite""".split()  # noqa: SIM905
)
_WISHES = frozenset(("like", "want", "need", "love", "hate"))
_DIGIT = re.compile(r"[0-9]")
_CLOCK = re.compile(r"\b(?:19|20)\d\d\b|\d ?[ap]m\b", re.IGNORECASE)
_NAME = re.compile(r"[a-z,;:] [A-Z][a-z]")
_ASKS_NUMBER = re.compile(r"\bhow (?:many|much|long|often|old)\b", re.IGNORECASE)
_ASKS_NAME = re.compile(r"\b(?:where|who|which|what)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|our|us)\b", re.IGNORECASE)
_ASSISTANT = re.compile(
    r"\b(?:did you|you (?:recommend|suggest|advise|provide|mention|give|gave|say|said|explain|outline)\w*"
    r"|your (?:recommendation|advice|suggestion|explanation))",
    re.IGNORECASE,
)


def mentions_number(text: str, words: AbstractSet[str]) -> bool:
    """Whether a number stands in the text, in digits or as a small numeral."""
    return not words.isdisjoint(_NUMBERS) or _DIGIT.search(text) is not None


def mentions_name(text: str) -> bool:
    """Whether a capitalised word stands inside a sentence."""
    return _NAME.search(text) is not None


def mentions_time(text: str, words: AbstractSet[str]) -> bool:
    """Whether the text says when something is."""
    return not words.isdisjoint(_TIMES) or _CLOCK.search(text) is not None


def states_preference(words: AbstractSet[str]) -> bool:
    """Whether a text of these words states a preference, a habit or a standing wish."""
    return not words.isdisjoint(_PREFERENCES) or ("i" in words and not words.isdisjoint(_WISHES))


def asks_for_number(query: str) -> bool:
    """Whether the answer is an amount."""
    return _ASKS_NUMBER.search(query) is not None


def asks_for_name(query: str) -> bool:
    """Whether the answer may be a person, a place or a thing."""
    return _ASKS_NAME.search(query) is not None


def asks_in_first_person(query: str) -> bool:
    """Whether the asker speaks of themselves."""
    return _FIRST_PERSON.search(query) is not None


def asks_about_assistant(query: str) -> bool:
    """Whether the query is about what the assistant said."""
    return _ASSISTANT.search(query) is not None
