"""What a statement that tells a change in plain words does to another one. Pure.

Law: a question, a quotation, a condition, a plan, a denial and what somebody else said end nothing; a change ends what
it surely speaks of, that is the same subject with the same kind of value, and is only linked to what it likely means.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from haversack.cached import cached
from haversack.compaction.change_words import (
    CANCELLED,
    CUES,
    FRAMES,
    LINKING,
    NEGATION,
    NO_LONGER,
    PAST,
    SAID_ONLY,
    SLOT,
    TO,
    UNSPACED,
)
from haversack.model.text import fingerprint_form
from haversack.scoring.words import key_of

__all__ = ["Bearing", "announces_change", "bearing", "is_asserted", "tells_of_past"]

_WORD = re.compile(r"[^\W_]+")
_FRAME_OF = {word: kind for kind, words in FRAMES.items() for word in words.split()}
_FITS = {
    "moved": {"live"},
    "shifted": {"be"},
    "switched": {"use", "take", "work"},
    "corrected": set(FRAMES),
    "instead": set(FRAMES),
    "now": {"live", "work"},
}
"""Which kinds of value each kind of change replaces when it does not say which value; a day or a number fits each."""
_SENTENCE = 300
"""Characters of a statement that may tell a change; a longer one tells more than that."""
_OTHERWISE = {"moved", "shifted", "switched"}
"""Kinds of change whose announcement is the verb of the statement."""
_LONGEST = (5, 10)
"""Words of a value, and signs where words are not spaced; what is longer says more than one thing."""

Root = int | str


class Bearing(StrEnum):
    """What a new statement does to an old one."""

    NONE = "none"
    LIKELY = "likely"
    """It may mean it: both are kept, the new one with a link."""
    SURE = "sure"
    """It ends it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """A statement taken apart at its first word of a frame: who or what, in what way, and which value."""

    subject: tuple[Root, ...]
    frame: str | None
    value: tuple[Root, ...]
    timed: bool
    """Whether the value is a day, an hour or a number."""
    unspaced: bool
    all: frozenset[Root]
    """Every word that tells something apart."""


def announces_change(text: str) -> bool:
    """Return whether the text tells that something is otherwise than before, and means it."""
    return len(text) <= _SENTENCE and (_end(text) or _cue(text)) is not None and is_asserted(text)


@cached(256)
def is_asserted(text: str) -> bool:
    """Return whether the text says for itself what is so today, and is no question, quotation, condition or denial."""
    return SAID_ONLY.search(text) is None


@cached(256)
def tells_of_past(text: str) -> bool:
    """Return whether the text says what was so at a time that is over: no value of today's."""
    return PAST.search(text[:_SENTENCE]) is not None


def bearing(new: str, old: str) -> Bearing:
    """Return what the new statement does to the old one, which was true before it."""
    if not announces_change(new):
        return Bearing.NONE
    theirs = _told(old)
    if (ended := _end(new)) is not None:
        return _of_an_end(_roots(new[: ended.start()] + " " + new[ended.end() :]), theirs)
    cue = _cue(new)
    if cue is None:
        return Bearing.NONE
    kind, match = cue
    named = TO.search(new)
    if named is not None and (value := _roots(_group(named, "a"))):
        return _of_a_named_value(new, match, named, value, theirs)
    mine = _told(new, match) if kind in _OTHERWISE else _told(_cut(new, [match.span()]))
    return _of_another_value(kind, mine, theirs)


def _of_an_end(topic: frozenset[Root], theirs: _Told) -> Bearing:
    """Something is not so any more: what says just that it is so, or when."""
    if not topic or not topic <= theirs.all:
        return Bearing.NONE
    told = theirs.all - set(theirs.value) if theirs.timed else theirs.all
    return Bearing.SURE if topic in (told, theirs.all) else Bearing.LIKELY


def _of_a_named_value(
    new: str, match: re.Match[str], named: re.Match[str], value: frozenset[Root], theirs: _Told
) -> Bearing:
    """It says which value is over: what has that value for the same subject and says nothing more."""
    if not value <= theirs.all:
        return Bearing.NONE
    left = _cut(new, [match.span(), named.span()])
    topic = _roots(left) - value
    rest = theirs.all - value
    if not topic <= rest:
        return Bearing.NONE
    return Bearing.SURE if topic == rest else Bearing.LIKELY


