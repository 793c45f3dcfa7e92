from __future__ import annotations

import pytest

from haversack.scoring import cues
from haversack.scoring.words import split


def words(text: str) -> frozenset[str]:
    return frozenset(split(text))


@pytest.mark.parametrize(("text", "holds"), [("I have two", True), ("room 7", True), ("no amount", False)])
def test_numbers(text: str, *, holds: bool) -> None:
    assert cues.mentions_number(text, words(text)) is holds


@pytest.mark.parametrize(("text", "holds"), [("we met Ada", True), ("Ada came", False), ("nobody", False)])
def test_names(text: str, *, holds: bool) -> None:
    assert cues.mentions_name(text) is holds


@pytest.mark.parametrize(
    ("text", "holds"), [("since Monday", True), ("in 1999", True), ("at 5 pm", True), ("in 123456", False)]
)
def test_times(text: str, *, holds: bool) -> None:
    assert cues.mentions_time(text, words(text)) is holds


@pytest.mark.parametrize(
    ("text", "holds"), [("I like tea", True), ("Always use metric", True), ("it looks like rain", False)]
)
def test_preferences(text: str, *, holds: bool) -> None:
    assert cues.states_preference(words(text)) is holds


def test_questions() -> None:
    assert cues.asks_for_number("How many cats?")
    assert cues.asks_for_name("Where is it?")
    assert cues.asks_in_first_person("What did I say?")
    assert not cues.asks_in_first_person("What did Ian say?")
    assert cues.asks_about_assistant("What did you recommend?")
    assert not cues.asks_about_assistant("Do you know?")
