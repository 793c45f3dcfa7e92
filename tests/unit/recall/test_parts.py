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


def test_a_short_text_stays_whole() -> None:
    assert chunk("a b c. d e f", lambda texts: words(list(texts)), target=5) == ["a b c. d e f"]


def test_a_text_without_any_end_is_cut_all_the_same() -> None:
    pieces = chunk("x" * 5000, lambda texts: [len(text) // 4 for text in texts], target=100)
    assert "".join(pieces) == "x" * 5000
    assert max(map(len, pieces)) <= 400
