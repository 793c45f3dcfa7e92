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
        ("nineteen eighty-four", "1984"),
        ("twenty twenty six", "2026"),
        ("a hundred and fifty seats", "150 seats"),
        ("hundred and fifty seats", "150 seats"),
        ("a thousand and one nights", "1001 nights"),
        ("two hundred five thousand", "205000"),
        ("two million three thousand and five", "2003005"),
        ("between one hundred and two hundred", "between 100 and 200"),
        ("between one thousand and two thousand", "between 1000 and 2000"),
        ("fifty-fifty", "50-50"),
        ("thirty forty", "30 40"),
        ("two thirds", "0.667"),
        ("one third cup", "0.333 cup"),
        ("two and a third", "2.333"),
        ("half an hour", "0.5 hour"),
        ("half a million", "0.5 million"),
        ("a quarter of a mile", "a 0.25 mile"),
        ("three quarters of an hour", "0.75 hour"),
        ("three quarters of a crowd", "0.75 of a crowd"),
        ("an hour and a half", "1.5 hour"),
        ("two hundred and a half", "200 and a half"),
        ("twelve quarters", "12 quarters"),
        ("at five to ten", "at 9:55"),
        ("five past seven in the evening", "7:05 pm"),
        ("twenty-five past seven", "7:25"),
        ("seven o'clock in the morning", "7 am"),
        ("eight at night", "8 pm"),
        ("two at night", "2 am"),
        ("the fourth of July", "the 4th of July"),
        ("July second", "July 2nd"),
        ("may the tenth", "may the 10th"),
        ("five percent", "5 percent"),
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
        "five five one two",
        "five to ten people",
        "ten to one",
        "nine to five",
        "two half marathons",
        "5 quarters",
        "2.5 and a half",
        "he may first look",
        "a year and a half",
        "a few hundred",
        "thanks, million",
        "9" * 5000 + " and a half",
    ],
)
def test_everyday_words_stay(text: str) -> None:
    assert in_figures(text) == text
