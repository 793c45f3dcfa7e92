"""The query relevance filter: what shares no word with the query may leave, unless it is recent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from msgspec import structs

from haversack.assemble.candidate import Candidate
from haversack.assemble.rendition import query_words
from haversack.budget import check_tokens
from haversack.model.memory import Kind

__all__ = ["QueryRelevance", "drop_irrelevant", "topic_words"]

_STOP = query_words(
    "a an the and or but if then of in on at to for from with by about as into is are was were be been am do does did "
    "have has had what which who whom whose when where why how this that these those it its there can could will would "
    "shall should may might must not no so than too very just also tell show give me please"
)
_RECENT = MappingProxyType({Kind.INSIGHT: 5, Kind.SUMMARY: 2, Kind.PASSAGE: 2})


def _recent() -> Mapping[Kind, int]:
    return _RECENT


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRelevance:
    """Which kinds are filtered, and how many of the newest stay whatever they say."""

    enabled: bool = False
    """Whether memories that share no word with the query leave."""
    kinds: frozenset[Kind] = frozenset({Kind.INSIGHT})
    """The kinds that are asked for a word of the query."""
    keep_recent: Mapping[Kind, int] = field(default_factory=_recent)
    """How many of the newest of a kind stay whatever they say."""

    def __post_init__(self) -> None:
        for kind, number in self.keep_recent.items():
            check_tokens(number, f"keep_recent.{kind}")


def topic_words(query: str) -> frozenset[str]:
    """The words of a query that can decide anything; pairs of characters in scripts without spaces."""
    return query_words(query) - _STOP


def drop_irrelevant(candidates: Sequence[Candidate], query: str, rules: QueryRelevance) -> list[Candidate]:
    """The candidates, those without a word of the query marked `irrelevant`.

    A query of function words alone names no topic and filters nothing. Pinned memories stay.
    """
    wanted = topic_words(query)
    if not rules.enabled or not wanted:
        return list(candidates)
    safe = _newest(candidates, rules)
    return [
        structs.replace(one, filtered="irrelevant")
        if _off_topic(one, wanted, rules) and one.memory.id not in safe
        else one
        for one in candidates
    ]


def _off_topic(candidate: Candidate, wanted: frozenset[str], rules: QueryRelevance) -> bool:
    memory = candidate.memory
    if candidate.filtered is not None or memory.pinned or memory.kind not in rules.kinds:
        return False
    return not wanted & query_words(" ".join((memory.content, *memory.entities, *memory.tags)))


def _newest(candidates: Sequence[Candidate], rules: QueryRelevance) -> frozenset[str]:
    kept: set[str] = set()
    for kind, number in rules.keep_recent.items():
        ranked = sorted(
            (one.memory for one in candidates if one.memory.kind is kind),
            key=lambda memory: (memory.event_time, memory.id),
            reverse=True,
        )
        kept |= {memory.id for memory in ranked[:number]}
    return frozenset(kept)
