"""Which protocol sessions leave, and that nobody's table grows without end."""

from __future__ import annotations

from haversack.mcp.sessions import Sessions


def test_the_longest_unused_leaves_first_and_none_that_is_at_work():
    sessions = Sessions(2)
    for name in ("one", "two", "three", "four"):
        sessions.opened("me", name)
    sessions.opened("you", "five")
    with sessions.used("me", "one"), sessions.used("me", "one"), sessions.used("me", "unknown"):
        assert sessions.beyond("me") == ["two", "three"]
    assert (sessions.beyond("me"), sessions.beyond("you"), sessions.beyond("nobody")) == ([], [], [])
    sessions.opened("me", "six")
    assert sessions.beyond("me") == ["four"]


def test_callers_that_were_not_seen_for_long_are_forgotten():
    sessions = Sessions(1)
    for number in range(10_001):
        sessions.opened(f"caller {number}", "s")
    sessions.opened("caller 0", "t")
    sessions.opened("caller 10000", "t")
    assert (sessions.beyond("caller 0"), sessions.beyond("caller 10000")) == ([], ["s"])
