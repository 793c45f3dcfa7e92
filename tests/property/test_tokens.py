"""The laws of counting, over generated text in many scripts."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import pytest
import splintr
import toktok
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from haversack.model.message import Image, Message, Opaque, Role, Text, ToolCall
from haversack.tokens import CountKind, counter_for
from haversack.tokens.chat import count_each, count_message, count_messages, reply_framing
from haversack.tokens.cut import adds_up, blocks, segments
from haversack.tokens.models import Family
from haversack.tokens.ranks import PATTERNS, KindUnknownError, Ranks
from haversack.tokens.tools import count_tools

EXACT = ("cl100k_base", "o200k_base", "o200k_harmony")
ADDITIVE = (*EXACT, "qwen3.5", "estimate", "utf8_bytes", "llama3", "deepseek_v3", "gemma3")

PIECES = (
    *("春夏秋冬です", "회의는 오후", "ร้านเปิด", "हिन्दी में", "العربية", "Ελληνικά", "Привет", "עברית"),
    *("🚲🌧", "👩‍👩‍👦", "🇩🇪", "cafe\u0301", "\u0301", "\u200d", "ﬁ", "①", "\ufeff", "\u0958"),
    *(
        "ship v2",
        "don't",
        "I'LL",
        "NASA",
        "savedInstanceState",
        "PostalCodesNL",
        "123456",
        "3.14",
        "=>",
        "://",
        "///",
        "!)",
        "**",
        "#",
    ),
    *("<|endoftext|>", "<|im_start|>", "<i>", "</i>", "- ", "## ", "[3] ", '{"a": 1}', "def f(x):\n    return x"),
    *(
        " ",
        "   ",
        "\t",
        "\n",
        "\r",
        "\r\n",
        "\u3000",
        "\x85",
        "\x1c",
        "\u2028",
        "\0",
        "/",
        "a" * 30,
        "aGVsbG8gd29ybGQ=",
    ),
)


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:  # pyright: ignore[reportUnusedFunction] - loading takes longer than a deadline allows
    for name in ADDITIVE:
        counter_for(name).count("x")
    for name in ("cl100k_base", "o200k_base"):
        other_library(name)


# The libraries' Unicode tables differ in age; a letter that one does not know yet may count one more or less.
ASSIGNED = st.characters(exclude_categories=("Cs", "Cn"))


def joined(pieces: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Single pieces, pairs and longer texts alike: most faults sit in the short ones."""
    piece = st.one_of(st.sampled_from(pieces), st.sampled_from(pieces), st.text(ASSIGNED, max_size=6))
    return st.one_of(piece, st.tuples(piece, piece).map("".join), st.lists(piece, max_size=12).map("".join))


texts = joined(PIECES)
lines = texts.map(lambda text: text + "\n")
wild = joined((*PIECES, "\ud800", "\udc00"))


@cache
def other_library(encoding: str) -> Any:
    return cast("Any", splintr).Tokenizer.from_pretrained(encoding)


@pytest.mark.parametrize("name", ADDITIVE)
@given(left=lines, right=texts)
def test_framed_counts_add_up(name: str, left: str, right: str) -> None:
    if not adds_up(left, right):
        right = "- " + right
    counter = counter_for(name)
    assert counter.count(left + right) == counter.count(left) + counter.count(right)


@pytest.mark.parametrize("name", ADDITIVE)
@given(text=wild, size=st.integers(1, 20))
def test_a_text_costs_what_its_segments_cost(name: str, text: str, size: int) -> None:
    counter = counter_for(name)
    whole = counter.count(text)
    for parts in (segments(text), list(blocks(text, size))):
        assert "".join(parts) == text
        assert sum(counter.count_many(parts)) == whole


@given(text=texts)
def test_two_libraries_count_o200k_alike(text: str) -> None:
    assert counter_for("o200k_base").count(text) == len(other_library("o200k_base").encode_ordinary(text))


