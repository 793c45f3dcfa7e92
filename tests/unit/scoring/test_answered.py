"""How likely a namespace holds an answer: what the clues say together."""

import math
from dataclasses import replace

import pytest

from haversack.scoring import answers
from haversack.scoring.answered import Clues, Standout, answer_odds, told
from haversack.scoring.blend import LATE, LEXICAL, SENTENCE, STATIC, Learned

HALF_KNOWN = Clues(words=3, memories=16, known=0.5, cover=0.25, rarest=2.0, cosine=0.5, soft=0.4, late=0.3)
PLAIN = Standout(best=-2.0, lead=1.5, share=-3.0)
FOUND = Clues(words=4, memories=400, known=1.0, cover=0.9, rarest=6.0, cosine=0.7, soft=0.8, late=0.4, speaker=True)
AHEAD = Standout(best=1.0, lead=4.0, share=-1.0)
STRANGE = Clues(words=4, memories=400, known=0.0, cover=0.0, rarest=0.0, cosine=0.2, soft=0.2, late=0.1, stranger=True)
FLAT = Standout(best=-5.0, lead=0.3, share=-4.5)


def test_what_the_clues_come_to() -> None:
    assert told(HALF_KNOWN, PLAIN) == pytest.approx(
        {
            "known_words": 0.5 * math.log(4),
            "known_memories": 0.5 * math.log(16),
            "cover_words": 0.25 * math.log(4),
            "cover_cosine": 0.125,
            "cosine": 0.25,
            "soft": 0.4,
            "late": 0.3,
            "rarest": 2.0,
            "stranger": 0.0,
            "speaker": 0.0,
            "first_person": 0.0,
            "timed": 0.0,
            "work": 0.0,
            "words": math.log(4),
            "few": 0.25,
            "best": -2.0,
            "lead": 1.5,
            "share": -3.0,
        }
    )


def test_a_time_counts_as_far_as_the_words_are_known_and_words_only_up_to_fifteen() -> None:
    timed = told(replace(HALF_KNOWN, timed=True, words=40), PLAIN)
    assert timed["timed"] == 0.5
    assert timed["words"] == math.log(16)


def test_the_odds_are_the_start_and_the_weighted_sum() -> None:
    parts = told(HALF_KNOWN, PLAIN)
    by_hand = sum(weight * parts.get(name, 1.0) for name, weight in answers.ANSWERED_STATIC.items())
    assert answer_odds(HALF_KNOWN, PLAIN, STATIC) == pytest.approx(by_hand)


def test_an_embedder_of_unknown_weights_is_judged_by_words() -> None:
    other = Learned(weights={}, scale=1.0, shift=0.0)
    assert answer_odds(HALF_KNOWN, PLAIN, other) == answer_odds(HALF_KNOWN, PLAIN, LEXICAL)


@pytest.mark.parametrize("learned", [LEXICAL, STATIC, SENTENCE, LATE])
def test_a_strange_question_has_small_odds_and_no_odds_pass_three(learned: Learned) -> None:
    assert answer_odds(STRANGE, FLAT, learned) < -3
    assert answer_odds(FOUND, AHEAD, learned) == 3


@pytest.mark.parametrize("table", [answers.ANSWERED_LEXICAL, answers.ANSWERED_STATIC, answers.ANSWERED_LATE])
def test_each_weight_has_a_part(table: dict[str, float]) -> None:
    assert set(table) <= {"start", *told(HALF_KNOWN, PLAIN)}
