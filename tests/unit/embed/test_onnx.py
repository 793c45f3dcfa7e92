from __future__ import annotations

import numpy as np
import pytest

from haversack.embed.onnx import OnnxEmbedder


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder(threads=1)


def test_order_and_company_do_not_matter(embedder: OnnxEmbedder) -> None:
    texts = ["The ferry leaves at nine", "soup", "", "word " * 2000]
    rows = embedder.embed(texts)
    assert rows.shape == (4, embedder.dimension)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1] * 4, abs=1e-5)
    assert float(rows[1] @ embedder.embed_query("soup")) > 0.98  # the int8 model rounds per batch


def test_meaning_is_nearer_than_noise(embedder: OnnxEmbedder) -> None:
    query = embedder.embed_query("When does the ship depart?")
    near, far = embedder.embed(["The ferry leaves at nine", "Add two spoons of sugar"])
    assert query @ near > query @ far + 0.2
