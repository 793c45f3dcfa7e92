from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import haversack
from haversack.engine.namespace import Namespace
from haversack.errors import InputError, NotFoundError
from haversack.mcp.prompts import get_prompt
from haversack.mcp.resources import list_resources, read_resource
from haversack.mcp.tools import ToolOptions
from haversack.model.text import is_blank


def read(ns: Namespace, uri: str) -> str:
    (content,) = read_resource(ns, uri)
    assert content.uri == uri
    return getattr(content, "text", "")


def test_the_reports(ns: Namespace) -> None:
    ns.remember("a")
    ns.session("s").add("user", "b")
    stats = json.loads(read(ns, "haversack://stats"))
    assert (stats["namespace"], stats["memories"]) == ("n", {"fact": 1, "passage": 1})
    (session,) = json.loads(read(ns, "haversack://sessions"))
    assert (session["id"], session["turns"]) == ("s", 1)


@given(st.text(min_size=1, max_size=40).filter(lambda name: not is_blank(name)))
def test_a_listed_session_can_be_read_whatever_its_name(name: str) -> None:
    with haversack.open(":memory:") as sack:
        ns = sack.namespace("n")
        ns.session(name).add("user", "said here")
        uri = list_resources(ns)[-1].uri
        assert uri.isascii()
        assert ">said here</turn>" in read(ns, uri)


@pytest.mark.parametrize(
    "uri",
    ["haversack://session?id=none", "haversack://other", "file:///etc/passwd", "haversack://stats/../../etc", "", "x"],
)
def test_any_other_address_is_not_found(ns: Namespace, uri: str) -> None:
    with pytest.raises((NotFoundError, InputError)):
        read(ns, uri)


def test_turns_are_read_from_a_number_on(ns: Namespace) -> None:
    for number in range(3):
        ns.session("s").add("user", f"turn {number}")
    assert read(ns, "haversack://session?id=s&after=1").count("<turn ") == 1
    with pytest.raises(InputError, match="number of a turn"):
        read(ns, "haversack://session?id=s&after=x")
    with pytest.raises(InputError, match="session must not be blank"):
        read(ns, "haversack://session")


def test_a_prompt_needs_a_question_and_a_number(ns: Namespace) -> None:
    with pytest.raises(InputError, match="blank"):
        get_prompt(ns, "answer_from_memory", {}, ToolOptions())
    with pytest.raises(InputError, match="budget='many' must be a whole number"):
        get_prompt(ns, "answer_from_memory", {"question": "q", "budget": "many"}, ToolOptions())
    assert "call remember once for each" in str(get_prompt(ns, "keep_what_lasts", None, ToolOptions())[0].content)
