"""Who calls: keys at every request; wrong ones are counted by address, valid ones let in all the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import haversack
from haversack.engine.haversack import Haversack
from haversack.engine.keys import Key
from haversack.errors import BusyError
from haversack.guard.address import address_of
from haversack.guard.callers import Callers, Failures
from haversack.guard.pace import Buckets
from haversack.guard.refusal import Refused
from haversack.guard.settings import Limits


@pytest.fixture
def sack() -> Iterator[Haversack]:
    with haversack.open(":memory:", embedder="none") as opened:
        yield opened


def scope(*authorization: str, address: str = "192.0.2.1") -> dict[str, Any]:
    headers = [(b"authorization", one.encode("latin-1")) for one in authorization]
    return {"type": "http", "headers": headers, "client": (address, 1)}


def ask(callers: Callers, *scopes: dict[str, Any]) -> list[Any]:
    """What each is answered: the key's id, None, or the status and how long to wait."""

    async def all_of_them() -> list[Any]:
        found: list[Any] = []
        for one in scopes:
            try:
                key = await callers(one)
                found.append(key.id if key else None)
            except Refused as refused:
                found.append((refused.status, refused.headers.get("retry-after")))
        return found

    return asyncio.run(all_of_them())


def test_a_valid_key_is_let_in_whatever_its_neighbours_do(sack: Haversack):
    issued = sack.keys.create("agent")
    callers = Callers(sack, Failures(Limits(failures_per_minute=2)))
    wrong, right = scope("Bearer hvs_x_y"), scope(f"Bearer {issued.secret}")
    told = ask(callers, wrong, wrong, wrong, right, wrong, scope("Bearer hvs_x_y", address="192.0.2.2"))
    assert told == [(401, None), (401, None), (429, "30"), issued.key.id, (429, "30"), (401, None)]


def test_who_shows_nothing_has_not_failed(sack: Haversack):
    callers = Callers(sack, Failures(Limits(failures_per_minute=1)))
    assert ask(callers, *[scope()] * 3, scope("Bearer x")) == [None, None, None, (401, None)]


def test_without_a_limit_every_failure_is_a_401(sack: Haversack):
    callers = Callers(sack, Failures(Limits(failures_per_minute=0)))
    assert ask(callers, *[scope("Bearer x")] * 50) == [(401, None)] * 50


@pytest.mark.parametrize(
    "shown",
    [("Bearer",), ("Bearer ",), ("Basic {}",), ("Bearer {} ",), ("Bearer  {}",), ("{}",), ("Bearer {}", "Bearer {}")],
)
def test_a_key_in_any_other_shape_is_none(sack: Haversack, shown: tuple[str, ...]):
    secret = sack.keys.create("agent").secret
    assert ask(Callers(sack, Failures(Limits())), scope(*(one.format(secret) for one in shown))) == [(401, None)]


def test_a_revoked_key_is_refused_at_the_next_request(sack: Haversack):
    issued = sack.keys.create("agent")
    callers, right = Callers(sack, Failures(Limits())), scope(f"bearer {issued.secret}")
    assert ask(callers, right) == [issued.key.id]
    sack.keys.revoke(issued.key.id)
    assert ask(callers, right) == [(401, None)]


def test_tokens_are_read_beside_keys(sack: Haversack):
    issued = sack.keys.create("agent")
    read: Callable[[str], Key | None] = {"good.to.ken": issued.key}.get
    callers = Callers(sack, Failures(Limits()), read)
    told = ask(callers, scope("Bearer good.to.ken"), scope("Bearer bad.to.ken"), scope(f"Bearer {issued.secret}"))
    assert told == [issued.key.id, (401, None), issued.key.id]


def test_a_store_that_cannot_be_read_is_no_wrong_key(sack: Haversack, monkeypatch: pytest.MonkeyPatch):
    def busy(_: str) -> Key | None:
        raise BusyError("/home/alice/memory.db is busy")

    monkeypatch.setattr(sack.keys, "check", busy)
    assert ask(Callers(sack, Failures(Limits())), scope("Bearer hvs_x_y")) == [(503, "1")]


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("", ""),
        ("testclient", "testclient"),
    ],
)
def test_addresses_of_one_machine_are_one(address: str, told: str):
    assert address_of(scope(address=address)) == told
    assert address_of({"client": None}) == ""


def test_the_table_of_buckets_is_bounded_and_forgets_who_was_not_seen_longest():
    buckets = Buckets(2)
    assert [buckets.take("first", 0.0), buckets.take("first", 0.0), buckets.take("first", 0.0)] == [1, 0, -31]
    for number in range(9_999):
        buckets.take(str(number), 0.0)
    assert buckets.take("first", 0.0) == -31
    for number in range(10_000):
        buckets.take(f"more {number}", 0.0)
    assert buckets.take("first", 0.0) == 1
    assert len(buckets._buckets) == 10_000
