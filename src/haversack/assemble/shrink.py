"""Making messages smaller: pictures become notes, long words their best sentences, at last a plain cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from haversack.assemble.history import TurnReason
from haversack.assemble.rendition import shorter_forms
from haversack.model.message import Image, Message, Part, Text
from haversack.tokens.counter import Counter

__all__ = ["Price", "Shrinker", "without_pictures"]

Price: TypeAlias = "Callable[[Sequence[Message]], list[int]]"
"""The tokens of each message."""

_CUT = "\n[… cut: the whole is kept and can be recalled]"
"""Stands at the end of what is shortened, if its user does not say it otherwise."""
_NOTE = "[image left out]"
_FAR = 8
"""Characters for each token of a limit beyond which a text is first measured by its beginning."""
_BEGINNING = 6
_USUAL = 4
"""Characters of a token, roughly."""
_MARGIN = 8
"""The beginning has to exceed the limit by this fraction (an eighth): a cut word may cost more than the whole one."""


@dataclass(frozen=True, slots=True)
class Shrinker:
    """Prices messages and makes them smaller."""

    price: Price
    counter: Counter
    wanted: frozenset[str]
    """The query's words, whose sentences matter."""
    note: str = _CUT
    """What stands at the end of a shortened message."""

    def prices(self, messages: Sequence[Message], limit: int) -> list[int]:
        """The price of each; for one that is far over the limit, a number over it will do."""
        far = {place for place, message in enumerate(messages) if self._is_far(message, limit)}
        near = [message for place, message in enumerate(messages) if place not in far] if far else messages
        prices = self.price(near) if near else []
        for place in sorted(far):
            prices.insert(place, limit + 1)
        return prices

    def _is_far(self, message: Message, limit: int) -> bool:
        text = message.text
        if len(text) <= _FAR * limit:
            return False
        return not self.counter.fits(text[: _BEGINNING * limit], limit + limit // _MARGIN)

    def smaller(self, message: Message, room: int, caller: Message | None = None) -> tuple[Message, TurnReason] | None:
        """The message in at most `room` tokens, its calls untouched; None when even a few words of it do not fit.

        `caller` is the message whose call it answers: what it costs can depend on that.
        """
        if any(isinstance(part, Image) for part in message.parts):
            bare = without_pictures(message)
            if self.cost(bare, caller) <= room:
                return bare, TurnReason.PICTURE_LEFT_OUT
        words = "\n".join(part.text for part in without_pictures(message).parts if isinstance(part, Text))
        found = self._shorter(message, words, room, caller)
        return None if found is None else (found, TurnReason.SHORTENED)

    def _shorter(self, message: Message, text: str, room: int, caller: Message | None) -> Message | None:
        bare = _saying(message, self.note.strip())
        least = self.cost(bare, caller)
        if least > room:
            return None
        forms = [form.words + self.note for form in shorter_forms(text, "", self.wanted)[:-2]]
        if (found := self._largest([_saying(message, words) for words in forms], room, caller)) is not None:
            return found
        words = self.counter.truncate(text, max(0, room - least))
        while words:
            if self.cost(cut := _saying(message, words.rstrip() + self.note), caller) <= room:
                return cut
            words = words[: len(words) * 3 // 4]
        return bare

    def _largest(self, forms: Sequence[Message], room: int, caller: Message | None) -> Message | None:
        """The first of the forms, which fall in size, that fits; the search begins where it is likely."""
        place = sum(len(form.text) > room * _USUAL for form in forms)
        found: Message | None = None
        while place > 0 and self.cost(larger := forms[place - 1], caller) <= room:
            found, place = larger, place - 1
        while found is None and place < len(forms):
            if self.cost(forms[place], caller) <= room:
                found = forms[place]
            place += 1
        return found

    def cost(self, message: Message, caller: Message | None = None) -> int:
        """The price of one message."""
        return self.price([message])[0] if caller is None else self.price([caller, message])[1]


def _saying(message: Message, words: str) -> Message:
    return replace(message, parts=(Text(words),))


def without_pictures(message: Message) -> Message:
    """The message with a note in place of each picture."""
    return replace(message, parts=tuple(_noted(part) for part in message.parts))


def _noted(part: Part) -> Part:
    if not isinstance(part, Image):
        return part
    return Text(f"[image left out: {part.caption}]" if part.caption else _NOTE)
