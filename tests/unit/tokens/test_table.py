"""A process's first texts are counted by a table, exactly as the library counts them."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from haversack.tokens import table
from haversack.tokens.exact import built_in_function
from haversack.tokens.tabulate import table as made

VOCABULARIES = st.sampled_from(sorted(table.TABLES))
CONSTRUCTS = """'s 'LL ’re don't ABCdef É naïve ÀÉÎõü / — … 12 1234567 € <|endoftext|> €5 🙂 漢 _ -> → ² ª""".split()  # noqa: SIM905
PIECES = st.sampled_from([*CONSTRUCTS, "  ", "\n\n", "\r\n", "\t", " \n", "//\n", "\x0b", "\u00a0", "x" * 70])
OTHERS = st.text(st.characters(max_codepoint=0x2200), max_size=8) | st.from_regex(r"[ -~]{0,9}")
TEXTS = st.lists(PIECES | OTHERS).map("".join)
ORDINARY = st.sampled_from([*map(chr, (9, 10, 13, *range(32, 127), *range(0xC0, 0xD7))), "\u2019", "\u2014"])


def library(texts: list[str], vocabulary: str) -> list[int]:
    return import_module("toktok").batch_count(texts, vocabulary, 1)


@given(vocabulary=VOCABULARIES, texts=st.lists(TEXTS, max_size=4))
@example(vocabulary="o200k_base", texts=["a \n"])
@example(vocabulary="cl100k_base", texts=[" \n \n x", "a  \n", "'s's", "A'S", "\r\n\r\n  b", "   ", ""])
def test_it_counts_as_the_library_or_not_at_all(vocabulary: str, texts: list[str]) -> None:
    counts = table.FirstCounter(vocabulary).count(texts)
    assert counts is None or counts == library(texts, vocabulary)


@given(vocabulary=VOCABULARIES, text=st.text(ORDINARY, max_size=20))
def test_ordinary_text_is_counted_here(vocabulary: str, text: str) -> None:
    assert table.FirstCounter(vocabulary).count([text]) == library([text], vocabulary)


@pytest.mark.parametrize("vocabulary", sorted(table.TABLES))
def test_the_table_is_what_its_script_makes(vocabulary: str) -> None:
    assert Path(table.__file__).with_name(f"{vocabulary}.table").read_bytes() == made(vocabulary)


@pytest.mark.parametrize("vocabulary", sorted(table.TABLES))
def test_many_characters_are_left_to_the_library(vocabulary: str) -> None:
    counter = table.FirstCounter(vocabulary)
    assert counter.count(["ship " * 6_000]) == library(["ship " * 6_000], vocabulary)
    assert counter.count(["ship " * 6_000]) is None
    assert counter.count(["ship"]) is None


@pytest.mark.parametrize("vocabulary", sorted(table.TABLES))
def test_what_it_does_not_know_is_counted_by_the_library(vocabulary: str) -> None:
    for text in ("漢字", "x\u00a0y", "²", "\x1c", "a" * 65):
        assert table.FirstCounter(vocabulary).count([text]) is None
        assert built_in_function(vocabulary)([text]) == library([text], vocabulary)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("from haversack.tokens import counter_for; print(counter_for('gpt-4o').count('two tides'))", "2 False"),
        ("from haversack.tokens import counter_for; print(counter_for('gpt-4o').count('二'))", "1 True"),
        ("import haversack; haversack.open(':memory:', embedder='none').warm_up()", "True"),
    ],
)
def test_when_a_new_process_loads_the_library(program: str, said: str) -> None:
    program = f"{program}; import sys; print('toktok' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == said.split()
