"""When two statements are one, and when a new one ends an old one. Pure: similarities come in as numbers.

Law: nothing is destroyed. A duplicate is kept, hidden behind the statement it repeats; a statement that is no longer
true is kept with the date it ended. Both can be undone. Statements that differ in a word, a number, a sign or their
order are never one, however alike they look; only inflections, fillers and quiet punctuation make no difference.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from math import sqrt

import msgspec

from haversack.cached import cached
from haversack.compaction.changes import Bearing, bearing, is_asserted, tells_of_past
from haversack.lifecycle.policy import DedupPolicy
from haversack.llm.anchors import anchors
from haversack.model.identity import MAY_END, SUBJECT
from haversack.model.memory import Memory, Stage, Trust
from haversack.model.query import is_replaced
from haversack.model.text import fingerprint_form
from haversack.scoring.words import key_of

__all__ = [
    "SUBJECT",
    "Admission",
    "Merge",
    "Relation",
    "Similar",
    "admit",
    "begins_at",
    "essence",
    "fields_identity",
    "hidden_behind",
    "is_same_statement",
    "lexical_similarity",
    "plan_dedup",
    "succession",
    "unhidden",
]


Similar = Callable[[str, Sequence[str]], Sequence[float]]
"""Cosine of one text with each of the others."""

_RELATED = 0.5
_TAKEN_UP = 0.75
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NO_CASE = re.compile(r"[\u0590-\u06ff\u0900-\u0fff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_TIME = re.compile(
    r"\b(?:yesterday|today|tomorrow|tonight|now|once|formerly|previously|last|next|before|after|until|since|ago"
    r"|was|were|had|will|used to|morning|noon|afternoon|evening|night|daily|weekly|monthly|yearly"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|aug(?:ust)?|sept(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?)\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:any ?more|no longer|instead|from now on|not .{1,200} but|changed|switched|moved|replaced|stopped|actually"
    r"|correction|nicht (?:mehr|länger)|kein\w* mehr|sondern|stattdessen|ab jetzt"
    r"|n(?:e |['’])\S{1,40} (?:\S{1,40} )?plus|désormais|ya no|en vez de|a partir de ahora"
    r"|non \S+ più|não \S+ mais|já não|niet meer|geen .{1,200} meer|больше не|уже не)\b"
    r"|もう|ではなく|じゃなく|不再|已不|改到|改为|改為|改成|더 이상",
    re.IGNORECASE,
)
_FUNCTION_WORDS = """
a an and are as at be been but by for from has have he her his i in is it its me my of on or our she so that the their
them they this to us we with you your do does did not no any more very really
"""
_FUNCTION = frozenset(_FUNCTION_WORDS.split())
_SAID = re.compile(r"[^\W_]+(?:['’][^\W_]+)?|[^\w\s.,;:!…'’‘\"“”„«»()\[\]。、！，；：「」]")
"""What may tell two statements apart: words, and signs that are no quiet punctuation."""
_FILLERS = "the that of is are am be been being just also very really"
_UNSAID = frozenset(_FILLERS.split())
_TRUST = {Trust.CORRECTION: 3, Trust.MANUAL: 2, Trust.VERIFIED: 1, Trust.EXTRACTED: 0}


class Relation(StrEnum):
    """What a new statement is to those that exist."""

    NEW = "new"
    SAME = "same"
    """Word for word one that exists: nothing needs to be written."""
    NEAR = "near"
    """One that exists in other words: kept, hidden behind it."""
    ENDS = "ends"
    """It ends one that exists, which is kept and dated."""
    LATE = "late"
    """One that exists had ended it before it was told: kept, dated, behind that one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What to write for a new statement."""

    relation: Relation
    memories: tuple[Memory, ...]
    """All rows to write; the new one, unless it is the same, comes first."""
    other: str | None = None
    """Id of the statement that it repeats or ends, or that ended it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """A near-duplicate found among existing memories."""

    keep: str
    hide: str
    similarity: float


def is_same_statement(new: str, old: str, similarity: float, policy: DedupPolicy) -> bool:
    """Whether two wordings say one thing: word for word, or alike enough with nothing that tells them apart."""
    if fingerprint_form(new) == fingerprint_form(old):
        return True
    return similarity >= policy.similarity and essence(new) == essence(old)


@cached(2_048)  # one new statement is held against several
def essence(text: str) -> tuple[frozenset[str], tuple[tuple[bool, int | str], ...]]:
    """What wordings that may be one statement have in common: names, and words and signs in the same order.

    Inflections, fillers and quiet punctuation make no difference.
    """
    return _names_of(text), tuple(map(_root, _said(text)))


