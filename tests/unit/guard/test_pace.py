"""The pace: a bucket per key that refills evenly, and places that are given back."""

from __future__ import annotations

import asyncio

import pytest

from haversack.engine.allowances import Lent
from haversack.errors import BusyError
from haversack.guard.pace import Pace
from haversack.guard.refusal import Refused
from haversack.guard.settings import Limits


def test_a_bucket_refills_evenly():
    pace = Pace(Limits(key_per_minute=60))
    assert [pace.take("k", 0.0)[1] for _ in range(60)] == list(range(59, -1, -1))
    with pytest.raises(Refused, match="60 requests a minute") as refused:
        pace.take("k", 0.0)
    assert refused.value.headers["retry-after"] == "2"
    assert pace.take("k", 1.0) == (60, 0)
    with pytest.raises(Refused):
        pace.take("k", 1.5)
    assert pace.take("other", 1.5) == (60, 59)


def test_no_limit_is_no_limit():
    pace = Pace(Limits(key_per_minute=0))
    assert {pace.take("k", 0.0) for _ in range(1000)} == {(0, 0)}


class Lender:
    """What a store would lend: the first so many, then nothing for three seconds."""

    def __init__(self, *granted: int) -> None:
        self.granted = list(granted)
        self.asked = list[tuple[str, int, int]]()

    async def __call__(self, name: str, most: int, wanted: int) -> Lent:
        self.asked.append((name, most, wanted))
        granted = self.granted.pop(0) if self.granted else 0
        if granted < 0:
            raise BusyError("held by another writer")
        return Lent(granted=granted, left=7, seconds=0 if granted else 3)


def test_a_share_of_the_allowance_is_borrowed_at_a_time():
    async def run() -> None:
        lend = Lender(2, 1)
        pace = Pace(Limits(key_per_minute=100), lend)
        assert [await pace.admit("k", 0.0) for _ in range(3)] == [(100, 8), (100, 7), (100, 7)]
        assert lend.asked == [("k", 100, 2)] * 2
        for now in (0.0, 2.5):
            with pytest.raises(Refused, match="100 requests a minute"):
                await pace.admit("k", now)
        assert len(lend.asked) == 3
        lend.granted = [1]
        assert await pace.admit("k", 3.0) == (100, 7)

    asyncio.run(run())


def test_who_cannot_borrow_counts_alone():
    async def run() -> None:
        pace = Pace(Limits(key_per_minute=1), Lender(-1, -1))
        assert await pace.admit("k", 0.0) == (1, 0)
        with pytest.raises(Refused):
            await pace.admit("k", 1.0)

    asyncio.run(run())


def test_requests_at_once_borrow_once():
    async def run() -> None:
        lend = Lender(5)
        pace = Pace(Limits(key_per_minute=250), lend)
        told = await asyncio.gather(*(pace.admit("k", 0.0) for _ in range(5)))
        assert sorted(told) == [(250, left) for left in range(7, 12)]
        assert lend.asked == [("k", 250, 5)]

    asyncio.run(run())


def test_places_are_limited_and_given_back():
    async def run() -> list[str]:
        pace, told = Pace(Limits(active=1, waiting=1, wait_seconds=5)), list[str]()
        first, go = asyncio.Event(), asyncio.Event()

        async def work(name: str) -> None:
            try:
                async with pace.place(name):
                    told.append(f"{name} in")
                    first.set()
                    await go.wait()
            except Refused as refused:
                told.append(f"{name} {refused.status}")

        tasks = [asyncio.create_task(work("a"))]
        await first.wait()
        tasks += [asyncio.create_task(work("b")), asyncio.create_task(work("c"))]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        go.set()
        await asyncio.gather(*tasks)
        return told

    assert asyncio.run(run()) == ["a in", "c 429", "b in"]


def test_who_waits_too_long_is_refused():
    async def run() -> int:
        pace = Pace(Limits(active=1, wait_seconds=1))
        async with pace.place("a"):
            async with asyncio.timeout(10):
                try:
                    async with pace.place("b"):
                        return 200
                except Refused as refused:
                    return refused.status

    assert asyncio.run(run()) == 429


def test_one_key_does_not_take_every_place():
    async def run() -> list[int]:
        pace = Pace(Limits(key_active=1, key_waiting=0, key_streams=1))
        found: list[int] = []
        async with pace.place("a"), pace.stream("a"):
            for turn in (pace.place, pace.stream):
                try:
                    async with turn("a"):
                        pass
                except Refused as refused:
                    found.append(refused.status)
            async with pace.place("b"), pace.stream("b"):
                found.append(200)
        async with pace.place("a"), pace.stream("a"):
            found.append(200)
        return found

    assert asyncio.run(run()) == [429, 429, 200, 200]


def test_exports_have_places_of_their_own_and_a_small_share():
    async def run() -> list[str]:
        pace, told = Pace(Limits(active=1, exports=2, key_exports=1, waiting=0)), list[str]()
        async with pace.export("a"), pace.export("b"):
            for key in ("a", "c"):
                try:
                    async with pace.export(key):
                        pass
                except Refused as refused:
                    told.append(refused.detail)
            assert not pace.is_busy
            async with pace.place("a"):
                assert not pace.is_busy
                with pytest.raises(Refused, match="the server is busy"):
                    await _enter(pace, "b")
                assert pace.is_busy
            assert not pace.is_busy
        async with pace.export("a"), pace.export("c"):
            return told

    assert asyncio.run(run()) == [
        "this key may have 1 exports at once; try again in 5 s",
        "too many exports are under way, and too many wait; try again in 1 s",
    ]


def test_a_key_waits_for_its_own_places_and_leaves_those_of_others():
    async def run() -> list[str]:
        pace, told = Pace(Limits(active=2, key_active=1, key_waiting=1)), list[str]()
        go = {name: asyncio.Event() for name in ("a1", "a2", "a3", "b1")}

        async def work(name: str) -> None:
            try:
                async with pace.place(name[0]):
                    told.append(f"{name} in")
                    await go[name].wait()
            except Refused as refused:
                told.append(f"{name} {refused.status}")

        tasks = list[asyncio.Task[None]]()
        for name in go:
            tasks.append(asyncio.create_task(work(name)))
            await asyncio.sleep(0)
        for event in go.values():
            event.set()
        await asyncio.gather(*tasks)
        assert not pace._own
        return told

    assert asyncio.run(run()) == ["a1 in", "a3 429", "b1 in", "a2 in"]


def test_who_gives_up_waiting_leaves_its_place_in_the_queue():
    async def run() -> list[int]:
        pace = Pace(Limits(active=1, waiting=1))
        async with pace.place("a"):
            gone = asyncio.create_task(_enter(pace, "b"))
            await asyncio.sleep(0)
            gone.cancel()
            await asyncio.wait([gone])
            waits = asyncio.create_task(_enter(pace, "c"))
            await asyncio.sleep(0)
        return [await waits, await _enter(pace, "d")]

    assert asyncio.run(run()) == [200, 200]


async def _enter(pace: Pace, key: str) -> int:
    async with pace.place(key):
        return 200
