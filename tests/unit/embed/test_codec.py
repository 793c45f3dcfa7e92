from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import pytest

from haversack.embed.codec import checked, decode_vector, embed_stored, encode_vectors, refined
from haversack.embed.embedder import AskedWords, Signs, Vectors
from haversack.errors import ServiceError


def test_bytes_are_a_scale_codes_and_residues() -> None:
    (data,) = encode_vectors(np.array([[0.6, -0.8, 0.297]], np.float32))
    scale = np.float32(np.float32(0.8) / 127)
    # .6 / .8 · 127 = 95.25, which is 95 and 4/16; -127 as a byte is 129; 47.15 is 47 and 2/16
    assert data == struct.pack("<f", scale) + bytes([95, 129, 47]) + bytes([0x40, 0x20])


def test_negative_residues_are_half_bytes_too() -> None:
    (data,) = encode_vectors(np.array([[127.0, 9.75, -9.75]], np.float32))
    # the scale is 1: 10 and -4/16, -10 and 4/16
    assert data == struct.pack("<f", 1) + bytes([127, 10, 246]) + bytes([0x0C, 0x40])


@pytest.mark.parametrize("dimension", [63, 64])
def test_decoding_gives_the_row_back_within_a_sixteenth_of_a_step(dimension: int) -> None:
    row = np.random.default_rng(1).normal(size=dimension).astype(np.float32)
    decoded = decode_vector(encode_vectors(row[None])[0], dimension)
    assert decoded is not None
    scale, codes, residues, signs = decoded
    assert signs is None
    assert np.abs(scale * codes - row).max() <= scale / 2 + 1e-6
    assert np.abs(scale * refined(codes[None], residues[None])[0] - row).max() <= scale / 16 + 1e-6


def test_a_vector_stored_without_residues_is_read_all_the_same() -> None:
    (data,) = encode_vectors(np.array([[0.6, -0.8, 0.297]], np.float32))
    old = decode_vector(data[:7], 3)
    assert old is not None
    assert (old.codes.tolist(), old.residues.tolist()) == ([95, -127, 47], [0, 0])
    assert refined(old.codes[None], old.residues[None]).tolist() == [[95, -127, 47]]


def test_zeros_stay_zeros() -> None:
    assert encode_vectors(np.zeros((1, 3), np.float32)) == [bytes(9)]


@pytest.mark.parametrize("data", [b"", b"1234", bytes(6), bytes(8), struct.pack("<f", float("nan")) + bytes(3)])
def test_other_bytes_are_no_vector(data: bytes) -> None:
    assert decode_vector(data, 3) is None


@pytest.mark.parametrize(
    "rows", [[[1.0]], [[1.0, 2.0], [1.0]], [[1.0, float("nan")]], [[float("inf"), 1.0]], [[0.0, 0.0]], [["a", "b"]]]
)
def test_nonsense_is_refused(rows: list[list[float]]) -> None:
    with pytest.raises(ServiceError, match="service"):
        checked(rows, 1, 2, "service")


def test_what_is_accepted_has_unit_length() -> None:
    assert checked([[3.0, 4.0]], 1, 2, "service")[0].tolist() == pytest.approx([0.6, 0.8])


class Reader:
    """One word of two bytes for each letter."""

    model, dimension, sign_bytes = "reader", 3, 2

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.array([[0.6, -0.8, 0.0]] * len(texts), np.float32)

    def embed_query(self, text: str) -> Vectors:
        return self.embed([text])[0]

    def embed_with_signs(self, texts: Sequence[str]) -> tuple[Vectors, list[Signs]]:
        return self.embed(texts), [np.array([[ord(one), 7] for one in text], np.uint8).reshape(-1, 2) for text in texts]

    def embed_query_with_words(self, text: str) -> tuple[Vectors, AskedWords]:
        raise NotImplementedError


def test_the_signs_of_words_stand_behind_the_codes() -> None:
    rows, data = embed_stored(Reader(), ["ab", ""])
    assert rows.shape == (2, 3)
    (plain,) = encode_vectors(rows[:1])
    assert data == [plain + b"a\x07b\x07", plain]
    words = [decode_vector(one, 3, 2) for one in data]
    assert words[0] is not None
    assert words[1] is not None
    assert words[0].codes.tolist() == [95, -127, 0]
    assert words[0].signs is not None
    assert words[0].signs.tolist() == [[97, 7], [98, 7]]
    assert words[1].signs is not None
    assert words[1].signs.shape == (0, 2)


@pytest.mark.parametrize("size", [6, 8, 10])
def test_half_a_word_is_no_vector(size: int) -> None:
    assert decode_vector(bytes(size), 3, 2) is None