def admit(
    new: Memory,
    existing: Sequence[Memory],
    similarities: Sequence[float],
    policy: DedupPolicy,
    history: Sequence[Memory] = (),
) -> Admission:
    """How a new statement joins others; `existing` are live candidates, `similarities` their cosines with it.

    A statement that others outrank in trust ends none of them. `history` are other statements on its subject, that
    begin later or have ended: a new one takes its place among them by the time from which each is true.
    """
    pairs = [
        (old, near)
        for old, near in zip(existing, similarities, strict=True)
        if not _is_over(old, begins_at(new)) and old.stage is not Stage.DELETED and old.id != new.id
    ]
    for old, _ in pairs:
        if old.kind is new.kind and _form(old.content) == _form(new.content):
            return Admission(relation=Relation.SAME, memories=(), other=old.id)
    for old, near in sorted(pairs, key=lambda pair: -pair[1]):
        alike = policy.enabled and old.kind is new.kind and near >= policy.similarity
        if alike and essence(new.content) == essence(old.content):
            return Admission(relation=Relation.NEAR, memories=(hidden_behind(new, old.id),), other=old.id)
    bearings = {old.id: _bearing(new, old, near) for old, near in pairs}
    if likely := [name for name, found in bearings.items() if found is Bearing.LIKELY]:
        new = replace(new, metadata={**new.metadata, MAY_END: likely})
    told = [one for one in (*existing, *history) if _is_on_subject(new, one) and one.duplicate_of is None]
    ended = [old for old, _ in pairs if old not in told and bearings[old.id] is Bearing.SURE]
    return _in_time(new, told, ended)


def _in_time(new: Memory, told: Sequence[Memory], ended: Sequence[Memory]) -> Admission:
    """Return how it joins `told`, what was said on its subject, and ends what it contradicts.

    What begins later, and is trusted as much, ends it then; what is still true when it begins ends there.
    """
    begins = begins_at(new)
    later = [one for one in told if begins_at(one) > begins and _TRUST[one.trust] >= _TRUST[new.trust]]
    ended = [*ended, *(one for one in told if begins_at(one) <= begins and _yields(one, new))]
    if not later and not ended:
        return Admission(relation=Relation.NEW, memories=(new,))
    joined, *dated = succession(new, ended)
    if not later:
        return Admission(relation=Relation.ENDS, memories=(joined, *dated), other=ended[0].id)
    first = min(later, key=lambda one: (begins_at(one), one.id))
    end = begins_at(first)
    joined = replace(joined, superseded_by=first.id, valid_to=min(joined.valid_to or end, end))
    return Admission(relation=Relation.LATE, memories=(joined, replace(first, valid_from=end), *dated), other=first.id)


def _is_over(old: Memory, moment: datetime) -> bool:
    return old.superseded_by is not None and (is_replaced(old) or (old.valid_to or moment) <= moment)


def _yields(old: Memory, new: Memory) -> bool:
    """Whether it is still true when the new one begins, and trusted no more."""
    return _TRUST[old.trust] <= _TRUST[new.trust] and (old.valid_to is None or begins_at(new) < old.valid_to)


def begins_at(memory: Memory) -> datetime:
    """From when on it is true: what is told of a later day without more is true from when it is told."""
    return memory.valid_from or min(memory.event_time, memory.created_at)


def succession(new: Memory, ended: Sequence[Memory]) -> tuple[Memory, ...]:
    """The new statement, true from when it was made, and those it ends, kept and true until then, if not less long."""
    begins = begins_at(new)
    dated = (replace(old, superseded_by=new.id, valid_to=_end(old, begins)) for old in ended)
    return (replace(new, valid_from=begins), *dated)


def _end(old: Memory, at: datetime) -> datetime:
    """When a statement ends that another one ends at a moment: not before it began, nor later than it said itself."""
    return max(begins_at(old), at if old.valid_to is None else min(old.valid_to, at))


def hidden_behind(duplicate: Memory, keep: str) -> Memory:
    """The duplicate, kept but never recalled; `unhidden` undoes it."""
    return replace(duplicate, superseded_by=keep, valid_to=duplicate.event_time, duplicate_of=keep)


def unhidden(memory: Memory) -> Memory:
    """The inverse of `hidden_behind`."""
    return replace(memory, superseded_by=None, valid_to=None, duplicate_of=None)


