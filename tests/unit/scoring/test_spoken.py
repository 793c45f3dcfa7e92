"""English numbers in words become figures where they tell something, and stay words elsewhere."""

from __future__ import annotations

import pytest

from haversack.scoring.spoken import SPOKEN, in_figures


@pytest.mark.parametrize(
    ("said", "figures"),
    [
        ("twelve goats", "12 goats"),
        ("Two Hundred and Five goats", "205 goats"),
        ("three thousand two hundred", "3200"),
        ("ninety-nine", "99"),
        ("two million and one", "2000001"),
        ("two and a half hours", "2.5 hours"),
        ("12 and a half", "12.5"),
        ("three quarters", "0.75"),
        ("three-quarters", "0.75"),
        ("half mile", "0.5 mile"),
        ("five milligrams", "5 milligrams"),
        ("minus five", "-5"),
        ("half past seven", "7:30"),
        ("quarter to one", "12:45"),
        ("ten past 12", "12:10"),
        ("at noon", "at 12:00"),
        ("7 in the morning", "7 am"),
        ("7.30 in the evening", "7.30 pm"),
        ("the twelfth", "the 12th"),
        ("the twenty-first", "the 21st"),
        ("the twentieth", "the 20th"),
        ("the fortieth", "the 40th"),
    ],
)
def test_a_number_in_words(said: str, figures: str) -> None:
    assert in_figures(said) == figures
    assert not SPOKEN.isdisjoint(said.lower().replace("-", " ").split())


@pytest.mark.parametrize(
    "text",
    [
        "one of them",
        "the first of three tips",
        "a second chance",
        "ten items",
        "half of us",
        "the other half",
        "30 boats",
    ],
)
def test_everyday_words_stay(text: str) -> None:
    assert in_figures(text) == text
