from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from haversack.errors import InputError
from haversack.model.times import read_now, read_time

BERLIN = ZoneInfo("Europe/Berlin")
EAST = timezone(timedelta(hours=9))
MOMENT = datetime(2024, 1, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "zone"),
    [
        (MOMENT, BERLIN),
        (MOMENT.replace(tzinfo=None), BERLIN),
        (MOMENT.timestamp(), BERLIN),
        (str(int(MOMENT.timestamp())), BERLIN),
        ("2024-01-15T12:00:00Z", BERLIN),
        ("2024-01-15 12:00", BERLIN),
        (MOMENT.astimezone(EAST), EAST),
        ("2024-01-15T21:00:00+09:00", EAST),
        (MOMENT.astimezone(ZoneInfo("Europe/London")), ZoneInfo("Europe/London")),
    ],
)
def test_a_moment_keeps_the_zone_that_it_was_said_in_and_has_the_set_one_otherwise(value: Any, zone: tzinfo) -> None:
    moment = read_now(value, BERLIN)
    assert moment == MOMENT
    assert moment.tzinfo == zone


@pytest.mark.parametrize("text", ["2024-01-15 12:00:00 UTC", "2024-01-15T12:00GMT", "2024-01-15 12:00:00 utc"])
def test_utc_may_be_named(text: str) -> None:
    assert read_time(text) == MOMENT
    assert read_now(text, BERLIN).tzinfo == BERLIN


def test_what_is_no_time_is_named() -> None:
    with pytest.raises(InputError, match="now='yesterday' is not a time"):
        read_now("yesterday", UTC)
