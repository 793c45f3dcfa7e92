"""Reported faults of token counters, each as the behaviour that is right; counts are the published vocabularies'."""

from __future__ import annotations

import base64
import json
import random
import time

import pytest

from haversack.model.message import Message, Opaque, Role, Text, ToolCall
from haversack.tokens import CountKind, counter_for
from haversack.tokens.chat import count_message, count_messages
from haversack.tokens.models import Family

ENCODINGS = ("cl100k_base", "o200k_base")

MARKERS = [
    "<|endoftext|>",
    "<|im_start|>",
    "Template: {task} -> {reply}<|endoftext|> then <|im_start|>user hi<|im_end|>",
]


@pytest.mark.parametrize(("encoding", "counts"), [("cl100k_base", [7, 6, 29]), ("o200k_base", [7, 6, 30])])
def test_tok_01_marker_literals_are_ordinary_text(encoding: str, counts: list[int]) -> None:
    counter = counter_for(encoding)
    assert counter.count_many(MARKERS) == counts
    assert [counter.count(text) for text in MARKERS] == counts


@pytest.mark.parametrize("encoding", ["estimate", "utf8_bytes", "llama3", "qwen3", "deepseek_v3", "qwen3.5"])
def test_tok_01_other_tokenizers_see_the_markers_as_characters(encoding: str) -> None:
    counter = counter_for(encoding)
    assert all(count > 1 for count in counter.count_many(MARKERS[:2]))


def test_tok_01_a_marked_message_can_be_cut_and_counted_again() -> None:
    counter = counter_for("o200k_base")
    for budget in range(31):
        cut = counter.truncate(MARKERS[2], budget)
        assert MARKERS[2].startswith(cut)
        assert counter.count(cut) <= budget
    assert counter.truncate(MARKERS[2], 30) == MARKERS[2]


REFERENCE = [
    ("春夏秋冬" * 25, 200, 100),
    ("明日は図書館で会議をする", 16, 10),
    ("회의는 오후 세시에 시작한다", 12, 7),
    ("ร้านเปิดเก้าโมง", 14, 5),
    ("🚲🌧🍎", 9, 6),
    ("👩‍👩‍👦", 13, 8),
    ("ship v2 明日 🚲", 9, 7),
    ("good morning", 2, 2),
    ("7\n" * 50, 100, 100),
]


@pytest.mark.parametrize(("text", "older", "newer"), REFERENCE)
def test_tok_02_exact_counts_equal_the_reference(text: str, older: int, newer: int) -> None:
    assert counter_for("cl100k_base").count(text) == older
    assert counter_for("o200k_base").count(text) == newer


@pytest.mark.parametrize("bound", ["likely", "certain"])
@pytest.mark.parametrize(("text", "older", "newer"), REFERENCE)
def test_tok_02_the_estimate_lies_between_the_true_count_and_the_bytes(
    text: str, older: int, newer: int, bound: str
) -> None:
    counter = counter_for("a-model-nobody-knows", bound=bound)
    assert counter.kind is CountKind.ESTIMATE
    assert max(older, newer) <= counter.count(text) <= len(text.encode())


def words_call() -> ToolCall:
    body = " ".join(f"word{n}" for n in range(200))
    return ToolCall(id="c1", name="write_note", arguments=json.dumps({"body": body}))


@pytest.mark.parametrize("family", list(Family))
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_tok_04_tool_arguments_are_counted_and_null_content_is_empty_content(encoding: str, family: Family) -> None:
    counter = counter_for(encoding)
    null = Message(role=Role.ASSISTANT, tool_calls=(words_call(),))
    empty = Message(role=Role.ASSISTANT, parts=(Text(""),), tool_calls=(words_call(),))
    assert count_message(counter, null, family).content >= 405
    assert count_message(counter, null, family) == count_message(counter, empty, family)


@pytest.mark.parametrize("family", list(Family))
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_tok_04_odd_shapes_cost_something_and_totals_never_fall(encoding: str, family: Family) -> None:
    counter = counter_for(encoding)
    odd = Opaque(kind="unknown_block", json='{"type":"unknown_block","data":"zzz"}')
    messages = [
        Message(role=Role.ASSISTANT, parts=(Text("ok"),)),
        Message(role=Role.ASSISTANT, parts=(Text("ok"),), tool_calls=(ToolCall(id="c2", name="", arguments=""),)),
        Message(role=Role.USER, parts=(Text("ok"), odd)),
        Message(role=Role.ASSISTANT, tool_calls=(words_call(),)),
        Message(role=Role.TOOL, parts=(), tool_call_id="c1"),
        Message(role=Role.USER),
    ]
    with_odd, without = (count_message(counter, each, family).content for each in (messages[2], messages[0]))
    assert with_odd > without
    totals = [count_messages(counter, messages[:n], family).total for n in range(len(messages) + 1)]
    assert totals == sorted(set(totals))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_tok_06_a_letter_repeated_is_exact_at_any_length(encoding: str) -> None:
    counter = counter_for(encoding)
    lengths = (1_000, 20_000, 40_000, 80_000, 800_000, 1_000_000)
    assert counter.count_many(["a" * n for n in lengths]) == [n // 8 for n in lengths]
    assert counter.count("a" * 999_999) == 125_001


@pytest.mark.parametrize("name", [*ENCODINGS, "estimate", "utf8_bytes", "llama3"])
def test_tok_06_pathological_texts_take_seconds_at_most(name: str) -> None:
    counter, dice = counter_for(name), random.Random(6)
    letters = "".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=100_000))
    texts = [
        letters,
        base64.b64encode(dice.randbytes(786_432)).decode(),
        " " * 500_000,
        "a" * 1_000_000,
        "\n" * 500_000,
    ]
    started = time.process_time()
    counts = counter.count_many(texts)
    assert time.process_time() - started < 10
    assert all(8 * count >= len(text) or text.isspace() for count, text in zip(counts, texts, strict=True))
