"""The minimum without a model: names, preferences, dates and decisions that people state in plain English. Pure.

Only what a person says of themselves or settles counts: never a tool's result, never a question, never an if.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from haversack.compaction.extraction.action import Action, Event
from haversack.llm.anchors import anchors, is_request, sentences
from haversack.model.memory import Kind, Turn
from haversack.model.message import Role

__all__ = ["extract_by_rules"]

_MOST = 50
"""Statements of one turn: each is held against all others, and nobody says more of themselves at once."""
_VALUE = r"(?P<value>[^.!?;\n]{1,120})"
_PROFILE: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (slot, re.compile(rf"\b(?:{form}) {_VALUE}", re.IGNORECASE))
    for slot, form in (
        ("name", r"my name is|my name's|i am called|i'm called|call me"),
        ("city", r"i live in|i'm living in|i've moved to|i moved to|i just moved to"),
        ("origin", r"i'm from|i am from|i come from|i was born in"),
        ("work", r"i work (?:at|for|as|in)|my job is"),
        ("birthday", r"my birthday is|i was born on"),
        ("email", r"my e-?mail(?: address)? is"),
        ("phone", r"my (?:phone|number|phone number) is"),
        ("age", r"(?<!when )i turned|my age is"),
        ("timezone", r"my time ?zone is"),
    )
)
_FAVOURITE = re.compile(rf"\bmy (?P<slot>favou?rite [\w ]{{1,40}}?) (?:is|are) {_VALUE}", re.IGNORECASE)
_NOT_A_THING = (
    r"(?!(?:its?|this|that|these|those|them|they|him|her|you|how|when|what|every|not|to|the (?:way|thought|idea))\b)"
)
_PREFERENCE = re.compile(
    r"(?:^|[,;:–-] |\b(?:and|but|because|since|so|why|that) )i (?:really |absolutely |always |also |just )?"
    r"(?:prefer|like|love|enjoy|hate|dislike|avoid|do not like"
    r"|don't like|don't eat|do not eat|can't stand|am allergic to) "
    rf"{_NOT_A_THING}{_VALUE}|\bi'm allergic to (?P<allergy>[^.!?;\n]{{1,120}})",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[,(]| [–-] | (?:but|because|and|so|too|now|very much|a lot)\b", re.IGNORECASE)
_CLAUSES = re.compile(r",? (?:and|but) (?=(?:i|my|i'm|i am|i've)\b)|; ", re.IGNORECASE)
_DECISION = re.compile(
    r"\b(?:(?:we|i)(?:'ve| have)? (?:decided|agreed|settled)|(?:we|i)(?:'ll| will) (?:use|go with)"
    r"|let's (?:go with|use)|(?:we're|i'm|we are|i am) going with|(?:the|my|our) decision is)\b",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"^(?:correction:|actually,? (?:it|that|my|the)\b|no,? (?:it's|it is|that's|my)|that's wrong)", re.IGNORECASE
)
_APPOINTMENT = re.compile(
    r"\b(?:meeting|appointment|flight|deadline|due|birthday|anniversary|wedding|party|interview|exam|trip|launch"
    r"|release|concert|dinner|visit|vacation|holiday|conference|surgery|move|starts?|ends?|arrives?|leaves?)\b",
    re.IGNORECASE,
)
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"  # as a date names it
)
_DATE = re.compile(
    rf"\d{{4}}-\d{{2}}-\d{{2}}|\b{_MONTH} \d{{1,2}}|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(r"\b(?:if|would|could|might|maybe|wish|imagine|suppose|pretend)\b", re.IGNORECASE)


def extract_by_rules(turns: Sequence[Turn]) -> list[Action]:
    """One ADD per statement found, in the order said, up to 50 of a turn; the words themselves are the evidence."""
    return [action for turn in turns for action in islice(_from_turn(turn), _MOST)]


def _from_turn(turn: Turn) -> Iterator[Action]:
    message = turn.message
    if message.role not in (Role.USER, Role.ASSISTANT) or (message.role is Role.ASSISTANT and message.name is None):
        return
    who = message.name or message.role.value
    for line in sentences(message.text):
        if not is_request(line) and not _HYPOTHETICAL.search(line):
            found = (_of_themselves(part, who) or _settled(part, who) for part in _statements(line))
            yield from (action for action in found if action is not None)


def _statements(line: str) -> list[str]:
    """The line, or its clauses where several of them say something of the speaker: each has its own subject."""
    clauses = _CLAUSES.split(line)
    told = sum(any(form.search(clause) for _, form in _PROFILE) for clause in clauses)
    return clauses if told > 1 else [line]


def _of_themselves(line: str, who: str) -> Action | None:
    if _CORRECTION.search(line):
        return _add(line, who, Kind.CORRECTION, importance=0.8)
    for slot, form in _PROFILE:
        if form.search(line):
            return _add(line, who, Kind.PROFILE, subject=slot, importance=0.8)
    if match := _FAVOURITE.search(line):
        return _add(line, who, Kind.PROFILE, subject=match["slot"], importance=0.7)
    if match := _PREFERENCE.search(line):
        thing = match["value"] or match["allergy"]
        return _add(line, who, Kind.PROFILE, subject=f"preference/{_CLAUSE_END.split(thing)[0]}", importance=0.7)
    return None


def _settled(line: str, who: str) -> Action | None:
    if _DECISION.search(line):
        return _add(line, who, Kind.DECISION, importance=0.7)
    if _APPOINTMENT.search(line) and _DATE.search(line):
        return _add(line, who, Kind.FACT, importance=0.6)
    return None


def _add(line: str, who: str, kind: Kind, *, importance: float, subject: str = "") -> Action:
    named = anchors(line)
    capitals = {word.strip(".,;:!") for word in line.split() if word[:1].isupper()}
    return Action(
        event=Event.ADD,
        kind=kind,
        text=f"{who}: {line}",
        subject=f"{who}/{subject}".casefold() if subject else "",
        evidence=line,
        importance=importance,
        entities=(who, *sorted(word for word in capitals if word.casefold() in named and word != who)),
    )
