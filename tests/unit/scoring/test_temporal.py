from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from haversack.scoring.temporal import Grain, asks_for_latest, asks_when, spans

NOW = datetime(2024, 5, 15, 14, 30, tzinfo=UTC)  # a Wednesday
EARLY = datetime(2023, 2, 1, tzinfo=UTC)
LONG_AGO = datetime(2022, 2, 1, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


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


def test_a_weekday_behind_since_or_before_is_the_one_before_today() -> None:
    monday, since = ("2024-05-13", "2024-05-14", Grain.DAY), ("2024-05-13", "2024-05-16", Grain.YEAR)
    assert read("what happened since Monday?") == [monday, since]
    assert read("before Monday") == [monday, ("2023-02-01", "2024-05-13", Grain.YEAR)]
    assert read("between Mondays") == read("a Monday") == []


def test_of_more_times_than_anybody_asks_about_forty_are_read_and_each_span_once() -> None:
    days = [f"on 2023-{month:02}-{day:02}" for month in (3, 4) for day in range(1, 31)]
    assert len(read(" ".join(days))) == 40
    assert read("last week " * 3_000) == read("last week")


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


def told(query: str, now: datetime = NOW) -> str:
    return " ".join(f"{s.start:%Y-%m-%d}..{s.end:%Y-%m-%d}{s.grain.name[0]}" for s in spans(query, now, LONG_AGO))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what did I do last Tuesday?", "2024-05-14..2024-05-15D"),
        ("in two weeks", "2024-05-26..2024-06-02D"),
        ("next week", "2024-05-20..2024-05-27D"),
        ("tomorrow", "2024-05-16..2024-05-17D"),
        ("the day after tomorrow", "2024-05-17..2024-05-18D"),
        ("Q3 2024", "2024-07-01..2024-10-01M"),
        ("third quarter of 2023", "2023-07-01..2023-10-01M"),
        ("2023 Q1", "2023-01-01..2023-04-01M"),
        ("the week before 9 June 2023", "2023-06-02..2023-06-09D"),
        ("the week after 9 June 2023", "2023-06-10..2023-06-17D"),
        ("two days before 9 June 2023", "2023-06-07..2023-06-08D"),
        ("the day before June 9, 2023", "2023-06-08..2023-06-09D"),
        ("the weekend before 9 June 2023", "2023-06-03..2023-06-05D"),
        ("the month before June 2023", "2023-05-01..2023-06-01M"),
        ("29 February 2024", "2024-02-29..2024-03-01D"),
        ("29 February 2023", ""),
        ("on 29 February", "2024-02-29..2024-03-01D"),
        ("03/04/2024", "2024-04-03..2024-04-04D 2024-03-04..2024-03-05D"),
        ("13/04/2024", "2024-04-13..2024-04-14D"),
        ("4/13/2024", "2024-04-13..2024-04-14D"),
        ("05/05/2024", "2024-05-05..2024-05-06D"),
        ("3.4.24", "2024-04-03..2024-04-04D"),
        ("2024-05-03T10:00:00Z", "2024-05-03..2024-05-04D"),
        ("the 1990s", "1990-01-01..2000-01-01Y"),
        ("the 90s", "1990-01-01..2000-01-01Y"),
        ("in the nineties", "1990-01-01..2000-01-01Y"),
        ("between March and May 2024", "2024-03-01..2024-06-01M"),
        ("from 3 to 7 May 2024", "2024-05-03..2024-05-08D"),
        ("3-7 May 2024", "2024-05-03..2024-05-08D"),
        ("May 3-7, 2024", "2024-05-03..2024-05-08D"),
        ("2024-05-03 to 2024-05-07", "2024-05-03..2024-05-08D"),
        ("since March 2024", "2024-03-01..2024-04-01M 2024-03-01..2024-05-16Y"),
        ("before 2023", "2023-01-01..2024-01-01Y 2022-02-01..2023-01-01Y"),
        ("last summer", "2023-06-01..2023-09-01M"),
        ("summer 2022", "2022-06-01..2022-09-01M"),
        ("last winter", "2023-12-01..2024-03-01M"),
        ("this Friday", "2024-05-17..2024-05-18D"),
        ("next Friday", "2024-05-17..2024-05-18D"),
        ("Tuesday of last week", "2024-05-07..2024-05-08D"),
        ("last week on Monday", "2024-05-06..2024-05-07D"),
        ("on Tuesday, 9 May 2023", "2023-05-09..2023-05-10D"),
        ("2024-W12", "2024-03-18..2024-03-25D"),
        ("week 12 of 2024", "2024-03-18..2024-03-25D"),
        ("a fortnight ago", "2024-04-28..2024-05-05D"),
        ("last quarter", "2024-01-01..2024-04-01M"),
        ("over the weekend", "2024-05-11..2024-05-13D"),
        ("on the 10th", "2024-05-10..2024-05-11D"),
        ("on the 20th", "2024-04-20..2024-04-21D"),
        ("qu'est-ce que j'ai fait hier", "2024-05-14..2024-05-15D"),
        ("in his 30s", ""),
        ("5 hours ago", "2024-05-15..2024-05-15D"),
        ("python 3.11.2", ""),
        ("version 10.12.15.3", ""),
        ("192.168.10.12", ""),
        ("1/2 cup", ""),
        ("What is the actual cost", ""),
        ("He may march in the fall of snow", "2022-09-01..2022-12-01M 2023-09-01..2023-12-01M 2024-09-01..2024-12-01M"),
        ("on 9/11", ""),
        ("at 10-15 km", ""),
        ("a day in the life", ""),
        ("", ""),
        ("due week", ""),
        ("how many times in a week", ""),
    ],
)
def test_what_english_says(query: str, expected: str) -> None:
    assert sorted(told(query).split()) == sorted(expected.split())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("gestern", "2024-05-14..2024-05-15D"),
        ("vorgestern", "2024-05-13..2024-05-14D"),
        ("上周", "2024-05-06..2024-05-13D"),
        ("letzte Woche", "2024-05-06..2024-05-13D"),
        ("letzten Dienstag", "2024-05-14..2024-05-15D"),
        ("am Montag", "2024-05-13..2024-05-14D"),
        ("vor zwei Wochen", "2024-04-28..2024-05-05D"),
        ("vor einer Woche", "2024-05-05..2024-05-12D"),
        ("am 9. Juni 2023", "2023-06-09..2023-06-10D"),
        ("im Juni 2023", "2023-06-01..2023-07-01M"),
        ("in drei Tagen", "2024-05-18..2024-05-19D"),
        ("nächste Woche", "2024-05-20..2024-05-27D"),
        ("heute morgen", "2024-05-15..2024-05-16D"),
        ("Was ist hier passiert", ""),
        ("in den letzten drei Tagen", "2024-05-12..2024-05-16D"),
        ("letztes Jahr", "2023-01-01..2024-01-01Y"),
        ("im 3. Quartal 2023", "2023-07-01..2023-10-01M"),
        ("la semaine dernière", "2024-05-06..2024-05-13D"),
        ("mardi dernier", "2024-05-14..2024-05-15D"),
        ("il y a deux semaines", "2024-04-28..2024-05-05D"),
        ("le 9 juin 2023", "2023-06-09..2023-06-10D"),
        ("le 1er mars 2024", "2024-03-01..2024-03-02D"),
        ("en mars 2024", "2024-03-01..2024-04-01M"),
        ("l'année dernière", "2023-01-01..2024-01-01Y"),
        ("the Mars 2020 rover", "2020-01-01..2021-01-01Y"),
        ("le mois prochain", "2024-06-01..2024-07-01M"),
        ("ayer", "2024-05-14..2024-05-15D"),
        ("anteayer", "2024-05-13..2024-05-14D"),
        ("la semana pasada", "2024-05-06..2024-05-13D"),
        ("el martes pasado", "2024-05-14..2024-05-15D"),
        ("hace dos semanas", "2024-04-28..2024-05-05D"),
        ("9 de junio de 2023", "2023-06-09..2023-06-10D"),
        ("en junio de 2023", "2023-06-01..2023-07-01M"),
        ("el año pasado", "2023-01-01..2024-01-01Y"),
        ("5 de mayo de 2023", "2023-05-05..2023-05-06D"),
        ("la próxima semana", "2024-05-20..2024-05-27D"),
        ("esta mañana", "2024-05-15..2024-05-16D"),
        ("ayer por la mañana", "2024-05-14..2024-05-15D"),
        ("mañana", "2024-05-16..2024-05-17D"),
        ("sandwich with mayo", ""),
        ("ieri", "2024-05-14..2024-05-15D"),
        ("la settimana scorsa", "2024-05-06..2024-05-13D"),
        ("due settimane fa", "2024-04-28..2024-05-05D"),
        ("il 9 giugno 2023", "2023-06-09..2023-06-10D"),
        ("lunedì scorso", "2024-05-13..2024-05-14D"),
        ("ontem", "2024-05-14..2024-05-15D"),
        ("na semana passada", "2024-05-06..2024-05-13D"),
        ("há duas semanas", "2024-04-28..2024-05-05D"),
        ("gisteren", "2024-05-14..2024-05-15D"),
        ("vorige week", "2024-05-06..2024-05-13D"),
        ("twee weken geleden", "2024-04-28..2024-05-05D"),
        ("вчера", "2024-05-14..2024-05-15D"),
        ("на прошлой неделе", "2024-05-06..2024-05-13D"),
        ("в прошлый вторник", "2024-05-14..2024-05-15D"),
        ("две недели назад", "2024-04-28..2024-05-05D"),
        ("неделю назад", "2024-05-05..2024-05-12D"),
        ("9 июня 2023 года", "2023-06-09..2023-06-10D"),
        ("в июне 2023 года", "2023-06-01..2023-07-01M"),
        ("в прошлом году", "2023-01-01..2024-01-01Y"),
        ("через две недели", "2024-05-26..2024-06-02D"),
        ("昨天", "2024-05-14..2024-05-15D"),
        ("我前天说了什么", "2024-05-13..2024-05-14D"),
        ("上周二我去了哪里", "2024-05-07..2024-05-08D"),
        ("上个月", "2024-04-01..2024-05-01M"),
        ("去年", "2023-01-01..2024-01-01Y"),
        ("三天前", "2024-05-12..2024-05-13D"),
        ("两周前", "2024-04-28..2024-05-05D"),
        ("2023年6月9日", "2023-06-09..2023-06-10D"),
        ("2023年6月", "2023-06-01..2023-07-01M"),
        ("二〇", ""),
        ("2023年", "2023-01-01..2024-01-01Y"),
        ("2023年第三季度", "2023-07-01..2023-10-01M"),
        ("下周", "2024-05-20..2024-05-27D"),
        ("两个月前", "2024-03-01..2024-03-31M"),
        ("周一", "2024-05-13..2024-05-14D"),
        ("上星期五", "2024-05-10..2024-05-11D"),
        ("6月9日", "2022-06-09..2022-06-10D 2023-06-09..2023-06-10D 2024-06-09..2024-06-10D"),
        ("昨日", "2024-05-14..2024-05-15D"),
        ("先週", "2024-05-06..2024-05-13D"),
        ("先週の火曜日", "2024-05-07..2024-05-08D"),
        ("先月", "2024-04-01..2024-05-01M"),
        ("三日前", "2024-05-12..2024-05-13D"),
        ("2週間前", "2024-04-28..2024-05-05D"),
        ("一昨日", "2024-05-13..2024-05-14D"),
        ("来週", "2024-05-20..2024-05-27D"),
        ("２０２３年６月９日", "2023-06-09..2023-06-10D"),
        ("日本語", ""),
        ("3か月前", "2024-01-31..2024-03-01M"),
        ("어제", "2024-05-14..2024-05-15D"),
        ("그저께", "2024-05-13..2024-05-14D"),
        ("지난주", "2024-05-06..2024-05-13D"),
        ("지난주 화요일", "2024-05-07..2024-05-08D"),
        ("지난달", "2024-04-01..2024-05-01M"),
        ("작년", "2023-01-01..2024-01-01Y"),
        ("3일 전", "2024-05-12..2024-05-13D"),
        ("2주 전", "2024-04-28..2024-05-05D"),
        ("두 달 전", "2024-03-01..2024-03-31M"),
        ("2023년 6월 9일", "2023-06-09..2023-06-10D"),
        ("다음 주", "2024-05-20..2024-05-27D"),
        ("일주일 전", "2024-05-05..2024-05-12D"),
    ],
)
def test_what_other_languages_say(query: str, expected: str) -> None:
    assert sorted(told(query).split()) == sorted(expected.split())


