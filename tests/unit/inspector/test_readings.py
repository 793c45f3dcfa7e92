from __future__ import annotations

from datetime import UTC, datetime, timedelta

from haversack.compaction.view import Fold
from haversack.inspector.pictures import Reading
from haversack.inspector.sessions import readings
from haversack.model.memory import Turn
from haversack.model.message import Message, Role, Text

START = datetime(2026, 1, 1, tzinfo=UTC)


def turns(count: int) -> list[Turn]:
    return [
        Turn(
            id=f"t{n}",
            session="s",
            message=Message(role=Role.USER, parts=(Text("x"),)),
            at=START + timedelta(minutes=n),
            position=n,
        )
        for n in range(count)
    ]


def test_turns_add_up() -> None:
    assert [each.percent for each in readings(turns(3), [100, 50, 50], [], 1000)] == [10, 15, 20]


def test_a_summary_takes_the_place_of_its_turns_from_when_it_was_made() -> None:
    fold = (Fold(summary="s", start=0, stop=2), START + timedelta(minutes=2, seconds=30), 20)
    assert readings(turns(5), [100, 100, 100, 100, 100], [fold], 1000) == [
        Reading(position=0, percent=10),
        Reading(position=1, percent=20),
        Reading(position=2, percent=30),
        Reading(position=3, percent=22, compacted=True),  # 400 - 200 + 20
        Reading(position=4, percent=32),
    ]


def test_turns_before_the_first_one_shown_free_nothing() -> None:
    fold = (Fold(summary="s", start=0, stop=3), START, 10)
    found = readings(turns(5)[2:], [100, 100, 100], [fold], 1000)
    assert [each.percent for each in found] == [1, 11, 21]


def test_a_summary_made_after_the_last_turn_is_one_reading_more() -> None:
    fold = (Fold(summary="s", start=0, stop=2), START + timedelta(days=1), 10)
    assert readings(turns(2), [100, 100], [fold], 1000) == [
        Reading(position=0, percent=10),
        Reading(position=1, percent=20),
        Reading(position=2, percent=1, compacted=True),
    ]
