"""Tool calls and their results matched up where a log left ids out or gave one twice: by id, by name, then by order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from haversack.model.memory import Turn
from haversack.model.message import Message, Role, ToolCall

__all__ = ["pair", "pair_turns"]


@dataclass(frozen=True, slots=True)
class _Open:
    """A call that waits for its result."""

    given: str
    """The id that it came with; may be empty, or another call's as well."""
    call: ToolCall
    place: int


def pair(messages: Sequence[Message]) -> list[Message]:
    """The messages with an id of its own on every call, and on every result.

    Ids that are there are kept, unless an earlier call has them. A result with an id answers the newest open call that
    came with it; one without answers the oldest open call that has none, of its name if there is one, or else the
    oldest open call. The new ids are `call_1`, `call_2`, … in order, so the same messages always get the same ones.
    """
    return _Pairing(messages).run(messages, ["call_"] * len(messages))


def pair_turns(turns: Sequence[Turn]) -> list[Turn]:
    """As `pair`, with new ids that name the turn's position: they are the same wherever the list begins."""
    messages = [turn.message for turn in turns]
    paired = _Pairing(messages).run(messages, [f"call_{turn.position}_" for turn in turns])
    return [
        turn if turn.message is message else replace(turn, message=message)
        for turn, message in zip(turns, paired, strict=True)
    ]


class _Pairing:
    def __init__(self, messages: Sequence[Message]) -> None:
        self._used = {call.id for message in messages for call in message.tool_calls}
        self._used |= {message.tool_call_id for message in messages if message.tool_call_id}
        self._numbers: dict[str, Iterator[int]] = {}
        self._taken: set[str] = set()
        self._waiting: list[_Open] = []

    def run(self, messages: Sequence[Message], stems: Sequence[str]) -> list[Message]:
        """The messages with their ids; each new one begins with the message's stem."""
        paired: list[Message] = []
        for place, (message, stem) in enumerate(zip(messages, stems, strict=True)):
            whole = message
            if message.tool_calls:
                calls = tuple(self._asked(call, place, stem) for call in message.tool_calls)
                whole = message if calls == message.tool_calls else replace(message, tool_calls=calls)
            if message.role is Role.TOOL:
                answered = self._answered(message) or message.tool_call_id or self._new(stem)
                whole = message if answered == message.tool_call_id else replace(message, tool_call_id=answered)
                self._waiting = [open_ for open_ in self._waiting if open_.call.id != answered]
            paired.append(whole)
        return paired

    def _asked(self, call: ToolCall, place: int, stem: str) -> ToolCall:
        known = bool(call.id) and call.id not in self._taken
        named = call if known else replace(call, id=self._new(stem))
        self._taken.add(named.id)
        self._waiting.append(_Open(call.id, named, place))
        return named

    def _answered(self, result: Message) -> str | None:
        if result.tool_call_id:
            same = [open_ for open_ in self._waiting if open_.given == result.tool_call_id]
            return next((open_.call.id for open_ in same if open_.place == same[-1].place), None)
        nameless = [open_ for open_ in self._waiting if not open_.given] or self._waiting
        named = [open_ for open_ in nameless if open_.call.name == result.name]
        return next((open_.call.id for open_ in named or nameless), None)

    def _new(self, stem: str) -> str:
        numbers = self._numbers.setdefault(stem, count(1))
        return next(name for number in numbers if (name := f"{stem}{number}") not in self._used)