@given(text=texts)
def test_two_libraries_count_cl100k_alike(text: str) -> None:
    assert counter_for("cl100k_base").count(text) == len(other_library("cl100k_base").encode_ordinary(text))


runs = st.tuples(st.sampled_from("aAſé世ก١ \n\t/.'\u0301🚲"), st.integers(1, 400)).map(lambda run: run[0] * run[1])


@pytest.mark.parametrize("vocabulary", sorted(PATTERNS))
@given(text=st.one_of(texts, st.lists(runs, max_size=4).map("".join)), budget=st.integers(0, 40))
def test_mapped_ranks_count_and_cut_as_the_library_does(vocabulary: str, text: str, budget: int) -> None:
    ranks = Ranks(vocabulary)
    try:
        found = ranks.cut(text, budget), ranks.count([text])[0]
    except KindUnknownError:
        reject()
    assert found == toktok.truncate(text, budget, vocabulary)


@pytest.mark.parametrize("bound", ["likely", "certain"])
@given(text=wild)
def test_an_estimate_is_an_upper_bound_within_the_bytes(bound: str, text: str) -> None:
    counter = counter_for("a-model-nobody-knows", bound=bound)
    exact = [counter_for(name).count(text) for name in EXACT]
    assert counter.kind is CountKind.ESTIMATE
    assert max(exact) <= counter.count(text) <= len(text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("name", ADDITIVE)
@given(text=wild, budget=st.integers(-2, 40))
def test_a_cut_is_a_prefix_within_its_budget(name: str, text: str, budget: int) -> None:
    counter = counter_for(name)
    cut = counter.truncate(text, budget)
    assert text.startswith(cut)
    assert counter.count(cut) <= max(0, budget)
    assert counter.fits(cut, max(0, budget))
    if counter.count(text) <= budget:
        assert cut == text


parts = st.one_of(
    wild.map(Text),
    st.builds(
        Image,
        url=st.just("https://example.org/p.png"),
        width=st.one_of(st.none(), st.integers(-1, 9000)),
        height=st.one_of(st.none(), st.integers(-1, 9000)),
        detail=st.sampled_from(["low", "high", "auto", "odd"]),
        caption=texts,
    ),
    st.builds(Opaque, kind=st.just("odd"), json=wild),
)
calls = st.builds(ToolCall, id=texts, name=texts, arguments=wild)
messages = st.builds(
    Message,
    role=st.sampled_from(list(Role)),
    parts=st.lists(parts, max_size=3).map(tuple),
    name=st.one_of(st.none(), texts),
    tool_calls=st.lists(calls, max_size=2).map(tuple),
    tool_call_id=st.one_of(st.none(), texts),
)


@pytest.mark.parametrize("family", list(Family))
@given(chat=st.lists(messages, max_size=4), more=messages)
def test_a_longer_chat_never_costs_less(family: Family, chat: list[Message], more: Message) -> None:
    parallel = any(len(one.tool_calls) > 1 for one in chat)
    assume(not parallel or all(one.role is not Role.TOOL for one in [*chat, more]))  # such results cost more there
    counter = counter_for("o200k_base")
    before, after = (count_messages(counter, each, family) for each in (chat, [*chat, more]))
    alone = count_message(counter, more, family)
    assert after.content == before.content + alone.content
    assert after.framing - before.framing == alone.framing + (0 if chat else reply_framing(family))
    assert after.total > before.total
    assert [count_message(counter, each, family) for each in chat] == count_each(counter, chat, family)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), texts),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(
                st.sampled_from(
                    ["name", "function", "parameters", "input_schema", "properties", "type", "items", "enum", "anyOf"]
                ),
                texts,
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("family", list(Family))
@given(tools=st.lists(json_values, min_size=1, max_size=3))
def test_any_json_is_a_tool_of_some_cost(family: Family, tools: list[object]) -> None:
    cost = count_tools(counter_for("o200k_base"), tools, family)
    assert [tool.tokens > 0 for tool in cost.tools] == [True] * len(tools)
    assert cost.total == cost.preamble + sum(tool.tokens for tool in cost.tools)
