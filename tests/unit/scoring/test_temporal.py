from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from haversack.scoring.temporal import Grain, asks_for_latest, asks_when, spans

NOW = datetime(2024, 5, 15, 14, 30, tzinfo=UTC)  # a Wednesday
EARLY = datetime(2023, 2, 1, tzinfo=UTC)


def read(query: str, now: datetime = NOW) -> list[tuple[str, str, Grain]]:
    return [(f"{s.start:%Y-%m-%d}", f"{s.end:%Y-%m-%d}", s.grain) for s in spans(query, now, EARLY)]


@pytest.mark.parametrize(
    ("query", "start", "end", "grain"),
    [
        ("on 8 May, 2023", "2023-05-08", "2023-05-09", Grain.DAY),
        ("on May 8th, 2023?", "2023-05-08", "2023-05-09", Grain.DAY),
        ("2023-12-31", "2023-12-31", "2024-01-01", Grain.DAY),
        ("in February 2024", "2024-02-01", "2024-03-01", Grain.MONTH),
        ("during 2023", "2023-01-01", "2024-01-01", Grain.YEAR),
        ("what happened yesterday", "2024-05-14", "2024-05-15", Grain.DAY),
        ("last week", "2024-05-06", "2024-05-13", Grain.DAY),
        ("last month", "2024-04-01", "2024-05-01", Grain.MONTH),
        ("last year", "2023-01-01", "2024-01-01", Grain.YEAR),
        ("on Monday", "2024-05-13", "2024-05-14", Grain.DAY),
        ("last wednesday", "2024-05-08", "2024-05-09", Grain.DAY),
        ("two days ago", "2024-05-13", "2024-05-14", Grain.DAY),
        ("the day before yesterday", "2024-05-13", "2024-05-14", Grain.DAY),
        ("on 2024/3/4", "2024-03-04", "2024-03-05", Grain.DAY),
        ("am 4.3.2024", "2024-03-04", "2024-03-05", Grain.DAY),
        ("the 2024-02 numbers", "2024-02-01", "2024-03-01", Grain.MONTH),
        ("in the last 3 days", "2024-05-12", "2024-05-16", Grain.DAY),
        ("over the past two weeks", "2024-05-01", "2024-05-16", Grain.DAY),
    ],
)
def test_one_span(query: str, start: str, end: str, grain: Grain) -> None:
    assert read(query) == [(start, end, grain)]


def test_a_month_without_a_year_is_each_of_them_since_the_earliest_memory() -> None:
    assert [start for start, _, _ in read("in March")] == ["2023-03-01", "2024-03-01"]


@pytest.mark.parametrize(
    "query",
    [
        "may I ask",
        "30 February 2024",
        "call 2023456",
        "500 years ago",
        "the last 500 years",
        "2024-13-01x 31.13.24",
        "nothing",
    ],
)
def test_no_span(query: str) -> None:
    assert read(query) == []


def test_days_begin_in_the_zone_of_now() -> None:
    east = timezone(timedelta(hours=9))
    (span,) = spans("today", datetime(2024, 5, 15, 3, tzinfo=east), EARLY)
    assert span.start.astimezone(UTC) == datetime(2024, 5, 14, 15, tzinfo=UTC)


def test_what_a_question_wants() -> None:
    assert asks_when("When did she leave?")
    assert asks_when("How long did it take?")
    assert not asks_when("Who left?")
    assert asks_for_latest("What is my current address?")
    assert not asks_for_latest("Where did I live?")