def _of_another_value(kind: str, mine: _Told, theirs: _Told) -> Bearing:
    """It says only the new value: what has a value of that sort for the same subject, in the same way."""
    if not mine.subject or not theirs.subject or mine.subject != theirs.subject or theirs.frame is None:
        return Bearing.NONE
    if not theirs.value or len(theirs.value) > _LONGEST[theirs.unspaced] or mine.timed is not theirs.timed:
        return Bearing.LIKELY
    if kind not in _OTHERWISE and mine.frame != theirs.frame:
        return Bearing.LIKELY
    shared = theirs.frame == "be" and bool(set(mine.value) & set(theirs.value))  # room A, room B
    fits = theirs.frame in _FITS[kind] or theirs.timed or shared
    return Bearing.SURE if fits and mine.value != theirs.value else Bearing.LIKELY


def _end(text: str) -> re.Match[str] | None:
    """The words by which something is over."""
    return NO_LONGER.search(text) or _undenied(CANCELLED.search(text), text)


def _cue(text: str) -> tuple[str, re.Match[str]] | None:
    """The words that announce another value, and their kind."""
    found = ((kind, _undenied(pattern.search(text), text)) for kind, pattern in CUES.items())
    return next(((kind, match) for kind, match in found if match is not None), None)


def _undenied(match: re.Match[str] | None, text: str) -> re.Match[str] | None:
    """The announcement, unless something before it in its clause denies it."""
    if match is None:
        return None
    clause = re.split(r"[,;:.。，：]", text[: match.start()])[-1]
    return None if NEGATION.search(clause) else match


def _group(match: re.Match[str], name: str) -> str:
    return next((text for key, text in match.groupdict().items() if key.startswith(name) and text), "")


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    """The text without these stretches."""
    return "".join(" " if any(a <= place < b for a, b in spans) else sign for place, sign in enumerate(text))


def _tokens(text: str) -> list[str]:
    words = _WORD.findall(fingerprint_form(text))
    return [part for word in words for part in (list(word) if UNSPACED.search(word) else [word])]


def _root(word: str) -> Root:
    return key_of(word) if word.isalpha() and not UNSPACED.search(word) else word


def _roots(text: str) -> frozenset[Root]:
    """What its words say beside linking ones and those of frames."""
    return frozenset(_root(word) for word in _tokens(text) if word not in LINKING and word not in _FRAME_OF)


@cached(512)
def _told(text: str, match: re.Match[str] | None = None) -> _Told:
    """Take a statement apart; `match` is the announcement in it, which stands for a frame where none comes before."""
    before, after, frame = _parts(text, match)
    value = tuple(_root(word) for word in _tokens(after) if word not in LINKING and word not in _FRAME_OF)
    subject = tuple(_root(word) for word in _tokens(before) if word not in LINKING)
    return _Told(
        subject=subject,
        frame=frame,
        value=value,
        timed=SLOT.search(after) is not None,
        unspaced=UNSPACED.search(text) is not None,
        all=_roots(text),
    )


def _parts(text: str, match: re.Match[str] | None) -> tuple[str, str, str | None]:
    """What stands before and behind the word that says in what way, without the announcement; and that way."""
    said = text if match is None else text[: match.start()] + " \ue000 " + text[match.end() :]
    for found in re.finditer(r"\ue000|[^\W_]+", said):
        word = found[0]
        if word == "\ue000":
            if said[: found.start()].strip(" ,.:"):
                return said[: found.start()], said[found.end() :], None
            continue
        unspaced = UNSPACED.search(word)
        if unspaced is None:
            if (kind := _FRAME_OF.get(word.lower())) and said[: found.start()].replace("\ue000", "").strip(" ,.:"):
                return (
                    said[: found.start()].replace("\ue000", " "),
                    said[found.end() :].replace("\ue000", " "),
                    kind,
                )
            continue
        for place, sign in enumerate(word):
            if place and sign in _UNSPACED_FRAMES:
                start = found.start() + place
                rest = said[start + 1 :].replace("\ue000", " ")
                return said[:start].replace("\ue000", " "), rest, _unspaced_frame(sign, rest)
    if match is None and (slot := SLOT.search(said)) is not None and said[: slot.start()].strip():
        return said[: slot.start()], said[slot.start() :], "be"
    return said.replace("\ue000", " "), "", None


_UNSPACED_FRAMES = {"在": "be", "是": "be", "住": "live", "用": "use", "喝": "take", "开": "take", "は": "be"}


def _unspaced_frame(sign: str, rest: str) -> str:
    """Japanese says at the end in what way; its topic stands first."""
    if sign != "は":
        return _UNSPACED_FRAMES[sign]
    ways = {"住": "live", "働": "work", "使": "use", "飲": "take"}
    return next((way for word, way in ways.items() if word in rest), "be")