def plan_dedup(memories: Iterable[Memory], similar: Similar, policy: DedupPolicy) -> list[Merge]:
    """Near-duplicates among the newest `check_newest` live memories of each kind.

    Of two, the one with more trust is kept, then the pinned, then the older one.
    """
    if not policy.enabled:
        return []
    merges: list[Merge] = []
    for group in _by_kind(memories, policy.check_newest):
        kept: list[Memory] = []
        for memory in sorted(group, key=lambda each: (-_TRUST[each.trust], not each.pinned, each.event_time, each.id)):
            scores = similar(memory.content, [each.content for each in kept])
            found = [
                (score, each)
                for score, each in zip(scores, kept, strict=True)
                if is_same_statement(memory.content, each.content, score, policy)
            ]
            if not found or memory.pinned:
                kept.append(memory)
                continue
            score, other = max(found, key=lambda pair: pair[0])
            merges.append(Merge(keep=other.id, hide=memory.id, similarity=score))
    return merges


def lexical_similarity(text: str, others: Sequence[str]) -> list[float]:
    """Cosine of word counts: what is there without an embedder."""
    mine = _counted(text)
    return [_cosine(mine, _counted(other)) for other in others]


def fields_identity(fields: Sequence[str]) -> str:
    """One hash for a tuple of fields, whose borders count: ("ab", "c") is not ("a", "bc")."""
    forms = msgspec.json.encode([fingerprint_form(field) for field in fields])
    return hashlib.sha256(forms).hexdigest()[:32]


def _by_kind(memories: Iterable[Memory], newest: int) -> list[list[Memory]]:
    groups: dict[str, list[Memory]] = {}
    for memory in memories:
        if memory.superseded_by is None and memory.stage is not Stage.DELETED:
            groups.setdefault(memory.kind, []).append(memory)
    return [sorted(group, key=lambda each: (each.created_at, each.id))[-newest:] for group in groups.values()]


def _bearing(new: Memory, old: Memory, similarity: float) -> Bearing:
    """What a statement that tells a change does to another one that is not on its subject."""
    if not _yields(old, new) or new.event_time < old.event_time or _is_on_subject(new, old):
        return Bearing.NONE
    if similarity >= _RELATED and is_asserted(new.content) and _repeats(new.content, old.content):
        return Bearing.SURE
    return bearing(new.content, old.content)


def _repeats(new: str, old: str) -> bool:
    """Whether a statement that announces a change says the old one again, in most of its words."""
    subject = _before_change(new)
    if subject is None or not _names_of(old) <= _names_of(new):
        return False
    return _takes_up(new, old) and _is_spoken_of(subject, old)


@cached(64)  # one new statement is held against several
def _before_change(text: str) -> str | None:
    """What stands before the words that announce a change; None without any."""
    change = _CHANGE.search(text)
    return None if change is None else text[: change.start()]


def _is_on_subject(new: Memory, old: Memory) -> bool:
    """Whether both say what is so of one subject: what tells of a past time stands beside that."""
    subject = new.metadata.get(SUBJECT)
    if subject is None or subject != old.metadata.get(SUBJECT):
        return False
    return not tells_of_past(new.content) and not tells_of_past(old.content)


def _takes_up(new: str, old: str) -> bool:
    """Whether a statement that announces a change repeats what another says: else it speaks of something beside it."""
    mine, theirs = set(map(_root, _words(new))), set(_words(old))
    found = sum(_root(word) in mine for word in theirs)
    return found >= _TAKEN_UP * len(theirs)


def _is_spoken_of(subject: str, old: str) -> bool:
    """Whether what stands before the change is all in the old statement: `the other pump` is not `the pump`."""
    theirs = set(map(_root, _words(old)))
    return all(_root(word) in theirs for word in _words(subject) if not _TIME.fullmatch(word))


@cached(2_048)  # each new statement meets the same few again
def _names_of(text: str) -> frozenset[str]:
    return frozenset(anchor for anchor in anchors(text) if not _TIME.fullmatch(anchor))


def _said(text: str) -> list[str]:
    return [word for word in _SAID.findall(fingerprint_form(text)) if word not in _UNSAID]


def _root(word: str) -> tuple[bool, int | str]:
    """What the inflections of a word share; a number, a sign or a code is its own."""
    return (True, key_of(word)) if word.isalpha() else (False, word)


def _words(text: str) -> list[str]:
    """Content words; a script without capitals or spaces gives its characters."""
    words = _WORD.findall(fingerprint_form(text))
    split = [list(word) if _NO_CASE.search(word) else [word] for word in words if word not in _FUNCTION]
    return [word for group in split for word in group]


@cached(2_048)
def _form(text: str) -> str:
    return fingerprint_form(text)


@cached(2_048)
def _counted(text: str) -> tuple[Counter[str], int]:
    """Its words with their counts, and the sum of the squares of these."""
    counts = Counter(_words(text))
    return counts, sum(count * count for count in counts.values())


def _cosine(one: tuple[Counter[str], int], two: tuple[Counter[str], int]) -> float:
    shared = sum(count * two[0][word] for word, count in one[0].items())
    norm = sqrt(one[1] * two[1])
    return shared / norm if norm else 0.0
