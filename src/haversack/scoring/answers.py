"""Log-odds that a question has an answer, by clue, and a `start`. Written by `bench/recall/answered.py`."""

from __future__ import annotations

__all__ = ["ANSWERED_LATE", "ANSWERED_LEXICAL", "ANSWERED_SENTENCE", "ANSWERED_STATIC"]

# numbers follow
ANSWERED_LEXICAL: dict[str, float] = {
    "start": 4.7921,
    "known_words": 1.6652,
    "known_memories": 0.4369,
    "cover_words": 3.0105,
    "rarest": -0.3906,
    "stranger": -1.9543,
    "speaker": 4.5002,
    "first_person": 2.0290,
    "timed": 2.2003,
    "work": -1.7453,
    "words": -3.1032,
    "few": -2.4585,
    "best": 0.4649,
    "lead": 0.0225,
    "share": 0.6828,
}

ANSWERED_STATIC: dict[str, float] = {
    "start": 2.5962,
    "known_words": 1.1739,
    "known_memories": 0.1080,
    "cover_words": 0.5652,
    "cover_cosine": -0.2563,
    "cosine": 4.0511,
    "soft": 6.4411,
    "rarest": -0.2213,
    "stranger": -1.6074,
    "speaker": 4.2374,
    "first_person": 2.1589,
    "timed": 1.4646,
    "work": -0.9705,
    "words": -2.2558,
    "few": -4.9577,
    "best": 0.4141,
    "lead": 0.2411,
    "share": 0.9987,
}

ANSWERED_SENTENCE: dict[str, float] = {
    "start": -1.6487,
    "known_words": 0.5760,
    "known_memories": 0.1800,
    "cover_words": -0.2648,
    "cover_cosine": 1.2829,
    "cosine": 15.4786,
    "soft": 4.2949,
    "rarest": -0.1259,
    "stranger": -1.7448,
    "speaker": 2.9499,
    "first_person": 1.9416,
    "timed": 2.3302,
    "words": -2.1826,
    "few": -2.7152,
    "best": -0.1805,
    "lead": 0.6011,
    "share": 0.7494,
}

ANSWERED_LATE: dict[str, float] = {
    "start": -3.2369,
    "known_words": 0.4922,
    "known_memories": 0.1719,
    "cover_words": -0.2725,
    "cover_cosine": 1.3167,
    "cosine": 15.1894,
    "soft": 3.9978,
    "late": 3.3981,
    "rarest": -0.0752,
    "stranger": -1.7438,
    "speaker": 2.8468,
    "first_person": 1.8806,
    "timed": 2.4421,
    "words": -2.0509,
    "few": -1.9707,
    "best": -0.2804,
    "lead": 0.6566,
    "share": 0.6754,
}
