"""Times in languages of which only the commonest words are known, and amounts that are no years."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from haversack.scoring.temporal import asks_when, spans

NOW = datetime(2024, 5, 15, 14, 30, tzinfo=UTC)  # a Wednesday
EARLY = datetime(2023, 2, 1, tzinfo=UTC)


def days(query: str) -> list[tuple[str, str]]:
    return [(f"{span.start:%Y-%m-%d}", f"{span.end:%Y-%m-%d}") for span in spans(query, NOW, EARLY)]


YESTERDAY = ("2024-05-14", "2024-05-15")
LAST_WEEK = ("2024-05-06", "2024-05-13")


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("Dün ne yedim?", YESTERDAY),
        ("Geçen hafta ne yaptım?", LAST_WEEK),
        ("3 gün önce", ("2024-05-12", "2024-05-13")),
        ("5 Mart 2024", ("2024-03-05", "2024-03-06")),
        ("Vad åt jag igår?", YESTERDAY),
        ("förra veckan", LAST_WEEK),
        ("för 3 dagar sedan", ("2024-05-12", "2024-05-13")),
        ("Co jadłem wczoraj?", YESTERDAY),
        ("w zeszłym tygodniu", LAST_WEEK),
        ("5 marca 2024", ("2024-03-05", "2024-03-06")),
        ("apa yang saya makan kemarin", YESTERDAY),
        ("minggu lalu", LAST_WEEK),
        ("3 hari yang lalu", ("2024-05-12", "2024-05-13")),
        ("ماذا أكلت أمس؟", YESTERDAY),
        ("الأسبوع الماضي", LAST_WEEK),
        ("قبل 3 أيام", ("2024-05-12", "2024-05-13")),
        ("पिछले हफ़्ते क्या हुआ", LAST_WEEK),
        ("3 दिन पहले", ("2024-05-12", "2024-05-13")),
        ("Hôm qua tôi ăn gì?", YESTERDAY),
        ("tuần trước", LAST_WEEK),
        ("3 ngày trước", ("2024-05-12", "2024-05-13")),
        ("เมื่อวานกินอะไร", YESTERDAY),
        ("สัปดาห์ที่แล้วทำอะไร", LAST_WEEK),
        ("3 วันก่อน", ("2024-05-12", "2024-05-13")),
        ("half a year ago", ("2023-10-31", "2023-11-30")),
        ("a fortnight ago", ("2024-04-28", "2024-05-05")),
        ("fortnight ago", ("2024-04-28", "2024-05-05")),
        ("last Christmas", ("2023-12-24", "2023-12-27")),
        ("next christmas", ("2024-12-24", "2024-12-27")),
    ],
)
def test_times(query: str, day: tuple[str, str]) -> None:
    assert days(query) == [day]


@pytest.mark.parametrize(
    "query", ["a budget of 2000 tokens", "1999 euros", "2024 lines", "bu lat and long", "Hari said"]
)
def test_what_names_no_time(query: str) -> None:
    assert days(query) == []


@pytest.mark.parametrize("query", ["ne zaman geldi", "kiedy to było", "kapan dia datang", "متى وصل", "เมื่อไหร่มา"])
def test_questions_for_a_time(query: str) -> None:
    assert asks_when(query)
