"""The conversation so far: its messages, the exchanges that they make, and what became of each.

Law: a tool call and its results stay or go together, parallel calls too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple, overload

from haversack.assemble.verdict import Outcome
from haversack.model.message import Message, Role

__all__ = ["Exchange", "Past", "TurnReason", "TurnVerdict", "TurnVerdicts", "exchanges", "turn_starts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One message of the past."""

    message: Message
    id: str = ""
    """The turn's id, for the report."""
    stands_for: int = 0
    """How many earlier turns this summary (a user-role message) stands for; 0 for a turn itself."""

    @property
    def is_summary(self) -> bool:
        """Whether it stands for earlier turns."""
        return self.stands_for > 0 and self.message.role is Role.USER


class TurnReason(StrEnum):
    """Why a turn is in the prompt as it is, or is not in it."""

    FITS = "fits"
    SHORTENED = "shortened_to_fit"
    PICTURE_LEFT_OUT = "picture_left_out"
    NO_ROOM = "no_room"
    ORPHAN_RESULT = "orphan_result"
    """A tool result whose call is not there."""
    UNANSWERED_CALL = "unanswered_call"
    """A tool call that lacks a result; its words are kept where it has some."""
    NOT_A_START = "not_a_start"
    """A conversation that is sent has to begin with the user's words, or with a summary."""
    PRIOR_SESSION = "prior_session"
    """Other sessions' turns are the first to leave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnVerdict:
    """What became of one message."""

    id: str
    role: Role
    verdict: Outcome
    reason: TurnReason
    tokens: int
    """What it takes in the prompt; what it would take in full when it is out."""


class Exchange(NamedTuple):
    """Messages that stay or go together: one message, or a message with tool calls and all their results."""

    messages: tuple[Message, ...]
    places: tuple[int, ...]
    """Their indices among all messages."""

    @property
    def starts(self) -> bool:
        """Whether a conversation may begin here: some providers leave out a message that shows nothing."""
        first = self.messages[0]
        return first.role is Role.USER and first.shows


def exchanges(messages: Sequence[Message], refused: dict[int, TurnReason]) -> Iterator[Exchange]:
    """The exchanges, the newest first; the messages are read no further than exchanges are asked for.

    `refused` gets, by index, the messages that belong to none, as far as was read. Results stand right behind their
    call, in the order in which they came, wherever the log had them.
    """
    waiting: dict[str, list[int]] = {}
    tool = Role.TOOL
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.role is tool:
            waiting.setdefault(message.tool_call_id or "", []).append(index)
            continue
        if not message.tool_calls:
            yield Exchange((message,), (index,))
            continue
        answers = {call.id: found for call in message.tool_calls if (found := waiting.pop(call.id, []))}
        refused.update(dict.fromkeys((n for found in answers.values() for n in found[:-1]), TurnReason.ORPHAN_RESULT))
        places = (index, *sorted(found[-1] for found in answers.values()))
        if all(call.id in answers for call in message.tool_calls):
            yield Exchange(tuple(messages[place] for place in places), places)
            continue
        refused.update(dict.fromkeys(places, TurnReason.UNANSWERED_CALL))
        if message.text.strip():
            yield Exchange((replace(message, tool_calls=()),), (index,))
    orphans = (place for found in waiting.values() for place in found)
    refused.update(dict.fromkeys(orphans, TurnReason.ORPHAN_RESULT))


def turn_starts(past: Sequence[Past]) -> list[int]:
    """Return where each turn begins: a user's message, with all that follows it until the next one."""
    return [n for n, one in enumerate(past) if one.message.role is Role.USER and not one.stands_for]


class TurnVerdicts(Sequence[TurnVerdict]):
    """One row for each message of a past, in order; made on demand, since what was left out need not be priced."""

    def __init__(self, count: int, make: Callable[[], Iterable[TurnVerdict]]) -> None:
        self._count = count
        self._make = make

    @cached_property
    def _rows(self) -> tuple[TurnVerdict, ...]:
        return tuple(self._make())

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> TurnVerdict: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[TurnVerdict, ...]: ...
    def __getitem__(self, index: int | slice) -> TurnVerdict | tuple[TurnVerdict, ...]:
        return self._rows[index]

    def __iter__(self) -> Iterator[TurnVerdict]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TurnVerdicts) and self._rows == other._rows

    __hash__ = None  # pyright: ignore[reportAssignmentType]
