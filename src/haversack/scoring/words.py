"""Text to word keys: folding, stemming, and character pairs for scripts that are written without spaces.

A key is a 64-bit hash of a folded stem, so that an index needs no dictionary. Documents and queries share one path;
only a query leaves words out. No I/O.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from itertools import pairwise
from threading import Lock
from typing import Protocol, cast

import Stemmer

from haversack.model.text import normalized
from haversack.scoring.codes import codes, humps
from haversack.scoring.numbers import DIGIT, UNSPACED, figures, narrowed, plain_digits, spelled_out
from haversack.scoring.spoken import SPOKEN, in_figures

__all__ = ["QUESTION_WORDS", "is_day", "key_of", "name_keys", "query_keys", "split", "word_keys"]

_MARK = (
    "[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0dff]"
)
_SIGN = "[\u2600-\u27bf\U0001f1e6-\U0001faff]"
"""Pictures and other signs that stand for a word."""
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
_ASCII_LETTERS = re.compile(r"[a-z](?<![a-z0-9].)[a-z0-9]*(?:'[a-z0-9]+)*")
"""Words that begin with a letter: `figures` takes those that begin with a digit."""
# each begins with what it takes, not with a look behind: the engine passes over other characters quickly
_COMPOUND = re.compile(r"[a-z0-9](?<![a-z0-9'-].)[a-z0-9]{0,11}+(?:-[a-z0-9]{1,12}){1,2}(?![a-z0-9'-])")
_MOMENT = re.compile(r"[0-9-]+(?:t[0-9]+)?$")
"""No compound: a number, or a date with its hour."""
_INITIALS = re.compile(r"\.(?<=[a-z].)(?<!\w..)(?:[a-z]\.)+")
_SIGNED = re.compile(r"#(?<=[a-z].)(?<!\w..)(?![a-z0-9])|\+(?<=[a-z].)(?<!\w..)\+(?![a-z0-9])")
"""What stands behind the letter of initials, and of names that a letter alone does not tell apart."""
_PARTS = "1/4 1/2 3/4 1/3 2/3 1/8 3/8 5/8 7/8".split()  # noqa: SIM905
_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200c\u200d\u2060\ufe0e\ufe0f\ufeff")) | {
    0x2212: "-",
    0x066B: ".",
    0x066C: ",",
    **{ord(sign): f" {parts} " for sign, parts in zip("¼½¾⅓⅔⅛⅜⅝⅞", _PARTS, strict=True)},
}
"""Left out; and signs inside numbers as those of ASCII."""
_IDEOGRAPH = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_SMALL_IDEOGRAPHS = frozenset("的了是在和与與也都就而及吗嗎呢吧么麼什怎哪谁誰")
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0670]")
_CONTRACTION = re.compile("[^'\u2019]+['\u2019](?:m|re|ve|ll|d|s|t)")
_CLITIC = re.compile("'(?:m|re|ve|ll|d|s)$")
_UMLAUT = frozenset("äöü")
_TWO_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_HEBREW_PREFIXES = frozenset("\u05d5\u05d4\u05d1\u05dc\u05de\u05e9\u05db")
"""And, the, in, to, from, that, as: letters that are written as part of the next word."""
_ELISION = re.compile("^(?:[cdjlmnst]|qu)'(?=..)")
_ONE = re.compile(
    r"\b(?:which|the|that|this|other|another|last|next|first|second|no|any|every|each) one\b", re.IGNORECASE
)
"""What `one` stands for has been named."""
_LONGEST = 64
_CACHE_LIMIT = 400_000

QUESTION_WORDS = frozenset(
    # question words, auxiliaries, determiners, prepositions; first and second person stay in on purpose
    """a an the this that these those what which who whom whose when where why how is are was were be been being am do
    does did doing done have has had having can could will would shall should may might must of to in on at by for from
    with about as into and or but if so than then there here it its their his her he she they them him not no any some
    all more most such only just also very too much many s t d ll re ve m tell please""".split()  # noqa: SIM905 - a list of words reads best as words
)


def split(text: str) -> list[str]:
    """Folded words in order, then their other spellings: as one word what is also written as several, and the reverse.

    A run of an unspaced script gives each of its characters and each pair of neighbours. Numbers, dates and codes are
    wholes: see `numbers` and `codes`.
    """
    return _read(text, asked=False)


def word_keys(words: Sequence[str]) -> list[int]:
    """One key per word of a document, as `split` gave them."""
    known = _keys
    try:
        return [known[word] for word in words]
    except KeyError:
        return [key_of(word) for word in words]


def query_keys(text: str) -> dict[int, str]:
    """The keys that a query searches for, each with its word, in order of appearance.

    Question and function words are left out, unless nothing else is there. Pairs stand for their characters, but for
    ideographs, each of which means something.
    """
    words = list(dict.fromkeys(_read(text, asked=True)))
    if "one" in words and _ONE.search(text) is not None:
        words.remove("one")
    telling = [word for word in words if _CLITIC.sub("", word.replace("\u2019", "'")) not in QUESTION_WORDS] or words
    keys: dict[int, str] = {}
    for word in telling:
        keys.setdefault(key_of(word), word)
    return keys


def name_keys(text: str) -> tuple[int, ...]:
    """The keys of a name's words, or of a text's that may say names, in order; short forms and case do not count."""
    folded = _folded(_plain(text))
    return tuple(map(key_of, _pairs(_words_in(folded))))


def is_day(word: str) -> bool:
    """Whether a word stands for a day, which nobody wrote so."""
    return word[0] == "@"


def key_of(word: str) -> int:
    """The key of one folded word."""
    known = _keys.get(word)
    if known is None:
        with _lock:
            if len(_keys) >= _CACHE_LIMIT:
                _keys.clear()
            known = _keys[word] = _hash(_stem(word))
    return known


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - its name in the library


_keys: dict[str, int] = {}
_lock = Lock()
_ALPHABETS = {
    "russian": ("\u0400", "\u052f"),
    "arabic": ("\u0600", "\u06ff"),
    "greek": ("\u0370", "\u03ff"),
    "hindi": ("\u0900", "\u097f"),
    "tamil": ("\u0b80", "\u0bff"),
    "armenian": ("\u0530", "\u058f"),
}
_STROKES = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})
_stemmers = {name: cast("_Stemmer", Stemmer.Stemmer(name, 0)) for name in ("english", "german", *_ALPHABETS)}  # pyright: ignore[reportUnknownMemberType]


@cache
def _any_word(*, counted: bool = False) -> re.Pattern[str]:
    """Compiled when the first text beyond ASCII comes: it takes as long as some imports."""
    first = rf"[^\W\d_{UNSPACED}](?<![^\W_{UNSPACED}].)" if counted else rf"[^\W_{UNSPACED}]"
    word = rf"(?:[^\W_{UNSPACED}]|{_MARK})*"
    return re.compile(f"[{UNSPACED}]+|{first}{word}(?:['\u2019][^\\W_{UNSPACED}]{word})*|{_SIGN}")


@cache
def _run() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}]+")


def _read(text: str, *, asked: bool) -> list[str]:
    """All words of a text, or those that it asks for."""
    plain = _plain(text)
    counted = DIGIT.search(plain) is not None
    if counted:
        plain = spelled_out(plain, asked=asked)
    folded = _folded(plain)
    words = _words_in(folded, counted=counted)
    others = _apart(folded, words) + _as_one(folded, counted=counted) + humps(plain)
    said = plain if SPOKEN.isdisjoint(words) else in_figures(plain)
    others += figures(said, asked=asked, small=QUESTION_WORDS) if counted or said is not plain else ()
    if folded.isascii():
        return words + others
    return (_pairs(words, ideographs=True) if asked else _pieced(words)) + _spelled_otherwise(words) + others


def _words_in(folded: str, *, counted: bool = False) -> list[str]:
    """The words in order; of a text that is `counted` those that do not begin with a digit."""
    if folded.isascii():
        return (_ASCII_LETTERS if counted else _ASCII_WORD).findall(folded)
    return _any_word(counted=counted).findall(folded)


def _plain(text: str) -> str:
    """Without what is not seen, and with one form and one set of digits for all that look alike."""
    if text.isascii():
        return text
    return plain_digits(normalized("NFKC", narrowed(text).translate(_UNSEEN)))


def _folded(plain: str) -> str:
    return plain.lower() if plain.isascii() else plain.casefold()


def _as_one(folded: str, *, counted: bool) -> list[str]:
    """`cooperate` for co-operate, `usa` for u.s.a., codes, and `c++` or `c#`, which are no `c`."""
    found: list[str] = []
    if "-" in folded:
        found += [word.replace("-", "") for word in _COMPOUND.findall(folded) if not _MOMENT.match(word)]
    found += [code for code in codes(folded, counted=counted) if code not in found]
    if "." in folded[:-1]:  # one at the end is of the sentence
        found += [_with_letter(folded, match).replace(".", "") for match in _INITIALS.finditer(folded)]
    if "+" in folded or "#" in folded:
        found += [_with_letter(folded, match) for match in _SIGNED.finditer(folded)]
    return found


def _with_letter(folded: str, match: re.Match[str]) -> str:
    return folded[match.start() - 1 : match.end()]


def _apart(folded: str, words: Sequence[str]) -> list[str]:
    """`brien` for o'brien, `ankara` for ankara'da: the words at an apostrophe that is no contraction."""
    if "'" not in folded and "\u2019" not in folded:
        return []
    joined = [word for word in words if not word.isalnum() and not _CONTRACTION.fullmatch(word)]
    return [part for word in joined for part in _parts(word)]


def _parts(joined: str) -> list[str]:
    parts = _ELISION.sub("", _CLITIC.sub("", joined.replace("\u2019", "'"))).split("'")
    return [part for part in parts if len(part) > 2 and part not in QUESTION_WORDS] if len(parts) > 1 else []  # noqa: PLR2004


def _spelled_otherwise(words: Sequence[str]) -> list[str]:
    """`mueller` for müller, and Hebrew words without the small word that is written as their first letter."""
    found: list[str] = []
    for word in words:
        if not _UMLAUT.isdisjoint(word):
            found.append(word.translate(_TWO_LETTERS))
        elif word[0] in _HEBREW_PREFIXES and len(bare := _bare(word)) > 3:  # noqa: PLR2004 - a root has three letters
            found.append(bare[1:])
    return found


def _pairs(found: Sequence[str], *, ideographs: bool = False) -> list[str]:
    """The words, and the pairs of what is written without spaces; its telling `ideographs` as well, where wanted."""
    words: list[str] = []
    for word in found:
        if len(word) > 1 and not word.isascii() and _run().match(word):
            words.extend(map("".join, pairwise(word)))
            words.extend(each for each in _IDEOGRAPH.findall(word) if ideographs and each not in _SMALL_IDEOGRAPHS)
        else:
            words.append(word)
    return words


def _pieced(words: Sequence[str]) -> list[str]:
    run = _run()
    return [piece for word in words for piece in (_pieces(word) if run.match(word) else (word,))]


def _pieces(run: str) -> list[str]:
    return [*run, *map("".join, pairwise(run))]


def _stem(word: str) -> str:
    word = _ELISION.sub("", _CLITIC.sub("", word.replace("\u2019", "'"))).replace("'", "")[:_LONGEST]
    if word.isascii():
        return _stemmers["english"].stemWord(word)
    if _run().match(word):
        return word
    if not _UMLAUT.isdisjoint(word):  # the only sign of German that a single word can carry
        return _bare(_stemmers["german"].stemWord(word))
    language = _language(word)
    return _stemmers[language].stemWord(_without_stress(word) if language == "russian" else _bare(word))


def _bare(word: str) -> str:
    """Without accents, vowel points and strokes."""
    return normalized("NFC", _MARKS.sub("", normalized("NFD", word))).translate(_STROKES)


def _without_stress(word: str) -> str:
    """In Cyrillic the mark of й makes another letter; that of ё is left out as often as not."""
    return normalized("NFC", word.replace("\u0301", "")).replace("ё", "е")


def _language(word: str) -> str:
    first = word[:1]
    for language, (start, end) in _ALPHABETS.items():
        if start <= first <= end:
            return language
    return "english"


def _hash(stem: str) -> int:
    return int.from_bytes(blake2b(stem.encode(), digest_size=8).digest(), "little")
