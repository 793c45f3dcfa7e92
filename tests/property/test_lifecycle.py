from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from haversack.lifecycle import DecayConfig
from haversack.lifecycle.decay import strength
from haversack.lifecycle.plan import carried_out, plan
from haversack.lifecycle.policy import Policy
from haversack.model.memory import Kind, Memory, Stage

BIRTH = datetime(2026, 1, 1, tzinfo=UTC)
hours = st.integers(0, 3000).map(lambda value: timedelta(hours=value))


@st.composite
def memories(draw: st.DrawFn, name: str = "m") -> Memory:
    count = draw(st.integers(0, 8))
    accessed = BIRTH + draw(hours) if count else None
    return Memory(
        id=name,
        kind=draw(st.sampled_from(list(Kind))),
        content="x" * draw(st.integers(1, 30)),
        created_at=BIRTH,
        event_time=BIRTH,
        importance=draw(st.floats(0, 1)),
        confidence=draw(st.floats(0, 1)),
        entities=tuple("abcd"[: draw(st.integers(0, 4))]),
        access_count=count,
        accessed_at=accessed,
        pinned=draw(st.booleans()),
    )


def live(memory: Memory, policy: Policy, now: datetime) -> Memory:
    written, _ = carried_out([memory], plan([memory], policy, now), now)
    return written[0] if written else memory


@settings(max_examples=300)
@given(memory=memories(), cadence=st.lists(st.integers(0, 2000), max_size=8), end=st.integers(0, 2000))
def test_any_cadence_of_maintenance_ends_in_the_same_stage(memory: Memory, cadence: list[int], end: int) -> None:
    # Runs start after the last use: a use between two runs is a change of the stored values, not of the cadence.
    start = max(BIRTH, memory.accessed_at or BIRTH)
    policy = Policy(retention_days=10_000)
    often = memory
    for hour in sorted({min(hour, end) for hour in cadence}):
        often = live(often, policy, start + timedelta(hours=hour))
        base = replace(often, stage=memory.stage, deleted_at=memory.deleted_at, stage_before=memory.stage_before)
        assert base == memory, "base values are written back"
    now = start + timedelta(hours=end)
    assert live(often, policy, now).stage is live(memory, policy, now).stage


@settings(max_examples=200)
@given(
    kept=st.lists(memories(), max_size=6),
    now=hours,
    limit=st.one_of(st.none(), st.integers(0, 4)),
    characters=st.one_of(st.none(), st.integers(0, 60)),
)
def test_planning_again_after_execution_finds_nothing(
    kept: list[Memory], now: timedelta, limit: int | None, characters: int | None
) -> None:
    policy = Policy(max_memories=limit, max_characters=characters, retention_days=1)
    rows = {str(place): replace(memory, id=str(place)) for place, memory in enumerate(kept)}
    moment = BIRTH + now
    due = plan(rows.values(), policy, moment)
    written, erased = carried_out(rows.values(), due, moment)
    assert {memory.id for memory in written} | set(erased) == {transition.memory for transition in due}
    assert len(due) == len({transition.memory for transition in due})
    rows |= {memory.id: memory for memory in written}
    assert plan([memory for id_, memory in rows.items() if id_ not in erased], policy, moment) == []


@given(memory=memories(), first=hours, second=hours)
def test_strength_never_grows_without_a_use(memory: Memory, first: timedelta, second: timedelta) -> None:
    early, late = sorted([BIRTH + first, BIRTH + second])
    assert 0 <= strength(memory, late, DecayConfig()) <= strength(memory, early, DecayConfig()) <= 1


@given(memory=memories(), now=hours)
def test_a_pinned_memory_stays(memory: Memory, now: timedelta) -> None:
    pinned = replace(memory, pinned=True)
    assert live(pinned, Policy(max_memories=0), BIRTH + now).stage is Stage.ACTIVE
