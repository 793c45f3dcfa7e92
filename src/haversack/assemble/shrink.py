"""Making one message smaller: pictures become notes, long words their best sentences, at last a plain cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from haversack.assemble.rendition import shorter_forms
from haversack.model.message import Image, Message, Part, Text
from haversack.tokens.counter import Counter

__all__ = ["shrink_message", "without_pictures"]

_CUT = "\n[… cut: the whole is kept and can be recalled]"
_NOTE = "[image left out]"


def without_pictures(message: Message) -> Message:
    """The message with a note in place of each picture."""
    return replace(message, parts=tuple(_noted(part) for part in message.parts))


def _noted(part: Part) -> Part:
    if not isinstance(part, Image):
        return part
    return Text(f"[image left out: {part.caption}]" if part.caption else _NOTE)


def shrink_message(
    message: Message, room: int, *, price: Callable[[Message], int], counter: Counter, wanted: frozenset[str]
) -> Message | None:
    """The message in at most `room` tokens, its calls untouched; None when even a few words of it do not fit."""
    text = "\n".join(part.text for part in without_pictures(message).parts if isinstance(part, Text))
    bare = replace(message, parts=(Text(_CUT.strip()),))
    if price(bare) > room:
        return None
    for form in shorter_forms(text, "", wanted)[:-2]:
        candidate = replace(message, parts=(Text(form.words + _CUT),))
        if price(candidate) <= room:
            return candidate
    words = counter.truncate(text, max(0, room - price(bare)))
    while words:
        candidate = replace(message, parts=(Text(words.rstrip() + _CUT),))
        if price(candidate) <= room:
            return candidate
        words = words[: len(words) * 3 // 4]
    return bare
