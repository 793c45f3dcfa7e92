"""Recorded usage: hmarr/openai-chat-tokens, openai-java's issues, OpenAI's forum and cookbook; figures only."""

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


def called(*calls: ToolCall) -> Message:
    return Message(role=Role.ASSISTANT, tool_calls=calls)


def answered(call: ToolCall, text: str) -> Message:
    return Message(role=Role.TOOL, parts=(Text(text),), tool_call_id=call.id)


STUFF = ToolCall(id="call_1", name="do_stuff", arguments='{"foo": "bar", "baz": 1.5}')
WEATHER = ToolCall(
    id="call_Id8ycVMsW8gdsf7kSXfgAcf1", name="get_current_weather", arguments='{\n  "location": "Boston, MA"\n}'
)
SUMS = [ToolCall(id=f"a{n}", name="calculator", arguments='{"a":2, "b":2}') for n in range(4)]


@pytest.mark.parametrize(
    ("messages", "recorded"),
    [
        ([called(STUFF)], 26),
        ([called(WEATHER), answered(WEATHER, "29 degree celcius")], 35),
        *(
            (
                [
                    said(Role.USER, "How much is 2 plus 2?"),
                    called(*SUMS[:several]),
                    *(answered(call, "4") for call in SUMS[:several]),
                ],
                recorded,
            )
            for several, recorded in ((1, 40), (2, 89), (3, 114), (4, 139))
        ),
    ],
)
def test_calls_and_their_results_cost_hardly_more_than_recorded(messages: list[Message], recorded: int) -> None:
    assert recorded <= count_messages(counter_for("gpt-4"), messages, OPENAI).total <= recorded + 3


def test_results_of_parallel_calls_are_priced_as_escaped() -> None:
    """Recorded: 1,121 tokens for one such result (1,002 by the vocabulary), 39,235 for three."""
    counter, text = counter_for("gpt-4.1"), "테스트 " * 1000
    alone = count_each(counter, [called(SUMS[0]), answered(SUMS[0], text)], OPENAI)
    together = count_each(counter, [called(*SUMS[:3]), *(answered(call, text) for call in SUMS[:3])], OPENAI)
    assert [cost.content for cost in alone[1:]] == [1002]
    assert [cost.content for cost in together[1:]] == [13_001] * 3
    later = count_each(counter, [called(*SUMS[:2]), called(SUMS[0]), answered(SUMS[0], text)], OPENAI)
    assert later[2].content == 1002


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
