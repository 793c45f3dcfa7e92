"""Law: what a provider's shape can carry comes back from it unchanged, and the provider's own types accept it."""

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, cast

from anthropic.types import MessageParam
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputParam
from pydantic import TypeAdapter

from haversack.model.message import Image, Message, Part, Role, Text, ToolCall
from haversack.wire import anthropic, openai, responses

CHAT: TypeAdapter[Any] = TypeAdapter(list[ChatCompletionMessageParam])
CLAUDE: TypeAdapter[Any] = TypeAdapter(list[MessageParam])
ITEMS: TypeAdapter[Any] = TypeAdapter(ResponseInputParam)

WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(
    lambda text: bool(text.strip())
)
NAMES = st.from_regex(r"[A-Za-z0-9_-]{1,12}", fullmatch=True)
URLS = st.sampled_from(["https://x/y.png", "data:image/png;base64,AA=="])
PARTS: st.SearchStrategy[Part] = st.one_of(WORDS.map(Text), URLS.map(lambda url: Image(url=url)))
ARGUMENTS = st.dictionaries(WORDS, st.none() | st.integers() | WORDS, max_size=3).map(
    lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
)


def accept(adapter: TypeAdapter[Any], dumped: object) -> None:
    walk(adapter.validate_python(dumped))


def walk(value: Any) -> None:
    """Visits everything: pydantic checks an `Iterable` field only while somebody reads it."""
    if isinstance(value, dict):
        for inner in cast("dict[str, Any]", value).values():
            walk(inner)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for inner in cast("Iterable[Any]", value):
            walk(inner)


@st.composite
def exchanges(draw: st.DrawFn) -> list[Message]:
    """A user's message, an answer with calls, their results, and a last answer: ids unique, roles in order."""
    first = Message(role=Role.USER, parts=tuple(draw(st.lists(PARTS, min_size=1, max_size=3))))
    ids = draw(st.lists(NAMES, max_size=3, unique=True))
    last = Message(role=Role.ASSISTANT, parts=(Text(draw(WORDS)),))
    if not ids:
        return [first, last]
    calls = tuple(ToolCall(id=id_, name=draw(NAMES), arguments=draw(ARGUMENTS)) for id_ in ids)
    asked = Message(role=Role.ASSISTANT, parts=tuple(map(Text, draw(st.lists(WORDS, max_size=1)))), tool_calls=calls)
    results = [
        Message(role=Role.TOOL, tool_call_id=id_, parts=tuple(map(Text, draw(st.lists(WORDS, max_size=2)))))
        for id_ in ids
    ]
    return [first, asked, *results, last]


@given(exchanges())
def test_openai_carries_an_exchange(messages: list[Message]):
    dumped = openai.dump(messages)
    accept(CHAT, dumped)
    assert openai.load_all(dumped) == messages


@given(exchanges(), st.lists(WORDS, max_size=1))
def test_anthropic_carries_an_exchange(messages: list[Message], system: list[str]):
    opening = [Message(role=Role.SYSTEM, parts=(Text(text),)) for text in system]
    text, dumped = anthropic.dump(opening + messages)
    accept(CLAUDE, dumped)
    assert anthropic.load_all({"system": text, "messages": dumped}) == opening + messages


@given(exchanges())
def test_responses_carry_an_exchange(messages: list[Message]):
    dumped = responses.dump(messages)
    accept(ITEMS, dumped)
    assert responses.load_all(dumped) == messages


LOOSE = st.builds(
    Message,
    role=st.sampled_from(Role),
    parts=st.lists(PARTS, max_size=2).map(tuple),
    name=st.none() | WORDS,
    tool_call_id=st.none() | WORDS,
)


@given(st.lists(LOOSE, max_size=8))
def test_any_order_of_messages_alternates_for_anthropic(messages: list[Message]):
    _, dumped = anthropic.dump(messages)
    roles = [message["role"] for message in dumped]
    assert all(left != right for left, right in pairwise(roles))
    accept(CLAUDE, dumped)


@given(st.lists(LOOSE, max_size=8))
def test_any_order_of_messages_is_accepted_by_openai(messages: list[Message]):
    accept(CHAT, openai.dump(messages))
    accept(ITEMS, responses.dump(messages))
