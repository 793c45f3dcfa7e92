from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from haversack.model.memory import Memory
from haversack.recall.chunks import chunk
from haversack.recall.index import Index
from haversack.recall.lexical import bm25, find_terms
from haversack.recall.pieces import Pieces
from haversack.recall.postings import Postings
from haversack.scoring.words import query_keys


def test_bm25_by_hand(make: Callable[..., Memory]) -> None:
    index = Index()
    index.put([make("ferry ferry late"), make("ferry"), make("soup is good")], {})
    scores = bm25(index, find_terms(index, query_keys("ferry")))
    weight = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    mean = 7 / 3
    expected = [weight * tf / (tf + 0.9 * (0.6 + 0.4 * length / mean)) for tf, length in ((2, 3), (1, 1))]
    assert scores.tolist() == pytest.approx([*expected, 0])


def test_postings_across_seals_and_merges() -> None:
    postings, expected = Postings(), dict[int, list[tuple[int, int]]]()
    generator = np.random.default_rng(3)
    row = 0
    for size in (1, 3000, 2, 4000, 1, 20_000):
        documents = [generator.integers(0, 50, int(generator.integers(0, 6))).tolist() for _ in range(size)]
        postings.append(row, documents)
        for place, keys in enumerate(documents, row):
            for key in sorted(set(keys)):
                expected.setdefault(key, []).append((place, keys.count(key)))
        row += size
    for key in range(51):
        rows, counts = postings.find(key)
        assert list(zip(rows.tolist(), counts.tolist(), strict=True)) == expected.get(key, [])


def test_pieces_of_chosen_rows() -> None:
    pieces = Pieces()
    pieces.append([[3, 1, 3], [], [7]])
    pieces.append([[2]])
    flat, ends = pieces.of(np.array([3, 0, 1]))
    assert flat.tolist() == [2, 1, 3]
    assert ends.tolist() == [1, 3, 3]


def words(texts: list[str] | tuple[str, ...]) -> list[int]:
    return [len(text.split()) for text in texts]


def test_chunks_end_at_paragraphs_then_sentences() -> None:
    text = "One two three.\n\nFour five. Six seven eight nine ten.\n\nEleven."
    assert chunk(text, lambda texts: words(list(texts)), target=5) == [
        "One two three.\n\nFour five.",
        " Six seven eight nine ten.\n\n",
        "Eleven.",
    ]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("Dr. Smith met J. Doe. They left.", ["Dr. Smith met J. Doe.", " They left."]),
        ("Mrs. Fox, e.g. at St. Ives! It was a day.", ["Mrs. Fox, e.g. at St. Ives!", " It was a day."]),
        ('He said "Go now." And then she left.', ['He said "Go now."', " And then she left."]),
        ("一二三。四五六！", ["一二三。", "四五六！"]),
        ("「一二三。」と四五六", ["「一二三。」", "と四五六"]),
        ("यह एक है। वह दो है।", ["यह एक है।", " वह दो है।"]),
    ],
)
def test_sentences_end_where_they_end(text: str, ends: list[str]) -> None:
    assert chunk(text, lambda texts: [len(each) for each in texts], target=len(ends[0]), tolerance=1) == ends


def test_what_is_seen_as_one_sign_is_not_cut() -> None:
    family = "👩\u200d👩\u200d👦"
    pieces = chunk(family * 400, lambda texts: [len(each) for each in texts])
    assert {piece.replace(family, "") for piece in pieces} == {""}
    assert {piece[0] for piece in chunk("e\u0301" * 999, lambda texts: [len(each) for each in texts])} == {"e"}


def test_space_stays_with_what_it_comes_after() -> None:
    assert chunk("a" * 10 + "\n\n" + " \n" + "b" * 10, lambda texts: [len(each) for each in texts], target=12) == [
        "a" * 10 + "\n\n \n",
        "b" * 10,
    ]


def test_marks_that_nothing_closes_are_no_fence() -> None:
    text = "````\n" + "one two. " * 9 + "\n\n```\n" + "three four. " * 9
    pieces = chunk(text, lambda texts: [len(each) for each in texts], target=40)
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= 50


def test_a_short_text_stays_whole() -> None:
    assert chunk("a b c. d e f", lambda texts: words(list(texts)), target=5) == ["a b c. d e f"]


def test_a_text_without_any_end_is_cut_all_the_same() -> None:
    pieces = chunk("x" * 5000, lambda texts: [len(text) // 4 for text in texts], target=100)
    assert "".join(pieces) == "x" * 5000
    assert max(map(len, pieces)) <= 400
