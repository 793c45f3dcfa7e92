"""Whose work is next, and who has to come again later."""

from __future__ import annotations

import pytest

from haversack.engine.turns import Claim, Shares, Turns
from haversack.errors import BusyError


def filled(*claims: tuple[str, str]) -> Turns[str]:
    turns = Turns[str](Shares())
    for number, (owner, namespace) in enumerate(claims):
        turns.add(Claim(owner, namespace, f"{owner}{number}"))
    return turns


def in_turn(turns: Turns[str]) -> list[str]:
    """Everything, one after another."""
    order = list[str]()
    while claim := turns.take():
        order.append(claim.work)
        turns.done(claim)
    return order


def test_owners_take_turns_and_each_keeps_its_order():
    turns = filled(*[("a", "x")] * 4, *[("b", "y")] * 2, ("c", "z"))
    assert in_turn(turns) == ["a0", "b4", "c6", "a1", "b5", "a2", "a3"]


def test_of_one_owner_and_of_one_namespace_one_is_done_at_a_time():
    turns = filled(("a", "x"), ("a", "y"), ("b", "x"), ("c", "z"))
    first, second = turns.take(), turns.take()
    assert first is not None
    assert second is not None
    assert (first.work, second.work, turns.take()) == ("a0", "c3", None)
    turns.done(first)
    assert sorted(turns) == ["a1", "b2"]
    third = turns.take()
    assert third is not None
    turns.done(second)
    turns.done(third)
    assert len(in_turn(turns)) == 1


@pytest.mark.parametrize(
    ("shares", "whose"),
    [
        (Shares(owner=2), "2 jobs of this key"),
        (Shares(namespace=2), "2 jobs of this namespace"),
        (Shares(all=2), "2 jobs"),
    ],
)
def test_what_may_wait_has_shares(shares: Shares, whose: str):
    turns = Turns[int](shares)
    turns.add(Claim("a", "x", 1))
    turns.add(Claim("a", "x", 2))
    with pytest.raises(BusyError, match=f"^{whose} are waiting already"):
        turns.add(Claim("a", "x", 3))
    assert list(turns) == [1, 2]
    if shares.all > 2:
        turns.add(Claim("b", "y", 4))


def test_what_waits_can_be_taken_out():
    turns = filled(("a", "x"), ("a", "x"), ("b", "y"))
    works = list(turns)
    assert [turns.drop(works[0]), turns.drop(works[0]), turns.drop(works[2])] == [True, False, True]
    assert in_turn(turns) == ["a1"]
