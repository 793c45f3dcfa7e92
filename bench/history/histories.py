"""Conversations in the shape of chat APIs, with parallel tool calls and long results, the same on every run."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from bench.speed.corpus import turns

__all__ = ["SYSTEM", "Call", "History", "Message", "histories"]

SYSTEM = "You are a careful assistant. Use the tools when they help, and say what you are not sure of."


class Function(TypedDict):
    name: str
    arguments: str


class Call(TypedDict):
    id: str
    type: str
    function: Function


class Message(TypedDict):
    """One message; a system message comes first."""

    role: str
    content: str
    tool_calls: NotRequired[list[Call]]
    tool_call_id: NotRequired[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A conversation that ends with the question to be answered."""

    name: str
    messages: tuple[Message, ...]


def histories() -> list[History]:
    """Short turns, an agent's work, long results, and one message that no window holds."""
    return [
        _history("chat", exchanges=300, calls=0, result_words=0),
        _history("agent", exchanges=80, calls=2, result_words=60),
        _history("long results", exchanges=40, calls=3, result_words=500),
        _history("one huge result", exchanges=20, calls=1, result_words=60, last_words=40_000),
    ]


def _history(name: str, *, exchanges: int, calls: int, result_words: int, last_words: int = 0) -> History:
    chance = random.Random(name)
    words = iter(turns(exchanges * (2 + calls) + 1, seed=len(name)))
    messages: list[Message] = [{"role": "system", "content": SYSTEM}]
    for number in range(exchanges):
        messages.append({"role": "user", "content": next(words)})
        if calls:
            batch = [_call(number, place, chance) for place in range(chance.randint(1, calls))]
            messages.append({"role": "assistant", "content": "", "tool_calls": batch})
            last = last_words if number == exchanges - 1 else 0
            messages += [_result(call, last or result_words, chance) for call in batch]
        messages.append({"role": "assistant", "content": next(words)})
    messages.append({"role": "user", "content": next(words)})
    return History(name=name, messages=tuple(messages))


def _call(number: int, place: int, chance: random.Random) -> Call:
    arguments = json.dumps({"query": f"item {chance.randrange(10_000)}", "limit": chance.randrange(50)})
    return {"id": f"call_{number}_{place}", "type": "function", "function": {"name": "search", "arguments": arguments}}


def _result(call: Call, words: int, chance: random.Random) -> Message:
    rows = " ".join(f"row{chance.randrange(1000)}" for _ in range(words // 3))
    return {"role": "tool", "content": f"found: {rows}", "tool_call_id": call["id"]}
