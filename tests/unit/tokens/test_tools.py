"""Recorded usage of gpt-3.5-turbo (hmarr/openai-chat-tokens, tests; figures only) and of the OpenAI cookbook."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest

from haversack.errors import InputError
from haversack.model.message import Message, Role, Text
from haversack.tokens import counter_for
from haversack.tokens.chat import count_messages
from haversack.tokens.models import Family
from haversack.tokens.tools import count_tool, count_tools

HELLO = [Message(role=Role.USER, parts=(Text("hello"),))]
STRING, NUMBER = {"type": "string"}, {"type": "number"}


def tool(name: str, description: str | None = None, **properties: object) -> dict[str, Any]:
    declared: dict[str, Any] = {"name": name, "parameters": {"type": "object", "properties": properties}}
    return declared | ({"description": description} if description else {})


RECIPE = tool(
    "get_recipe",
    ingredients={
        "type": "array",
        "items": {
            "type": "object",
            "required": ["name", "unit", "amount"],
            "properties": {
                "name": STRING,
                "unit": {"enum": ["grams", "ml", "cups", "pieces", "teaspoons"], "type": "string"},
                "amount": NUMBER,
            },
        },
    },
    instructions={"type": "array", "items": STRING, "description": "Steps to prepare the recipe (no numbering)"},
    time_to_cook=NUMBER | {"description": "Total time to prepare the recipe in minutes"},
)
RECIPE["parameters"]["required"] = ["ingredients", "instructions", "time_to_cook"]

INNER = {"type": "object", "properties": {"bar": STRING | {"enum": ["a", "b", "c"]}, "baz": {"type": "boolean"}}}
RECORDED = [
    (tool("foo"), 31),
    (tool("foo", "Do a foo"), 36),
    (tool("bing_bong", "Do a bing bong", foo=STRING), 49),
    (tool("bing_bong", "Do a bing bong", foo=STRING, bar=NUMBER | {"description": "A number"}), 57),
    (tool("bing_bong", "Do a bing bong", foo=INNER), 68),
    (RECIPE, 106),
]


@pytest.mark.parametrize(("declared", "recorded"), RECORDED)
def test_the_openai_price_is_the_recorded_one_and_a_margin_of_two(declared: dict[str, Any], recorded: int) -> None:
    counter = counter_for("gpt-3.5-turbo")
    messages = count_messages(counter, HELLO, Family.OPENAI).total
    assert messages + count_tools(counter, [declared], Family.OPENAI).total == recorded + 2


WEATHER = tool(
    "get_current_weather",
    "Get the current weather in a given location",
    location=STRING | {"description": "The city and state, e.g. San Francisco, CA"},
    unit=STRING | {"description": "The unit of temperature to return", "enum": ["celsius", "fahrenheit"]},
)
WEATHER["parameters"]["required"] = ["location"]


@pytest.mark.parametrize(
    ("model", "recorded"), [("gpt-3.5-turbo", 105), ("gpt-4", 105), ("gpt-4o", 101), ("gpt-4o-mini", 101)]
)
def test_the_cookbook_example_costs_no_less_than_its_usage(model: str, recorded: int) -> None:
    counter = counter_for(model)
    asked = [
        Message(
            role=Role.SYSTEM,
            parts=(Text("You are a helpful assistant that can answer to questions about the weather."),),
        ),
        Message(role=Role.USER, parts=(Text("What's the weather like in San Francisco?"),)),
    ]
    total = count_messages(counter, asked, Family.OPENAI).total + count_tools(counter, [WEATHER], Family.OPENAI).total
    assert recorded <= total <= recorded + 10


@pytest.mark.parametrize("family", list(Family))
def test_every_published_shape_costs_the_same_line(family: Family) -> None:
    counter = counter_for("o200k_base")
    nested = {"type": "function", "function": WEATHER}
    flat = {"type": "function", **WEATHER}
    anthropic = {"name": WEATHER["name"], "description": WEATHER["description"], "input_schema": WEATHER["parameters"]}
    costs = [count_tool(counter, each, family) for each in (nested, flat, anthropic, MappingProxyType(flat))]
    assert {cost.name for cost in costs} == {"get_current_weather"}
    assert len({cost.tokens for cost in costs}) == 1 or family is not Family.OPENAI


@pytest.mark.parametrize("family", list(Family))
def test_each_tool_has_its_line_and_the_preamble_is_charged_once(family: Family) -> None:
    counter = counter_for("o200k_base")
    both = count_tools(counter, [WEATHER, RECIPE], family)
    one = count_tools(counter, [WEATHER], family)
    assert both.tools == (count_tool(counter, WEATHER, family), count_tool(counter, RECIPE, family))
    assert both.preamble == one.preamble > 0
    assert count_tools(counter, [], family).total == 0


@pytest.mark.parametrize("key", ["default", "format", "pattern", "maximum", "title", "examples", "$ref", "not"])
@pytest.mark.parametrize("where", ["parameters", "field", "items", "option"])
def test_no_key_of_a_schema_goes_uncounted(key: str, where: str) -> None:
    counter = counter_for("o200k_base")
    extra: dict[str, object] = {key: "a word of some length"}

    def declared(more: dict[str, object], spot: str) -> dict[str, Any]:
        made = tool(
            "t",
            field=STRING | (more if spot == "field" else {}),
            many={"type": "array", "items": STRING | (more if spot == "items" else {})},
            either={"anyOf": [STRING | (more if spot == "option" else {}), {"type": "null"}]},
        )
        made["parameters"] |= more if spot == "parameters" else {}
        return made

    plain, longer = (count_tool(counter, declared(each, where), Family.OPENAI).tokens for each in ({}, extra))
    assert longer >= plain + 5


@pytest.mark.parametrize(
    "odd",
    [
        None,
        5,
        "text",
        [],
        {},
        {"function": None},
        {"name": 5},
        {"name": "a", "parameters": 5},
        {"name": "a", "parameters": None, "description": None},
        {"name": "a", "description": {"not": "text"}, "parameters": {"properties": 5, "required": "yes"}},
        {
            "name": "a",
            "parameters": {"properties": {"x": 5, "y": None, "z": {"type": ["string", "null"]}, "w": {"enum": 1}}},
        },
        {"type": "web_search_preview"},
        {"name": "a", "parameters": {"properties": {"when": {"default": object()}}}},
    ],
)
def test_hostile_shapes_cost_something(odd: object) -> None:
    for family in Family:
        assert count_tool(counter_for("o200k_base"), odd, family).tokens > 0


def test_a_deep_or_circular_schema_is_counted_or_refused_but_never_crashes() -> None:
    counter = counter_for("o200k_base")
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(150):
        deep = {"type": "object", "properties": {"x": deep}}
    assert count_tool(counter, {"name": "deep", "parameters": deep}, Family.OPENAI).tokens > 150
    for _ in range(100_000):
        deep = {"x": deep}
    circular: dict[str, Any] = {"name": "c"}
    circular["parameters"] = circular
    for hostile in (deep, circular):
        with pytest.raises(InputError, match="reasonable depth"):
            count_tool(counter, hostile, Family.OPENAI)


def test_a_large_schema_costs_about_what_its_text_costs() -> None:
    counter = counter_for("o200k_base")
    large = tool("large")
    large["parameters"]["properties"] = {
        f"field_{n}": STRING | {"description": f"The field number {n}, of many"} for n in range(2_000)
    }
    text = json.dumps(large)
    assert len(text) > 100_000
    assert counter.count(text) * 0.5 < count_tool(counter, large, Family.OPENAI).tokens < counter.count(text)
