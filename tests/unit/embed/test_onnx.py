from __future__ import annotations

import numpy as np
import pytest

import haversack
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


def test_words_are_read_with_the_sentence(embedder: OnnxEmbedder) -> None:
    texts = ["The ferry leaves at nine", "the of", "?!", "", "word " * 100, "Unbelievably long"]
    rows, signs = embedder.embed_with_signs(texts)
    np.testing.assert_allclose(rows, embedder.embed(texts), atol=1e-6)
    assert [one.shape for one in signs] == [(count, embedder.sign_bytes) for count in (3, 2, 0, 0, 32, 2)]


def test_the_words_of_a_question_are_whole_and_unit_long(embedder: OnnxEmbedder) -> None:
    vector, asked = embedder.embed_query_with_words("When does the unbelievably slow ferry leave?")
    assert asked.words == ("when", "does", "the", "unbelievably", "slow", "ferry", "leave")
    assert np.linalg.norm(asked.rows, axis=1) == pytest.approx([1] * 7, abs=1e-5)
    np.testing.assert_allclose(vector, embedder.embed_query("When does the unbelievably slow ferry leave?"), atol=1e-6)


def test_a_word_is_near_its_like_in_another_sentence(embedder: OnnxEmbedder) -> None:
    _, signs = embedder.embed_with_signs(["The ferry departs at nine", "Add two spoons of sugar"])
    _, asked = embedder.embed_query_with_words("When does the ship leave?")
    ship = asked.rows[asked.words.index("ship")]
    near, far = (((2.0 * np.unpackbits(one, axis=1) - 1) @ ship).max() / 8 for one in signs)
    assert near > far + 0.2


def test_what_the_model_cannot_spell_is_no_word(embedder: OnnxEmbedder) -> None:
    assert embedder.embed_query_with_words("\U0001f99c parrot!")[1].words == ("parrot",)


def test_nothing_but_blanks_has_no_words(embedder: OnnxEmbedder) -> None:
    assert embedder.embed_query_with_words("?")[1].rows.shape == (0, 8 * embedder.sign_bytes)


def test_the_store_ranks_by_words_in_their_sentences() -> None:
    with haversack.open(":memory:", embedder="onnx") as sack:
        ns = sack.namespace("n")
        said = ["The ferry departs at nine", "Add two spoons of sugar", "It rained all day", "She plays the violin"]
        memories = ns.remember_many(said)
        hit, *_ = ns.recall("When does the ship leave?", top_k=4)
        assert hit.id == memories[0].id
        assert hit.parts["meaning"] > 0
        ns.forget(memories[0].id, hard=True)
        assert {one.id for one in ns.recall("When does the ship leave?", top_k=4)} <= {one.id for one in memories[1:]}