@pytest.mark.parametrize(
    ("day", "start", "end"),
    [
        (datetime(2024, 3, 31, 12, tzinfo=BERLIN), "2024-03-30T23:00", "2024-03-31T22:00"),  # 23 hours
        (datetime(2024, 10, 27, 12, tzinfo=BERLIN), "2024-10-26T22:00", "2024-10-27T23:00"),  # 25 hours
        (datetime(2024, 7, 1, 0, 30, tzinfo=BERLIN), "2024-06-30T22:00", "2024-07-01T22:00"),
    ],
)
def test_days_are_as_long_as_the_clocks_make_them(day: datetime, start: str, end: str) -> None:
    (span,) = spans("today", day, EARLY)
    assert [f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M}" for moment in (span.start, span.end)] == [start, end]


def test_hours_are_counted_from_now() -> None:
    assert [(s.start, s.end) for s in spans("5 hours ago", NOW, EARLY)] == [
        (NOW - timedelta(hours=6), NOW - timedelta(hours=4))
    ]


@pytest.mark.parametrize(
    "query", ["Wann war das?", "quand est-elle partie", "什么时候", "いつですか", "Когда мы вышли?"]
)
def test_other_languages_ask_for_a_time(query: str) -> None:
    assert asks_when(query)


@pytest.mark.parametrize(
    "query",
    [
        "2024-01-01 " * 1800,
        "two weeks ago " * 1400,
        "三天前" * 6000,
        "1/2/" * 5000,
        "5 to 7 " * 2800,
        "\ue0001\ue000",
        "字" + "9" * 5000 + "天前",
    ],
)
def test_a_long_query_is_read_to_its_end(query: str) -> None:
    assert all(span.start < span.end for span in spans(query, NOW, EARLY))


@pytest.mark.parametrize("query", ["in 40 years", "next decade", "next week", "tomorrow", "the year after 2 May"])
def test_what_is_beyond_all_calendars_is_no_time(query: str) -> None:
    assert spans(query, datetime(9998, 12, 31, 12, tzinfo=UTC), EARLY) is not None
