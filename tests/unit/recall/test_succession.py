from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import haversack
from haversack.embed.codec import quantise
from haversack.embed.embedder import WordVectors
from haversack.embed.static import StaticEmbedder
from haversack.model.memory import Kind, Memory, Source
from haversack.recall.index import Index
from haversack.recall.question import matter
from haversack.recall.succession import MOST_NEWER, newer, order_in_time, taken_up

START = datetime(2026, 1, 1, tzinfo=UTC)
LIKE, UNLIKE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def index_of(make: Callable[..., Memory], *vectors: tuple[float, ...]) -> Index:
    """Statements, the oldest first."""
    rows = [make(f"statement {n}") for n in range(len(vectors))]
    index = Index(3)
    index.put(rows, dict(zip((row.id for row in rows), quantise(np.array(vectors, np.float32)), strict=True)))
    return index


def gains(
    index: Index, *odds: float, words: tuple[float, ...] = (), stated: bool = True, latest: bool = False
) -> list[float] | None:
    count = len(odds)
    held = np.array(words or [1.0] * count, np.float32)
    found = newer(
        index.columns, np.arange(count), np.array(odds, np.float32), held, np.full(count, stated), latest=latest
    )
    return None if found is None else [round(float(each), 3) for each in found]


def test_a_later_statement_on_the_same_matter_stands_just_above(make: Callable[..., Memory]) -> None:
    index = index_of(make, LIKE, (0.8, 0.6, 0.0), UNLIKE)
    assert gains(index, 2.0, -1.0, 1.0) == [0, 3.05, 0]


def test_an_earlier_one_an_unlike_one_and_a_turn_gain_nothing(make: Callable[..., Memory]) -> None:
    assert gains(index_of(make, LIKE, LIKE), -1.0, 2.0) is None
    assert gains(index_of(make, LIKE, UNLIKE), 2.0, -1.0) is None
    assert gains(index_of(make, LIKE, LIKE), 2.0, -1.0, stated=False) is None


def test_a_word_of_the_question_that_only_the_earlier_one_has_decides(make: Callable[..., Memory]) -> None:
    assert gains(index_of(make, LIKE, LIKE), 2.0, -1.0, words=(1.0, 0.2)) is None
    assert gains(index_of(make, LIKE, LIKE), 2.0, -1.0, words=(1.0, 0.4)) == [0, 3.05]


def test_one_that_hardly_answers_gains_only_where_the_present_is_asked_for(make: Callable[..., Memory]) -> None:
    index = index_of(make, LIKE, LIKE)
    assert gains(index, 2.0, -5.0) is None
    assert gains(index, 2.0, -5.0, latest=True) == [0, 7.05]
    assert gains(index, 9.0, -5.0, latest=True) is None


def test_each_of_several_stands_above_the_one_before(make: Callable[..., Memory]) -> None:
    found = gains(index_of(make, LIKE, LIKE, LIKE), 3.0, 2.0, 1.0)
    assert found is not None
    assert found == [0, 1.05, 2.1]
    assert max(found) <= MOST_NEWER


def test_time_decides_between_those_that_answer_about_as_well(make: Callable[..., Memory]) -> None:
    index = index_of(make, LIKE, LIKE, LIKE, LIKE)
    odds = np.array([1.0, 0.0, -9.0, -1.0], np.float32)
    talk = np.zeros(4, np.bool_)
    assert order_in_time(index.columns, np.arange(4), odds, talk).tolist() == [0, 0.5, 0, 1]
    assert order_in_time(index.columns, np.arange(4), odds, odds > 0).tolist() == [1, 0.5, 0, 1]


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("Where does Ada live now?", "Where does Ada live  ?"),
        ("What is the latest price?", "What is the   price?"),
        ("Still?", " ?"),
        ("now", "now"),
    ],
)
def test_words_that_ask_for_the_present_are_no_search_words(question: str, about: str) -> None:
    assert matter(question) == about


TALK = (
    "The bread was a bit dry today.",
    "Ada, did you see the heron at the canal?",
    "I saw it! It stood there for an hour.",
    "We should live it up this weekend, Ada.",
    "Ada and I talked about the city council.",
    "What does a city need, Ada? More trees!",
)


