"""Recorded usage of gpt-3.5-turbo (hmarr/openai-chat-tokens, tests; figures only) and of the OpenAI cookbook."""

from __future__ import annotations

import pytest

from haversack.model.message import Image, Message, Opaque, Role, Text, ToolCall
from haversack.tokens import counter_for
from haversack.tokens.chat import MessageCost, count_each, count_message, count_messages, reply_framing
from haversack.tokens.models import Family

OPENAI = Family.OPENAI


def said(role: Role, text: str, name: str | None = None) -> Message:
    return Message(role=role, parts=(Text(text),), name=name)


@pytest.mark.parametrize(
    ("messages", "recorded"),
    [
        ([said(Role.USER, "hello")], 8),
        ([said(Role.USER, "hello world")], 9),
        ([said(Role.SYSTEM, "hello")], 8),
        ([said(Role.SYSTEM, "hello:")], 9),
        (
            [
                said(Role.SYSTEM, "# Important: you're the best robot"),
                said(Role.USER, "hello robot"),
                said(Role.ASSISTANT, "hello world"),
            ],
            27,
        ),
        (
            [
                said(
                    Role.SYSTEM,
                    "You are a helpful, pattern-following assistant that translates corporate jargon "
                    "into plain English.",
                ),
                said(Role.SYSTEM, "New synergies will help drive top-line growth.", "example_user"),
                said(Role.SYSTEM, "Things working well together will increase revenue.", "example_assistant"),
                said(
                    Role.SYSTEM,
                    "Let's circle back when we have more bandwidth to touch base on opportunities "
                    "for increased leverage.",
                    "example_user",
                ),
                said(
                    Role.SYSTEM,
                    "Let's talk later when we're less busy about how to do better.",
                    "example_assistant",
                ),
                said(
                    Role.USER,
                    "This late pivot means we don't have time to boil the ocean for the client deliverable.",
                ),
            ],
            129,
        ),
    ],
)
def test_openai_framing_equals_recorded_usage(messages: list[Message], recorded: int) -> None:
    assert count_messages(counter_for("gpt-3.5-turbo"), messages, OPENAI).total == recorded


def test_a_call_never_costs_less_than_recorded() -> None:
    call = ToolCall(id="call_1", name="do_stuff", arguments='{"foo": "bar", "baz": 1.5}')
    cost = count_messages(counter_for("gpt-4"), [Message(role=Role.ASSISTANT, tool_calls=(call,))], OPENAI)
    assert 26 <= cost.total <= 26 + 8


def test_content_and_framing_are_apart() -> None:
    counter = counter_for("o200k_base")
    assert count_message(counter, said(Role.USER, "hello world"), OPENAI) == MessageCost(content=2, framing=4)
    assert count_message(counter, said(Role.USER, "hello world", "Ann"), OPENAI) == MessageCost(content=2, framing=6)
    assert reply_framing(OPENAI) == 3


def test_an_empty_list_is_no_request() -> None:
    assert count_messages(counter_for("gpt-4o"), [], OPENAI) == MessageCost(content=0, framing=0)
    assert count_each(counter_for("gpt-4o"), [], OPENAI) == []


@pytest.mark.parametrize("family", [Family.ANTHROPIC, Family.GOOGLE, Family.OTHER])
def test_unpublished_framing_is_priced_above_openai_s(family: Family) -> None:
    counter = counter_for("o200k_base")
    call = ToolCall(id="toolu_01A09q90qw90lq917835lq9", name="look", arguments="{}")
    for message in (
        said(Role.USER, "hi"),
        Message(role=Role.ASSISTANT, tool_calls=(call,)),
        Message(role=Role.TOOL, parts=(Text("4"),), tool_call_id=call.id),
    ):
        assert count_message(counter, message, family).total > count_message(counter, message, OPENAI).total


def test_pictures_and_unknown_parts_are_charged() -> None:
    counter = counter_for("gpt-4o")
    picture = Image(url="data:image/png;base64," + "A" * 100_000, width=512, height=512, caption="a cat")
    message = Message(role=Role.USER, parts=(picture, Opaque(kind="audio", json="")))
    assert count_message(counter, message, OPENAI, model="gpt-4o").content == 255 + counter.count("a cat") + 1
    assert count_message(counter, message, OPENAI, model="gpt-4.1-mini").content == 415 + counter.count("a cat") + 1
