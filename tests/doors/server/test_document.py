from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

import haversack
from haversack.server.app import create_app

_MOMENT = re.compile(r"(\w+_at|at|event_time|valid_from|valid_to)")


@pytest.fixture(scope="module")
def schemas() -> Iterator[dict[str, Any]]:
    with haversack.open(":memory:", embedder="none") as sack:
        yield create_app(sack).openapi()["components"]["schemas"]


def test_each_schema_has_a_name_of_its_own(schemas: dict[str, Any]) -> None:
    # Generators of clients name classes by the title and drop whatever would be a second class of that name.
    titles = [schema.get("title", name) for name, schema in schemas.items()]
    assert sorted(titles) == sorted({title.lower(): title for title in titles}.values())
    assert [name for name in schemas if not re.fullmatch(r"[A-Z][A-Za-z]+", name)] == []


def test_no_module_shows(schemas: dict[str, Any]) -> None:
    assert "haversack__" not in json.dumps(schemas)


def test_times_that_are_answered_are_times(schemas: dict[str, Any]) -> None:
    fields = {
        (name, field): schema.get("anyOf", [schema])[0]
        for name, shape in schemas.items()
        if not name.endswith(("Body", "Changes", "Item"))
        for field, schema in shape.get("properties", {}).items()
        if _MOMENT.fullmatch(field)
    }
    assert ("MemoryShape", "created_at") in fields
    assert {name for name, schema in fields.items() if schema.get("format") != "date-time"} == set()


def test_closed_choices_are_listed(schemas: dict[str, Any]) -> None:
    assert schemas["TurnBody"]["properties"]["role"]["enum"] == [
        "system",
        "developer",
        "user",
        "assistant",
        "tool",
        "function",
    ]
    assert schemas["PromptBody"]["properties"]["shape"]["enum"] == ["openai", "anthropic", "responses"]
    assert schemas["FeedbackBody"]["properties"]["signal"]["enum"] == ["up", "down", "flag"]
