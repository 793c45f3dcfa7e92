"""What messages cost: their content, and the framing that the provider wraps around them.

OpenAI: 3 tokens a message, 3 for the reply, 1 beside a name (cookbook, "How to count tokens with tiktoken"); a call
costs its name, its arguments and 3 (measured on recorded usage by hmarr/openai-chat-tokens), and 5 more here for the
wrapper of parallel calls. Nobody publishes the others' framing, so theirs are upper bounds: Anthropic's single message
was measured at 6 to 12 tokens with the reply (ctok), and open models' chat templates spend at most 8 a message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from haversack.model.message import Image, Message, Opaque, Part, Role, Text
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
    call_ids: bool
    """Whether the prompt shows the ids of calls. A result's id is always charged: it stands for the tool's name."""


_FRAMING = {
    Family.OPENAI: _Framing(message=3, reply=3, name=1, call=8, result=0, call_ids=False),
    Family.ANTHROPIC: _Framing(message=7, reply=6, name=1, call=40, result=30, call_ids=True),
    Family.GOOGLE: _Framing(message=8, reply=8, name=1, call=16, result=16, call_ids=True),
    Family.OTHER: _Framing(message=8, reply=8, name=1, call=16, result=16, call_ids=True),
}


def reply_framing(family: Family) -> int:
    """Tokens that open the reply: once for each request."""
    return _FRAMING[family].reply


def count_message(counter: Counter, message: Message, family: Family, *, model: str = "") -> MessageCost:
    """What the message costs in a prompt, without the reply's opening. `model` chooses the price of pictures."""
    return count_each(counter, (message,), family, model=model)[0]


def count_each(counter: Counter, messages: Sequence[Message], family: Family, *, model: str = "") -> list[MessageCost]:
    """What each message costs, counted in one batch; the sum plus `reply_framing` is the cost of the list."""
    framing = _FRAMING[family]
    roles = list({message.role for message in messages})
    texts: list[str] = [role.value for role in roles]
    ends: list[tuple[int, int]] = []
    for message in messages:
        texts += _content_texts(message, framing)
        content = len(texts)
        texts += _framing_texts(message)
        ends.append((content, len(texts)))
    counts = counter.count_many(texts)
    role_tokens = dict(zip(roles, counts, strict=False))
    costs: list[MessageCost] = []
    start = len(roles)
    for message, (middle, end) in zip(messages, ends, strict=True):
        words = sum(counts[start:middle]) + _fixed_content(message.parts, family, model)
        labels = sum(counts[middle:end]) + role_tokens[message.role] + _fixed(message, framing)
        costs.append(MessageCost(content=words, framing=labels))
        start = end
    return costs


def count_messages(counter: Counter, messages: Sequence[Message], family: Family, *, model: str = "") -> MessageCost:
    """What the list costs as one request, the reply's opening included; 0 for an empty list.

    Appending a message never lowers it.
    """
    costs = count_each(counter, messages, family, model=model)
    return MessageCost(
        content=sum(cost.content for cost in costs),
        framing=sum(cost.framing for cost in costs) + (reply_framing(family) if costs else 0),
    )


def _content_texts(message: Message, framing: _Framing) -> list[str]:
    texts = [_words(part) for part in message.parts]
    for call in message.tool_calls:
        texts += (call.name, call.arguments, call.id) if framing.call_ids else (call.name, call.arguments)
    return texts


def _words(part: Part) -> str:
    match part:
        case Text():
            return part.text
        case Image():
            return part.caption
        case Opaque():
            return part.json


def _framing_texts(message: Message) -> list[str]:
    return [label for label in (message.name, message.tool_call_id) if label]


def _fixed_content(parts: tuple[Part, ...], family: Family, model: str) -> int:
    pictures = sum(image_tokens(part, family, model) for part in parts if isinstance(part, Image))
    return pictures + sum(1 for part in parts if isinstance(part, Opaque))


def _fixed(message: Message, framing: _Framing) -> int:
    tokens = framing.message + framing.call * len(message.tool_calls)
    if message.name:
        tokens += framing.name
    if message.role is Role.TOOL:
        tokens += framing.result
    return tokens
