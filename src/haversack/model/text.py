"""Text as it may be stored: always valid Unicode, never normalised behind the author's back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from haversack.errors import InputError

__all__ = ["clean", "fingerprint_form", "is_blank", "label", "namespace_label", "rough_forms"]

_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"\s+")
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


def fingerprint_form(text: str) -> str:
    """The form in which two wordings count as the same statement: NFC, case-folded, white space collapsed."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return _SPACE.sub(" ", folded).strip()


def rough_forms(texts: Iterable[str]) -> list[bytes]:
    """For each a key that texts of one fingerprint form share, and hardly any others: far cheaper than the form."""
    return [
        (text if text.isascii() else fingerprint_form(text))
        .encode("utf-8", "surrogatepass")
        .translate(_LOWER, _ASCII_SPACES)
        for text in texts
    ]
