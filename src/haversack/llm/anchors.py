"""What a shorter text must not lose: names, numbers, dates, code identifiers, decisions, open requests. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["anchors", "is_decision", "is_request", "sentences"]

_CODE = re.compile(  # a look back, or a bound, keeps each alternative from being tried again at every place of a run
    r"`([^`\n]++)`"  # quoted code
    r"|(https?://[^\s)>\]\"']+|(?<![\w.+-])[\w.+-]++@[\w-]++\.[\w.-]+)"  # addresses
    r"|(?<![\w./-])((?:[\w.-]*+/)+[\w.-]+\w)"  # paths
    r"|(?<![\w-])-*+([\w-]++\.(?:py|js|ts|go|rs|md|json|ya?ml|toml|txt|csv|sql|sh|db|html|css|pdf)\b)"  # files
    r"|(\b[A-Za-z]++(?:_[A-Za-z0-9]++)++\b|\b[a-z]++(?:[A-Z][a-z0-9]++)++\b"
    r"|\b[A-Za-z_]\w*+(?:\.\w++){0,15}\(\))"  # names in code
    r"|(\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b)"  # hashes
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DATE = re.compile(
    rf"\b(?:{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\b(?:,? \d{{4}})?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])[-+]?[$€£¥]?\d+(?:[.,:/-]\d+)*%?")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[.!?…][\"'”’)\]])\s+|(?<=[。！？])|\n+")
_FUNCTION_WORDS = """
a an and are as at be but by can could did do does for from had has have he her here hers him his how i i'd i'll i'm
i've if in is it it's its let's me my no not now of ok okay on or our please she so that that's the their them then
there these they this those to too us was we we'll we're well were what when where which who why will with would yes
yeah you your you're just also all any some thanks thank hi hello hey sure great oh wow
"""
_NOT_NAMES = frozenset(_FUNCTION_WORDS.split())
_DECISION = re.compile(
    r"\b(?:decid\w*|decision|agreed (?:on|to|that)|we(?:'ll| will| shall) (?:use|go|do|keep|take|make)"
    r"|let's (?:go|use|do|keep|make)|going with|(?:will|shall) use|chose|chosen|settled on|must(?: not)?|prefers?"
    r"|concluded|approved|rejected|(?:we|you|should|please) (?:always|never))\b|^(?:always|never)\b"
    r"|決定|決めた|решил\w*|entschieden|décidé|decidimos",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"[?？]\s*$|^(?:please|can you|could you|would you|remind me|make sure|don't forget)\b|\b(?:todo|to-do"
    r"|still need to|remind me|remember to|follow up)\b",
    re.IGNORECASE,
)


def anchors(text: str) -> frozenset[str]:
    """The names, numbers, dates and code identifiers of a text, folded so that a copy of them is found again."""
    return frozenset(found.casefold() for found in _found(text))


def sentences(text: str) -> list[str]:
    """The text's sentences and lines, without blank ones."""
    return [piece.strip() for piece in _SENTENCE.split(text) if piece and piece.strip()]


def is_decision(sentence: str) -> bool:
    """Whether the sentence seems to settle something."""
    return _DECISION.search(sentence) is not None


def is_request(sentence: str) -> bool:
    """Whether the sentence seems to ask for something."""
    return _REQUEST.search(sentence) is not None


def _found(text: str) -> Iterator[str]:
    for match in _CODE.finditer(text):
        yield next(group for group in match.groups() if group).rstrip(".,;:")
    without_code = _CODE.sub(" ", text)
    yield from (match.group() for match in _DATE.finditer(without_code))
    plain = _DATE.sub(" ", without_code)
    yield from (match.group().lstrip("+") for match in _NUMBER.finditer(plain))
    for sentence in sentences(plain):
        yield from _names(sentence)


def _names(sentence: str) -> Iterator[str]:
    words = list(_WORD.finditer(sentence))
    for place, match in enumerate(words):
        word = match.group().removesuffix("'s").removesuffix("’s")
        opening = place == 0 or sentence[words[place - 1].start() : match.start()].rstrip()[-1:] in (
            ":",
            "-",
            "•",
            '"',
            "“",
        )
        follows = place + 1 < len(words) and _is_capital(words[place + 1].group())
        acronym = len(word) > 1 and word.isupper()
        if _is_capital(word) and (acronym or not opening or follows):
            yield word


def _is_capital(word: str) -> bool:
    return word[0].isupper() and word.casefold() not in _NOT_NAMES
