from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.errors import InputError
from haversack.mcp.arguments import ForgetArguments, RecallArguments, RememberArguments, read_arguments, schema_of
from haversack.mcp.arguments import given as said
from haversack.mcp.server import INSTRUCTIONS, offered_tools
from haversack.mcp.tools import TOOLS
from haversack.model.memory import Kind
from haversack.tokens import counter_for


def test_the_tool_list_costs_less_than_1200_tokens() -> None:
    listed = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in offered_tools()]
    counter = counter_for("o200k_base")
    assert counter.kind == "exact"
    assert counter.count(json.dumps(listed)) < 1200
    assert 400 < counter.count(json.dumps(listed, separators=(",", ":"))) < 900
    assert counter.count(INSTRUCTIONS) < 100


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_schema_is_valid_and_names_exactly_the_arguments(tool: Any) -> None:
    schema = schema_of(tool.takes)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema) <= {"type", "properties", "required"}
    assert tuple(schema["properties"]) == tool.takes.__struct_fields__
    assert "$ref" not in json.dumps(schema)


def test_the_kinds_in_the_schema_are_the_kinds() -> None:
    assert set(schema_of(RememberArguments)["properties"]["kind"]["enum"]) == {str(kind) for kind in Kind}


def test_what_is_not_given_or_null_is_not_passed_on() -> None:
    arguments = read_arguments(RecallArguments, {"query": "q", "tags": None, "session": "s"})
    assert said(arguments, "kinds", "tags", "session") == {"session": "s"}
    assert arguments.limit == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "missing required field `query`"),
        ({"query": None}, "missing required field `query`"),
        ({"query": 3}, r"Expected `str`, got `int` - at `\$.query`"),
        ({"query": "q", "limit": 51}, r"Expected `int` <= 50 - at `\$.limit`"),
        ({"query": "q", "limit": True}, r"Expected `int`, got `bool`"),
        ({"query": "q", "kinds": "fact"}, r"Expected `array`, got `str` - at `\$.kinds`"),
        ({"query": "q", "sesion": "s"}, "unknown argument 'sesion': did you mean 'session'"),
    ],
)
def test_a_wrong_argument_is_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_arguments(RecallArguments, arguments)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)
)


@given(st.dictionaries(st.sampled_from(["ids", "session", "hard", "execute", "undo", "all"]), _JSON))
def test_any_arguments_are_read_or_refused_and_never_guessed(arguments: dict[str, Any]) -> None:
    valid = jsonschema.Draft202012Validator(schema_of(ForgetArguments)).is_valid(
        {name: value for name, value in arguments.items() if value is not None}
    )
    try:
        read = read_arguments(ForgetArguments, arguments)
    except InputError:
        assert not valid or "all" in arguments
    else:
        assert valid
        assert read.execute is arguments.get("execute", False) or arguments["execute"] is None
