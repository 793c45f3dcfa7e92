"""Characters that are not what they seem: hidden ones, control characters, and look-alikes. Linear in the text."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["BLANKS", "folded", "shown", "without_hidden"]

_CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
"""Control characters and non-characters, without tabs and what ends a line."""

_HIDDEN = (
    "\u00ad\u034f\u061c\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Unicode's Default_Ignorable_Code_Point and the marks of annotations, without fillers, which show as blanks."""
_ANY_HIDDEN = re.compile(f"[{_HIDDEN}]")
_JOINED = (
    "\u0600-\u061b\u061d-\u0dff\u0f00-\u109f\u1780-\u17b3\u17b6-\u180a\u1810-\u18aa\u1900-\u1c4f\ua800-\uabff"
    "\ufb50-\ufdff\ufe70-\ufefc"
)
"""Scripts whose letters change their form beside a joiner or a non-joiner: Arabic, those of India, Mongolian."""
_EMOJI = "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_FLAGS = "|".join(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
"""England, Scotland and Wales: the only flags that tag characters make."""
_HIDDEN_OR_NEEDED = re.compile(
    rf"({_FLAGS}"
    rf"|(?<=[{_JOINED}])[\u200c\u200d]"
    r"|(?<=[\u1800-\u180a\u1810-\u18aa])[\u180b-\u180f]"
    rf"|(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])"
    rf"|(?<=[{_EMOJI}])[\ufe0e\ufe0f]"
    r"|(?<=[#*0-9])\ufe0f(?=\u20e3))"
    rf"|[{_HIDDEN}]"
)

BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Fillers and the empty Braille pattern: letters by their category, blanks to the eye."""
_UNSEEN = frozenset({"Mn", "Me", "Cf"})
_LATIN = str.maketrans(
    "асԁеһіјӏорԛѕтуѵԝхгкмнпвАВСЕНІЈКМОРЅТУХѴԚԜӀ"
    "αβγεηικμνορστυχωϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ"
    "օոսհցզյՕՍԼ"
    "ᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ"
    "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ"
    "ɑɡıȷɩøđħłŧØĐĦŁŦ"
    "˂ᐸ‹❮⟨〈⁄∕⧸╱",
    "acdehijlopqstyvwxrkmnnbabcehijkmopstyxvqwi"
    "abyenikmvopotuxwcjabezhikmnoptyxc"
    "onuhgqjoul"
    "abcdeghijklmprstvwz"
    "abcdefghijklmnoprstuvwyz"
    "agijiodhltodhlt"
    "<<<<<<////",
)
"""Letters of other scripts that look like Latin ones, and signs like `<` and `/`, after Unicode's confusables."""
_LETTERED = (0x1F150, 0x1F170, 0x1F1E6)
"""Where white letters in circles and squares, and the letters of flags, begin: A to Z each."""


def without_hidden(text: str) -> str:
    """Return the text without characters that cannot be seen: zero-width, bidirectional, tags, stray selectors.

    Joiners stay where a script or an emoji needs them, and so do an emoji's selector and the tags of a flag.
    """
    return text if text.isascii() or not _ANY_HIDDEN.search(text) else _HIDDEN_OR_NEEDED.sub(r"\1", text)


def shown(text: str) -> str:
    """Return the text as it may be shown to a model: nothing hidden, control characters as U+FFFD.

    Tabs and whatever ends a line stay as they are.
    """
    if text.isascii() and text.isprintable():
        return text
    return _CONTROL.sub("\ufffd", without_hidden(text))


def folded(text: str, *, latin: bool = True) -> str:
    """Return the form in which texts that look alike are equal: for matching only.

    Compatibility forms and case are folded; marks and hidden characters are left out, fillers are blanks. With
    `latin`, letters of other scripts become the Latin ones that they look like.
    """
    return text.lower() if text.isascii() else text.translate(_FOLDS[latin])


class _Folds:
    """A table for `str.translate`."""

    def __init__(self, *, latin: bool) -> None:
        self._latin = latin

    def __getitem__(self, code: int) -> str:
        return _fold(code, latin=self._latin)


@lru_cache(maxsize=65_536)
def _fold(code: int, *, latin: bool) -> str:
    if code in range(0xE0000, 0xE1000):
        return ""
    for first in _LETTERED if latin else ():
        if code in range(first, first + 26):
            return chr(ord("a") + code - first)
    parts = unicodedata.normalize("NFKD", chr(code))
    kept = "".join(" " if p in BLANKS else p for p in parts if unicodedata.category(p) not in _UNSEEN)
    return (kept.translate(_LATIN) if latin else kept).casefold()


_FOLDS = {latin: _Folds(latin=latin) for latin in (False, True)}
