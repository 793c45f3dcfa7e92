"""What messages cost: their content, and the framing that the provider wraps around them.

OpenAI: 3 tokens a message, 3 for the reply, 1 beside a name (cookbook, "How to count tokens with tiktoken"). A call and
its result cost their words and the tool's name twice, and 2 more (recorded usage: hmarr/openai-chat-tokens; openai-java
issue 5; OpenAI's forum, 538914); here 4. Calls made together stand in a wrapper of 19 tokens, 7 a call and its name
once more (the same thread), here 20; their results are shown as JSON strings, so that a letter outside ASCII becomes an
escape of several tokens (forum, 1375117). Nobody publishes the others' framing, so theirs are upper bounds: Anthropic's
single message was measured at 6 to 12 tokens with the reply (ctok), and open models' chat templates spend at most 8 a
message.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from haversack.model.message import Image, Message, Opaque, Part, Role, Text, ToolCall
from haversack.tokens.counter import Counter
from haversack.tokens.images import image_tokens
from haversack.tokens.models import Family

__all__ = ["MessageCost", "count_each", "count_message", "count_messages", "reply_framing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCost:
    """Tokens of one message or of several."""

    content: int
    """Words, tool calls with their arguments, pictures and unknown parts."""
    framing: int
    """Role, name, delimiters; and the opening of the reply where a whole list was counted."""

    @property
    def total(self) -> int:
        """Content and framing."""
        return self.content + self.framing


@dataclass(frozen=True, slots=True, kw_only=True)
class _Framing:
    message: int
    reply: int
    name: int
    call: int
    result: int
    wrapper: int = 0
    """Once around several calls in one message."""
    wrapped: int | None = None
    """For each of these, in the place of `call`, with the results as JSON strings, each under its tool's name.

    None: no such wrapper is known, and calls and results show their ids."""


_FRAMING = {
    Family.OPENAI: _Framing(message=3, reply=3, name=1, call=4, result=0, wrapper=20, wrapped=6),
    Family.ANTHROPIC: _Framing(message=7, reply=6, name=1, call=40, result=30),
    Family.GOOGLE: _Framing(message=8, reply=8, name=1, call=16, result=16),
    Family.OTHER: _Framing(message=8, reply=8, name=1, call=16, result=16),
}


def reply_framing(family: Family) -> int:
    """Tokens that open the reply: once for each request."""
    return _FRAMING[family].reply


def count_message(counter: Counter, message: Message, family: Family, *, model: str = "") -> MessageCost:
    """What the message costs in a prompt, without the reply's opening. `model` chooses the price of pictures."""
    return count_each(counter, (message,), family, model=model)[0]


def count_each(counter: Counter, messages: Sequence[Message], family: Family, *, model: str = "") -> list[MessageCost]:
    """What each message costs, counted in one batch; the sum plus `reply_framing` is the cost of the list.

    The results of parallel calls cost what they do behind their call, so the list has to hold both.
    """
    framing = _FRAMING[family]
    wrapped = frozenset[int]() if framing.wrapped is None else _results_of_several(messages)
    roles = list({message.role for message in messages})
    texts: list[str] = [role.value for role in roles]
    ends: list[tuple[int, int]] = []
    for place, message in enumerate(messages):
        words = [_words(part) for part in message.parts]
        texts += map(json.dumps, words) if place in wrapped else words
        texts += _call_texts(message.tool_calls, framing)
        content = len(texts)
        texts += _labels(message, framing)
        ends.append((content, len(texts)))
    counts = counter.count_many(texts)
    role_tokens = dict(zip(roles, counts, strict=False))
    costs: list[MessageCost] = []
    start = len(roles)
    for message, (middle, end) in zip(messages, ends, strict=True):
        content = sum(counts[start:middle]) + _fixed_content(message.parts, family, model)
        labels = sum(counts[middle:end]) + role_tokens[message.role] + _fixed(message, framing)
        costs.append(MessageCost(content=content, framing=labels))
        start = end
    return costs


def _results_of_several(messages: Sequence[Message]) -> frozenset[int]:
    """The places of the results of calls that one message made together."""
    several: dict[str, bool] = {}
    places: list[int] = []
    for place, message in enumerate(messages):
        for call in message.tool_calls:
            several[call.id] = len(message.tool_calls) > 1
        if message.role is Role.TOOL and several.get(message.tool_call_id or ""):
            places.append(place)
    return frozenset(places)


def count_messages(counter: Counter, messages: Sequence[Message], family: Family, *, model: str = "") -> MessageCost:
    """What the list costs as one request, the reply's opening included; 0 for an empty list.

    Appending a message never lowers it.
    """
    costs = count_each(counter, messages, family, model=model)
    return MessageCost(
        content=sum(cost.content for cost in costs),
        framing=sum(cost.framing for cost in costs) + (reply_framing(family) if costs else 0),
    )


def _call_texts(calls: Sequence[ToolCall], framing: _Framing) -> Iterator[str]:
    for call in calls:
        yield call.name
        if framing.wrapped is None:
            yield call.arguments
            yield call.id
        else:
            yield call.arguments if len(calls) == 1 or call.arguments.isascii() else json.dumps(call.arguments)


def _words(part: Part) -> str:
    match part:
        case Text():
            return part.text
        case Image():
            return part.caption
        case Opaque():
            return part.json


def _labels(message: Message, framing: _Framing) -> Iterator[str]:
    if message.name:
        yield message.name
    if framing.wrapped is not None:
        yield from (call.name for call in message.tool_calls)  # over the result
    elif message.tool_call_id:
        yield message.tool_call_id


def _fixed_content(parts: tuple[Part, ...], family: Family, model: str) -> int:
    pictures = sum(image_tokens(part, family, model) for part in parts if isinstance(part, Image))
    return pictures + sum(1 for part in parts if isinstance(part, Opaque))


def _fixed(message: Message, framing: _Framing) -> int:
    tokens, calls = framing.message, len(message.tool_calls)
    if calls > 1 and framing.wrapped is not None:
        tokens += framing.wrapper + framing.wrapped * calls
    else:
        tokens += framing.call * calls
    if message.name:
        tokens += framing.name
    if message.role is Role.TOOL:
        tokens += framing.result
    return tokens
