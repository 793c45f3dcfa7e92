"""The conversation so far, cut to what fits: newest turns, whole tool exchanges, a start that every provider accepts.

Law: a tool call and its results stay or go together, parallel calls too. Summaries that stand for earlier turns are
kept before the turns that they do not cover are considered: they are needed exactly when turns have to go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from haversack.assemble.verdict import Outcome
from haversack.model.message import Message, Role

__all__ = ["Exchange", "Past", "TurnReason", "TurnVerdict", "exchanges"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One message of the past."""

    message: Message
    id: str = ""
    """The turn's id, for the report."""
    stands_for: int = 0
    """How many earlier turns this summary (a user-role message) stands for; 0 for a turn itself."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """Messages that stay or go together: one message, or a message with tool calls and all their results."""

    messages: tuple[Message, ...]
    places: tuple[int, ...]
    """Their indices in the history."""
    summary: bool = False

    @property
    def starts(self) -> bool:
        """Whether a conversation may begin here."""
        return self.messages[0].role is Role.USER


def exchanges(history: Sequence[Past]) -> tuple[list[Exchange], dict[int, TurnReason]]:
    """The exchanges in order, and by index the messages that belong to none and why.

    Results stand right behind their call, in the order in which they came, wherever the log had them.
    """
    answers, orphans = _answers(history)
    refused = dict.fromkeys(orphans, TurnReason.ORPHAN_RESULT)
    found: list[Exchange] = []
    for index, past in enumerate(history):
        if past.message.role is Role.TOOL:
            continue
        results = answers.get(index, [])
        answered = {history[place].message.tool_call_id for place in results}
        if all(call.id in answered for call in past.message.tool_calls):
            places = (index, *results)
            messages = tuple(history[place].message for place in places)
            found.append(Exchange(messages=messages, places=places, summary=past.stands_for > 0))
            continue
        refused.update(dict.fromkeys([index, *results], TurnReason.UNANSWERED_CALL))
        if past.message.text.strip():
            words = replace(past.message, tool_calls=())
            found.append(Exchange(messages=(words,), places=(index,)))
    return found, refused


def _answers(history: Sequence[Past]) -> tuple[dict[int, list[int]], list[int]]:
    """The results of each message with calls, by index; and the results that answer no call before them."""
    waiting: dict[str, int] = {}
    answers: dict[int, list[int]] = {}
    orphans: list[int] = []
    for index, past in enumerate(history):
        waiting.update({call.id: index for call in past.message.tool_calls})
        if past.message.role is Role.TOOL:
            caller = waiting.pop(past.message.tool_call_id or "", None)
            if caller is None:
                orphans.append(index)
            else:
                answers.setdefault(caller, []).append(index)
    return answers, orphans
