from __future__ import annotations

import struct

import numpy as np
import pytest

from haversack.embed.codec import checked, decode_vector, encode_vectors
from haversack.errors import ServiceError


def test_bytes_are_a_scale_and_codes() -> None:
    (data,) = encode_vectors(np.array([[0.6, -0.8, 0.0]], np.float32))
    scale = np.float32(np.float32(0.8) / 127)
    assert data == struct.pack("<f", scale) + bytes([95, 129, 0])  # .6 / .8 · 127 = 95.25; -127 as a byte is 129


def test_decoding_gives_the_row_back_within_half_a_step() -> None:
    row = np.random.default_rng(1).normal(size=64).astype(np.float32)
    row /= np.linalg.norm(row)
    decoded = decode_vector(encode_vectors(row[None])[0], 64)
    assert decoded is not None
    scale, codes = decoded
    assert np.abs(scale * codes - row).max() <= scale / 2 + 1e-7


def test_zeros_stay_zeros() -> None:
    assert encode_vectors(np.zeros((1, 3), np.float32)) == [bytes(7)]


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
