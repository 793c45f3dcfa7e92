"""Text as it may be stored: always valid Unicode, never normalised behind the author's back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Literal

from haversack.errors import InputError

__all__ = ["clean", "fingerprint_form", "is_blank", "label", "matches", "namespace_label", "normalized", "rough_forms"]

_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"\s+")
_MOST_MARKS = 30
"""As in text that Unicode calls stream-safe (UAX 15, section 13): no language puts so many marks on one letter."""
_CROWD = re.compile(rf"[^\w\s\x00-\x7f]{{{_MOST_MARKS},}}+")
_JOINER = "\u034f"
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
_FILLERS = frozenset("\u034f\u115f\u1160\u2800\u3164\uffa0" + "".join(map(chr, range(0xFE00, 0xFE10))))
"""Characters of other categories that leave nothing to be seen."""
_LABEL_LIMIT = 1000
_ASCII_SPACES = bytes(code for code in range(128) if chr(code).isspace())
_LOWER = bytes(range(256)).lower()


def clean(text: str, what: str = "text") -> str:
    """The text with each lone surrogate replaced by U+FFFD; everything else, NUL included, stays as it is.

    Raises InputError when it is not a string; `what` names it in the message.
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - the edge where callers are checked
        msg = f"{what} must be a string, not {type(text).__name__}"
        raise InputError(msg)
    if text.isascii():
        return text
    return _SURROGATE.sub("\ufffd", text)


def is_blank(text: str) -> bool:
    """Whether the text shows nothing: only white space, control and zero-width characters, or fillers."""
    return all(unicodedata.category(sign) in _UNSEEN or sign in _FILLERS for sign in text)


def label(text: str, what: str) -> str:
    """A checked name (namespace, session, tag, kind): cleaned, not blank, at most 1,000 characters.

    A label is data, never a path: any other character is allowed and kept apart from its look-alikes.
    """
    name = clean(text, what)
    if is_blank(name):
        msg = f"{what} must not be blank"
        raise InputError(msg)
    if len(name) > _LABEL_LIMIT:
        msg = f"{what} has {len(name)} characters; at most {_LABEL_LIMIT} are allowed"
        raise InputError(msg)
    return name


def namespace_label(text: str, what: str = "namespace") -> str:
    """A checked name of a namespace: a label without a star at its end, which in a key's grant means every ending."""
    name = label(text, what)
    if name.endswith("*"):
        msg = f"{what}={name!r} ends in a star, which in a key's namespaces means every name that begins so: drop it"
        raise InputError(msg)
    return name


def matches(pattern: str, name: str) -> bool:
    """Whether a pattern means this namespace: an exact name, or a prefix with a star at its end."""
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def normalized(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """The text in a normal form of Unicode, in time that grows with its length alone.

    Marks are put in order within their run, which takes squared time, so a long run is parted by joiners.
    """
    return unicodedata.normalize(form, text if text.isascii() else _CROWD.sub(_parted, text))


def _parted(crowd: re.Match[str]) -> str:
    parted, marks = list[str](), 0
    for sign in crowd.group():
        marks = marks + 1 if unicodedata.combining(sign) else 0
        if marks > _MOST_MARKS:
            parted.append(_JOINER)
            marks = 1
        parted.append(sign)
    return "".join(parted)


def fingerprint_form(text: str) -> str:
    """The form in which two wordings count as the same statement: NFC, case-folded, white space collapsed."""
    folded = normalized("NFC", normalized("NFC", text).casefold())
    return _SPACE.sub(" ", folded).strip()


def rough_forms(texts: Iterable[str]) -> list[bytes]:
    """For each a key that texts of one fingerprint form share, and hardly any others: far cheaper than the form."""
    return [
        (text if text.isascii() else fingerprint_form(text))
        .encode("utf-8", "surrogatepass")
        .translate(_LOWER, _ASCII_SPACES)
        for text in texts
    ]
