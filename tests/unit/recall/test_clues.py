"""Clues on whether a namespace holds an answer: read from a question and what recall found for it."""

import math
from datetime import UTC, datetime

import numpy as np
import pytest

from haversack.model.memory import Kind, Memory
from haversack.recall.clues import clues_of, stand_out
from haversack.recall.index import Index
from haversack.recall.lexical import find_terms
from haversack.recall.question import read
from haversack.scoring.answered import Clues

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TEXTS = (
    "The kayak is red.",
    "The red kayak leaks.",
    "Bread at nine.",
    "Tea at four.",
    "Ferry on 05/03/2026: \u0412\u043e\u043b\u0433\u0430.",
)
RED, LEAKS = math.log(1 + 3.5 / 2.5), math.log(1 + 4.5 / 1.5)
NEVER = math.log(1 + 5.5 / 0.5)


def asked(query: str, **features: float) -> Clues | None:
    index = Index(0)
    index.put(
        [
            Memory(
                id=f"{number:026d}",
                kind=Kind.FACT,
                content=text,
                created_at=NOW,
                event_time=NOW,
                born=number,
                speaker="Mira" if number == 1 else "",
            )
            for number, text in enumerate(TEXTS, 1)
        ],
        {},
    )
    question = read(query, NOW, NOW)
    found = {name: np.array([0.0, value], np.float32) for name, value in features.items()}
    return clues_of(index, question, find_terms(index, question.keys), found, soft=0.25, late=0.5)


def test_words_weigh_by_how_rare_they_are() -> None:
    clues = asked("Which red canoe leaks?", cover=1.0, cosine=0.75)
    assert clues is not None
    assert (clues.words, clues.memories, clues.soft, clues.late) == (3, 5, 0.25, 0.5)
    assert clues.known == pytest.approx((RED + LEAKS) / (RED + LEAKS + NEVER))
    assert clues.cover == pytest.approx(1 / (RED + LEAKS + NEVER))
    assert (clues.rarest, clues.cosine) == (pytest.approx(LEAKS), 0.75)


def test_nothing_found_tells_nothing() -> None:
    clues = asked("trombone")
    assert clues is not None
    assert (clues.known, clues.cover, clues.rarest, clues.cosine) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("query", "stranger"),
    [
        ("Where does Barnaby live?", True),
        ("Where does barnaby live?", False),
        ("Barnaby is where?", False),
        ("Was it sold? Perhaps.", False),
        ("What leaks in December?", False),
        ("What is the GPS of it?", False),
        ("Is it Barnaby's?", True),
    ],
)
def test_a_strange_name_stands_with_a_capital_inside_a_sentence(query: str, *, stranger: bool) -> None:
    clues = asked(query)
    assert clues is not None
    assert clues.stranger is stranger


def test_a_speaker_is_named_with_or_without_an_s() -> None:
    found = [asked(query) for query in ("Mira's boat", "boat of Mira\u2019s", "mira boat", "a boat")]
    assert [clues is not None and clues.speaker for clues in found] == [True, True, True, False]


@pytest.mark.parametrize(
    "query",
    [
        "and why?",
        "tell me more",
        "Und warum?",
        "pourquoi \u00e7a ?",
        "go on, please",
        "March 5th",
        "\u0413\u0434\u0435 \u0412\u043e\u043b\u0433\u0430?",
        " ".join(f"word{n}" for n in range(25)),
    ],
)
def test_a_question_that_does_not_say_what_it_is_about_gives_no_clue(query: str) -> None:
    assert asked(query) is None


def test_another_script_is_a_clue_where_no_memory_has_a_word_of_it() -> None:
    clues = asked("\u041a\u0442\u043e \u044d\u0442\u043e \u0441\u043a\u0430\u0437\u0430\u043b?")
    assert clues is not None
    assert clues.known == 0


def test_how_the_best_stands_out() -> None:
    odds = np.array([-5.0] * 8 + [0.0] + [-1.0] * 4 + [-9.0] * 500, np.float32)
    found = stand_out(odds)
    likely = [1 / (1 + math.exp(-value)) for value in [0.0] + [-1.0] * 4 + [-5.0] * 8 + [-9.0] * 387]
    assert (found.best, found.lead) == (0.0, 5.0)
    assert found.share == pytest.approx(math.log(0.5 / sum(likely)), rel=1e-6)


def test_the_only_candidate_leads_nobody() -> None:
    found = stand_out(np.array([-2.0], np.float32))
    assert (found.best, found.lead, found.share) == (-2.0, 0.0, 0.0)
