from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import pytest

from haversack.errors import InputError
from haversack.tokens import CountKind, counter_for
from haversack.tokens import estimate as estimate_module
from haversack.tokens.batch import BatchCounter
from haversack.tokens.families import FAMILIES

NAMES = ("cl100k_base", "o200k_base", "o200k_harmony", "qwen3.5", "estimate", "utf8_bytes", *sorted(FAMILIES))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_costs_nothing_and_a_batch_equals_its_members(name: str) -> None:
    counter = counter_for(name)
    texts = ["", "hello", "a\0b", "x\ud800y", "line one\nline two\n", "👩‍👩‍👦"]
    counts = counter.count_many(texts)
    assert counts == [counter.count(text) for text in texts]
    assert counts[0] == 0
    assert counter.count_many([]) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_lone_surrogate_counts_as_the_replacement_character(name: str) -> None:
    counter = counter_for(name)
    assert counter.count("ab\udc00cd") == counter.count("ab\ufffdcd")


@pytest.mark.parametrize("name", ["cl100k_base", "estimate", "utf8_bytes", "llama3"])
@pytest.mark.parametrize("wrong", [None, 5, b"bytes", ["list"]])
def test_what_is_no_string_is_refused(name: str, wrong: Any) -> None:
    counter = counter_for(name)
    with pytest.raises(InputError, match="must be a string"):
        counter.count(wrong)
    with pytest.raises(InputError, match="must be a string"):
        counter.count_many(["fine", wrong])


def test_a_single_text_is_no_batch() -> None:
    with pytest.raises(InputError, match="call count"):
        counter_for("cl100k_base").count_many("hello")


def test_harmony_counts_ordinary_text_as_o200k_does() -> None:
    text = "<|start|>assistant<|channel|>final<|message|>Grüße, 世界\n"
    assert counter_for("o200k_harmony").count(text) == counter_for("o200k_base").count(text)


@pytest.mark.parametrize(
    ("text", "price"), [("", 0), ("good morning", 4), ("7\n", 2), ("7\n" * 3, 6), ("PostalCodesNL", 3)]
)
def test_the_likely_estimate_rounds_and_clips_each_line(text: str, price: int) -> None:
    # good morning: 2 cl100k tokens * 1.71 = 3.42; 7\n: 2 tokens, but 2 bytes; PostalCodesNL: 1 token, but 3 of o200k.
    assert counter_for("estimate").count(text) == price


def test_the_certain_estimate_is_the_length_in_utf_8() -> None:
    assert counter_for("utf8_bytes").count_many(["abc", "é", "世", "🚲", "\ud800"]) == [3, 2, 3, 4, 3]


def test_a_long_text_is_estimated_in_blocks_to_the_same_count(monkeypatch: pytest.MonkeyPatch) -> None:
    counter = counter_for("estimate")
    text = "".join(f"- line {n} of a long text\n" for n in range(500)) + "and an end without a newline"
    whole = counter.count(text)
    monkeypatch.setattr(estimate_module, "_BLOCK", 64)
    assert counter.count(text) == whole
    assert counter.count_many([text, "short"]) == [whole, counter.count("short")]


@pytest.mark.parametrize("name", NAMES)
def test_fits_agrees_with_the_count(name: str) -> None:
    counter = counter_for(name)
    for text in ("", "hello there, world", "a" * 5_000, "\ud800" * 3):
        count = counter.count(text)
        assert counter.fits(text, count)
        assert not counter.fits(text, count - 1)
    assert not counter.fits("", -1)


def test_a_text_far_too_long_is_refused_unseen() -> None:
    def refuse(texts: list[str]) -> list[int]:
        raise AssertionError(texts)

    assert not BatchCounter("toy", CountKind.EXACT, refuse, longest_token=8).fits("x" * 81, 10)


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_text_is_a_prefix_within_its_budget(name: str) -> None:
    counter = counter_for(name)
    text = "Plan: 春夏秋冬, cafe\u0301 🇩🇪🇫🇷 👩‍👩‍👦 done.\r\n" * 40
    for budget in (-1, 0, 1, 2, 3, 7, 19, 64, 500):
        cut = counter.truncate(text, budget)
        assert text.startswith(cut)
        assert counter.count(cut) <= max(0, budget)
    assert counter.truncate(text, 100_000) == text


def test_a_cut_is_the_longest_prefix() -> None:
    counter = counter_for("o200k_base")
    assert counter.truncate("a" * 1_000_000, 10) == "a" * 80
    assert counter.truncate("hello world, good morning", 2) == "hello world"
    assert counter_for("utf8_bytes").truncate("世界", 5) == "世"


def test_a_text_that_fits_is_never_cut_for_a_dear_prefix() -> None:
    # The whole word is estimated at 4, its longer beginnings at 6.
    assert counter_for("estimate").truncate("savedInstanceState", 4) == "savedInstanceState"


def test_a_shorter_prefix_that_costs_more_is_shortened_further() -> None:
    prices = {"": 0, "a": 1, "a\u0301": 1, "ab": 9}

    def count(texts: list[str]) -> list[int]:
        return [prices.get(text, len(text)) for text in texts]

    counter = BatchCounter("toy", CountKind.EXACT, count)
    assert counter.truncate("abe\u0301xyz", 3) == "a"  # abe counts 3, but would part e from its accent; ab counts 9


def test_one_object_serves_an_encoding_from_many_threads() -> None:
    seen: list[tuple[int, int]] = []
    gate = threading.Barrier(8)

    def run() -> None:
        gate.wait()
        counter = counter_for("qwen3.5")
        seen.append((counter.count("good morning\n"), counter_for("estimate").count("good morning\n")))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert len(set(seen)) == 1


def test_importing_loads_no_vocabulary_and_no_extra() -> None:
    program = (
        "import sys, haversack.tokens as t; t.counter_for('gpt-4o'); t.counter_for('llama3');"
        "assert not {'toktok', 'splintr', 'ctok', 'tiktoken'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
