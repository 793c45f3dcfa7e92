from __future__ import annotations

import numpy as np
import pytest

from haversack.embed.static import StaticEmbedder


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


def test_rows_have_unit_length(embedder: StaticEmbedder) -> None:
    rows = embedder.embed(["The cat sat on the mat", "Quarterly revenue grew", "naïve café"])
    assert rows.shape == (3, embedder.dimension)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)


@pytest.mark.parametrize("text", ["", "  ", "?!", "報告", "\x00", "x" * 200])
def test_a_text_without_known_words_gives_zeros(embedder: StaticEmbedder, text: str) -> None:
    assert not embedder.embed_query(text).any()


def test_related_words_are_closer_than_unrelated(embedder: StaticEmbedder) -> None:
    query = embedder.embed_query("When does the ship depart?")
    near, far = embedder.embed(["The ferry leaves at nine", "Add two spoons of sugar"])
    assert query @ near > query @ far


def test_a_text_gives_the_same_row_alone_and_in_a_batch(embedder: StaticEmbedder) -> None:
    texts = [f"note {number} about rivers" for number in range(1500)]
    rows = embedder.embed(texts)
    assert np.array_equal(rows[1200], embedder.embed_query(texts[1200]))
    assert embedder.embed([]).shape == (0, embedder.dimension)