@pytest.fixture
def ns() -> haversack.Namespace:
    sack = haversack.open(":memory:")
    ns = sack.namespace("n")
    session = ns.session("s")
    for number in range(48):
        speaker = ("Ada", "Grace")[number % 2]
        session.add("user", f"{TALK[number % 6]} ({number})", name=speaker, at=START + timedelta(hours=number))
    return ns


def first(ns: haversack.Namespace, question: str) -> str:
    return ns.recall(question, top_k=1, now=START + timedelta(days=90))[0].content


def test_a_fact_on_a_speaker_stands_before_the_talk(ns: haversack.Namespace) -> None:
    ns.remember("Ada lives in Bergen", kind="fact", event_time=START)
    for question in ("Where does Ada live?", "Which city does Ada currently live in?"):
        assert first(ns, question) == "Ada lives in Bergen"


def test_the_one_with_the_number_stands_before_a_later_one(ns: haversack.Namespace) -> None:
    ns.remember("The north pump is tested at 5 bar.", event_time=START)
    ns.remember("The south pump is tested at 15 bar.", event_time=START + timedelta(days=40))
    assert first(ns, "Which pump is tested at 5 bar?") == "The north pump is tested at 5 bar."


def test_the_later_fact_stands_before_the_earlier_one(ns: haversack.Namespace) -> None:
    ns.remember("The launch of the ferry line is on 13 June.", event_time=START)
    ns.remember("The launch of the ferry line moved to 26 September.", event_time=START + timedelta(days=40))
    for question in ("When is the launch now?", "When is the launch of the ferry line?"):
        assert first(ns, question) == "The launch of the ferry line moved to 26 September."


def test_a_later_fact_that_names_what_it_replaces_stands_before_it(ns: haversack.Namespace) -> None:
    ns.remember("Mira's favourite café is the Owl.", kind="fact", event_time=START)
    ns.remember("Mira prefers the bar at the station to the Owl by now.", kind="fact", event_time=START + timedelta(7))
    assert (
        first(ns, "What's Mira's favourite café currently?") == "Mira prefers the bar at the station to the Owl by now."
    )


@pytest.fixture(scope="module")
def vocabulary() -> WordVectors:
    return StaticEmbedder().words


def taken_up_by(vocabulary: WordVectors, talk: list[tuple[str, str]], *, stated: bool) -> list[bool]:
    """Which of these turns gain, each half as likely to answer as the one before it."""
    memories = [
        Memory(
            id=str(place),
            kind=Kind.PASSAGE,
            content=text,
            created_at=START,
            event_time=START + timedelta(days=place),
            source=Source(),
            speaker=speaker,
            born=place + 1,
        )
        for place, (speaker, text) in enumerate(talk)
    ]
    index = Index(0, vocabulary)
    index.put(memories, {})
    odds = -np.arange(len(talk), dtype=np.float32)
    found = taken_up(index, np.arange(len(talk)), odds, np.full(len(talk), stated))
    return [False] * len(talk) if found is None else [bool(gain) for gain in found]


BOOK = ("Ada", "I'm reading that thick book about whaling.")
GONE = ("Ada", "Gave the whaling book away, it is a murder mystery now.")
LATENESS = [
    ("Ada", f"The {thing} was late again, as it always is.") for thing in ("bus", "post", "train", "milk", "tram")
]


@pytest.mark.parametrize(
    ("talk", "gains"),
    [
        ([BOOK, GONE], [False, True]),
        ([GONE, BOOK], [False, True]),
        ([BOOK, ("Ben", GONE[1])], [False, False]),
        ([BOOK, ("Ada", "We are on a boat to Goes.")], [False, False]),
    ],
)
def test_who_takes_up_what_was_said_gains(
    vocabulary: WordVectors, talk: list[tuple[str, str]], gains: list[bool]
) -> None:
    for stated in (True, False):
        assert taken_up_by(vocabulary, [*talk, *LATENESS * 3], stated=stated)[:2] == gains
