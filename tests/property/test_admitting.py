"""What was true when, however the order in which statements on a subject are told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from haversack.model.memory import Memory

from .places import Setup, everywhere

START = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = st.lists(st.integers(0, 30), min_size=1, max_size=7, unique=True)


def day(number: float) -> datetime:
    return START + timedelta(days=number)


@everywhere
@settings(max_examples=150, deadline=None)
@given(alice=DAYS, bob=DAYS, order=st.randoms(use_true_random=False), calls=st.booleans())
def test_each_moment_has_the_statement_that_was_made_last_before_it(
    setup: Setup, alice: list[int], bob: list[int], order: object, calls: object
) -> None:
    """Law: told in any order, one statement of a subject is true at each moment from its first one on; none is lost."""
    told = [
        {"content": f"{who} lives at place {who}{at}", "subject": f"{who}/home", "event_time": day(at)}
        for who, days in (("alice", alice), ("bob", bob))
        for at in days
    ]
    order.shuffle(told)  # pyright: ignore[reportAttributeAccessIssue]
    with setup.open() as sack:
        ns = sack.namespace()
        kept: list[Memory] = ns.remember_many(told) if calls else [ns.remember(**one) for one in told]  # pyright: ignore[reportArgumentType, reportCallIssue]
        assert [memory.content for memory in kept] == [one["content"] for one in told]
        assert ns.stats().memories == {"fact": len(told)}
        for moment in range(31):
            then = day(moment + 0.5)
            holding = {one.content for one in ns.everything(as_of=then) if (one.valid_from or one.event_time) <= then}
            said = {
                f"{who} lives at place {who}{max(at for at in days if at <= moment)}"
                for who, days in (("alice", alice), ("bob", bob))
                if min(days) <= moment
            }
            assert holding == said
        assert len(ns.everything()) == 2
