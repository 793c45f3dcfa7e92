"""The mapped ranks stand in for the library's vocabulary while a process counts its first texts."""

from __future__ import annotations

import subprocess
import sys
import unicodedata

import pytest
import toktok
from bench.growth.measure import Limits, growth_of, undisturbed
from bench.tokens import ranks as making

from haversack.tokens.ranks import FOLDER, PATTERNS, KindUnknownError, Ranks

VOCABULARIES = sorted(PATTERNS)
PROBES = "a{0}A{0}1{0} {0}'s{0}\n", "A{0}{0}b!{0}c '{0}x\t{0}", "{0}  {0}S {0}ab\r{0}/"
"""A character of another kind than supposed would split at least one of these elsewhere."""
STEP = 31
"""Beyond the first scripts one code point in so many is tried: the others lie in the same runs."""
FIRST_THEN_MANY = """
import sys
from haversack.tokens import counter_for
counter = counter_for({name!r})
counter.count("Grüße, 世界: a first text."), counter.truncate("Grüße, 世界: a first text.", 4)
print("toktok" in sys.modules)
for text in {texts!r}:
    counter.count(text)
print("toktok" in sys.modules)
"""


def assigned() -> list[str]:
    codes = [*range(0x3000), *range(0x3000, sys.maxunicode, STEP)]
    return [chr(code) for code in codes if unicodedata.category(chr(code)) not in {"Cn", "Cs"}]


def is_known(ranks: Ranks, character: str) -> bool:
    try:
        return bool(ranks.count([character]))
    except KindUnknownError:
        return False


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_every_known_character_is_split_as_the_library_splits_it(vocabulary: str) -> None:
    ranks = Ranks(vocabulary)
    known = [character for character in assigned() if is_known(ranks, character)]
    assert len(known) > 15_000
    probes = [probe.format(character) for character in known for probe in PROBES]
    assert ranks.count(probes) == toktok.batch_count(probes, vocabulary, 1)


@pytest.mark.parametrize("text", ["a\ud800", "\u0378", "\ufffe"])
def test_a_character_of_unknown_kind_is_left_to_the_library(text: str) -> None:
    with pytest.raises(KindUnknownError):
        Ranks("o200k_base").count([text])


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("letters", ["a", "ab", "世", "กา", " ", "\n", "=", "A", "\u0301", "aGVsbG8g"])
def test_the_time_for_one_long_piece_grows_with_its_length(vocabulary: str, letters: str) -> None:
    ranks = Ranks(vocabulary)
    with undisturbed():
        limits = Limits(sizes=(2_000,), floor=0.001)
        assert not growth_of(lambda size: lambda: ranks.count([letters * (size // len(letters))]), limits).is_too_much


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base", "o200k_harmony"])
@pytest.mark.parametrize("texts", [["ab " * 6_000] * 2, ["ab " * 12_000], ["a new letter: \u0378"]])
def test_the_library_is_loaded_behind_the_first_texts(name: str, texts: list[str]) -> None:
    program = [sys.executable, "-c", FIRST_THEN_MANY.format(name=name, texts=texts)]
    assert subprocess.run(program, capture_output=True, text=True, check=True).stdout.split() == ["False", "True"]


def test_warming_up_loads_the_library() -> None:
    program = (
        "import haversack, sys; haversack.open(':memory:', embedder='none').warm_up(); print('toktok' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_the_file_holds_the_vocabulary(vocabulary: str) -> None:
    tokens = toktok._encoding(vocabulary).token_byte_values()
    assert (FOLDER / f"{vocabulary}.ranks").read_bytes() == making.ranks(tokens)
