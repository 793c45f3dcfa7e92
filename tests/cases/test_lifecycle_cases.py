"""The handed cases of lifecycle, by their ids."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from haversack.lifecycle import DecayConfig
from haversack.lifecycle.decay import strength
from haversack.lifecycle.plan import carried_out, plan
from haversack.lifecycle.policy import Policy
from haversack.model.memory import Kind, Memory

NOW = datetime(2026, 6, 1, tzinfo=UTC)
WEEK_AGO = NOW - timedelta(days=7)
POLICY = Policy(decay=DecayConfig(half_life_hours={Kind.FACT: 7 * 24}))


def memory() -> Memory:
    return Memory(id="m", kind=Kind.FACT, content="x", created_at=WEEK_AGO, event_time=WEEK_AGO, importance=0.8)


@pytest.mark.parametrize(
    "runs",
    [
        [NOW],
        [NOW] * 5,
        [WEEK_AGO + timedelta(days=day) for day in range(8)],
        [WEEK_AGO + timedelta(hours=hour) for hour in range(169)],
        [],
    ],
    ids=["once", "five times", "daily", "hourly", "never"],
)
def test_life_01_decay_is_independent_of_how_often_it_runs(runs: list[datetime]) -> None:
    row = memory()
    for now in runs:
        written, erased = carried_out([row], plan([row], POLICY, now), now)
        assert erased == ()
        row = written[0] if written else row
    assert strength(row, NOW, POLICY.decay) == pytest.approx(0.4)
    assert row.importance == 0.8


def test_life_01_accesses_are_bounded() -> None:
    once = replace(memory(), access_count=1, accessed_at=NOW)
    assert strength(once, NOW, POLICY.decay) == pytest.approx(0.9)
    often = replace(memory(), access_count=1000, accessed_at=NOW)
    assert strength(often, NOW, POLICY.decay) == 1.0
    assert strength(replace(often, importance=0.1), NOW, POLICY.decay) == pytest.approx(0.3)
