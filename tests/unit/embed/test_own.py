from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import haversack
from haversack.embed.embedder import AskedWords, has_signs
from haversack.embed.own import OwnEmbedder
from haversack.errors import InputError, ServiceError


class Given:
    """An embedder whose answers a test decides."""

    model = "mine"
    dimension = 4

    def __init__(self, answer: Callable[[Sequence[str]], Any]) -> None:
        self.answer = answer

    def embed(self, texts: Sequence[str]) -> Any:
        return self.answer(texts)

    def embed_query(self, text: str) -> Any:
        return self.answer([text])[0]


class Bare:
    model = "bare"

    def embed(self, texts: Sequence[str]) -> Any:
        return [[3.0, 4.0] for _ in texts]


def no_package(_texts: Sequence[str]) -> Any:
    raise ImportError("No module named 'gone'")


WRONG: list[Callable[[Sequence[str]], Any]] = [
    no_package,
    lambda texts: np.ones((len(texts), 3)),
    lambda texts: np.ones((len(texts) + 1, 4)),
    lambda texts: np.ones((max(0, len(texts) - 1), 4)),
    lambda texts: np.full((len(texts), 4), np.nan),
    lambda texts: np.full((len(texts), 4), np.inf),
    lambda texts: [["a", "b", "c", "d"] for _ in texts],
    lambda texts: [[1.0] * (4 + place % 2) for place, _ in enumerate(texts)][::-1],
    lambda _: None,
]


@pytest.mark.parametrize("answer", WRONG[:-2] + WRONG[-1:])
def test_a_wrong_answer_is_a_fault_of_the_embedder(answer: Callable[[Sequence[str]], Any]) -> None:
    with pytest.raises(ServiceError, match="the embedder 'mine'"):
        OwnEmbedder(Given(answer)).embed(["one", "two"])


@pytest.mark.parametrize("answer", WRONG)
def test_words_alone_serve_when_it_fails(answer: Callable[[Sequence[str]], Any]) -> None:
    with haversack.open(":memory:", embedder=Given(answer)) as sack:
        ns = sack.namespace("n")
        ns.remember("the red boat")
        ns.remember_many(["a green kettle", "a blue door"])
        ns.session("s").add("user", "the boat has left")
        assert {hit.content for hit in ns.recall("boat")} >= {"the red boat", "the boat has left"}
        assert "the red boat" in ns.context("boat", budget=60).text


def test_vectors_are_made_unit_vectors_and_zeros_are_kept() -> None:
    own = OwnEmbedder(Given(lambda texts: np.array([[0, 0, 3, 4], [0, 0, 0, 0], [1e38, 0, 0, 0]])[: len(texts)]))
    assert own.embed(["a", "b", "c"]).tolist() == [
        pytest.approx([0, 0, 0.6, 0.8]),
        [0, 0, 0, 0],
        [1, 0, 0, 0],
    ]
    assert own.embed_query("a").tolist() == pytest.approx([0, 0, 0.6, 0.8])
    assert own.embed([]).shape == (0, 4)


def test_what_is_not_told_is_found_out() -> None:
    own = OwnEmbedder(Bare())  # pyright: ignore[reportArgumentType]
    assert own.dimension == 2
    assert own.embed_query("a").tolist() == pytest.approx([0.6, 0.8])
    assert not hasattr(own, "words")


@pytest.mark.parametrize("model", [None, "", " ", 5])
def test_it_has_a_name(model: Any) -> None:
    given = Bare()
    given.model = model
    with pytest.raises(InputError, match=r"embedder\.model="):
        haversack.open(":memory:", embedder=given)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("dimension", [0, -1, True, "4"])
def test_its_dimension_is_a_number(dimension: Any) -> None:
    given = Given(lambda texts: np.ones((len(texts), 4)))
    given.dimension = dimension
    with pytest.raises(InputError, match=r"embedder\.dimension="):
        OwnEmbedder(given)


class Reader(Given):
    """An embedder that reads words, two bytes each."""

    sign_bytes = 2

    def __init__(self, signs: Any = None, rows: Any = None) -> None:
        super().__init__(lambda texts: np.full((len(texts), 4), 2.0))
        self.signs = np.zeros((3, 2), np.uint8) if signs is None else signs
        self.rows = np.full((1, 16), 3.0) if rows is None else rows

    def embed_with_signs(self, texts: Sequence[str]) -> Any:
        return self.embed(texts), [self.signs for _ in texts]

    def embed_query_with_words(self, text: str) -> Any:
        return self.embed_query(text), AskedWords((text,), self.rows)


def test_the_words_that_it_reads_are_taken() -> None:
    own = OwnEmbedder(Reader())
    assert has_signs(own)
    rows, signs = own.embed_with_signs(["a", "b"])
    assert (rows.tolist(), [one.shape for one in signs]) == ([[0.5] * 4] * 2, [(3, 2)] * 2)
    row, asked = own.embed_query_with_words("a")
    assert (row.tolist(), asked.words, asked.rows.tolist()) == ([0.5] * 4, ("a",), [[0.25] * 16])
    assert not has_signs(OwnEmbedder(Given(lambda texts: np.ones((len(texts), 4)))))


@pytest.mark.parametrize("signs", [np.zeros((3, 1), np.uint8), np.zeros((3, 2), np.int64), np.zeros(2, np.uint8), None])
def test_signs_of_another_form_are_a_fault(signs: Any) -> None:
    reader = Reader()
    reader.signs = signs
    with pytest.raises(ServiceError, match="the embedder 'mine'"):
        OwnEmbedder(reader).embed_with_signs(["a"])


def test_words_without_their_rows_are_a_fault() -> None:
    with pytest.raises(ServiceError, match="the embedder 'mine'"):
        OwnEmbedder(Reader(rows=np.ones((1, 8)))).embed_query_with_words("a")
