"""Late interaction: how close a text's nearest word comes to each word of the question, both in their sentences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from haversack.embed.embedder import AskedWords, Vectors
from haversack.recall.features import Around, calm
from haversack.recall.index import Index
from haversack.recall.question import Question
from haversack.scoring.words import QUESTION_WORDS

__all__ = ["closeness", "late_match"]

Floats = NDArray[np.float32]
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.int32)
"""The eight bits of each byte."""
_NOTHING = -1.0
"""How close a text without words comes."""
_BESIDE, _TWO_AWAY = 0.05, 0.1
"""What a word counts less in the turn beside, or two away."""


def late_match(
    index: Index, asked: AskedWords, question: Question, rows: NDArray[np.int64], near: NDArray[np.intp], around: Around
) -> tuple[Floats, Floats] | None:
    """How near the rows at the places `near` come, alone and with the turns around them; None without words.

    Both are means over the question's telling words of what stands above the ordinary row: strangers come close as
    well, and to common words closer. The second takes the best of five turns for each word, less for a long row, whose
    own words should speak. Names of speakers are left out, for every line carries one.
    """
    telling = _telling(index, asked, question)
    if not len(telling):
        return None
    close = np.full((len(around.wider), len(telling)), _NOTHING, np.float32)
    own, before, after, before2, after2 = (places.take(near) for places in around.places)
    looked = rows.take(near)
    alone = close[own] = closeness(index, telling, looked)
    heard = np.maximum(close.take(before, axis=0), close.take(after, axis=0)) - np.float32(_BESIDE)
    far = np.maximum(close.take(before2, axis=0), close.take(after2, axis=0)) - np.float32(_TWO_AWAY)
    gained = np.maximum(0, np.maximum(heard, far) - alone) * calm(index.columns.length.take(looked))[:, None]
    ordinary = np.partition(alone, len(near) // 2, axis=0)[len(near) // 2]
    return _above(alone, ordinary), _above(alone + gained, ordinary)


def _above(close: Floats, ordinary: Floats) -> Floats:
    return np.maximum(0, close - ordinary).mean(axis=1)


def closeness(index: Index, asked: Vectors, rows: NDArray[np.int64]) -> Floats:
    """For each row and each of the question's words the best cosine with a word of the row, as far as signs tell it."""
    signs, counts = index.signs.of(rows)
    close = np.full((len(rows), len(asked)), _NOTHING, np.float32)
    told = np.flatnonzero(counts)
    if not len(told):
        return close
    codes = np.rint(asked * (127 / np.abs(asked).max(axis=1, keepdims=True))).astype(np.int32).T
    above = np.zeros((len(signs), len(asked)), np.int32)
    for place in range(index.signs.width):
        above += (_BITS @ codes[8 * place : 8 * place + 8]).take(signs[:, place], axis=0)
    best = np.maximum.reduceat(above, (np.cumsum(counts) - counts)[told], axis=0)
    lengths = np.sqrt((codes**2).sum(axis=0) * len(codes)).astype(np.float32)
    close[told] = (2 * best - codes.sum(axis=0)) / lengths  # the codes under set bits count for, the others against
    return close


def _telling(index: Index, asked: AskedWords, question: Question) -> Vectors:
    names = index.speaker_words(question.words)
    words = [place for place, word in enumerate(asked.words) if word not in QUESTION_WORDS and word not in names]
    directed = np.abs(asked.rows).max(axis=1, initial=0) > 0
    return asked.rows[[place for place in words if directed[place]]]
