from __future__ import annotations

import asyncio
import threading

import anyio

import haversack
from haversack.mcp.work import Work

_SECONDS = 60


async def _quiet(_: float) -> None:
    pass


def test_writes_to_one_namespace_keep_their_order_and_reads_pass_them() -> None:
    begun: list[int] = []
    go = threading.Event()

    def write(number: int) -> None:
        begun.append(number)
        assert go.wait(_SECONDS)

    async def work() -> None:
        with haversack.open(":memory:") as sack:
            pool = Work(sack)
            async with pool.open(), anyio.create_task_group() as group:
                for number in range(5):
                    group.start_soon(pool.write, "n", lambda number=number: write(number), _quiet)
                await anyio.wait_all_tasks_blocked()
                assert await pool.read(lambda: "read", _quiet) == "read"
                assert begun == [0]
                go.set()

    asyncio.run(work())
    assert begun == [0, 1, 2, 3, 4]


def test_a_call_that_waits_never_begins_when_it_is_cancelled() -> None:
    begun: list[str] = []
    go = threading.Event()

    def first() -> None:
        begun.append("first")
        assert go.wait(_SECONDS)

    async def work() -> None:
        with haversack.open(":memory:") as sack:
            pool = Work(sack)
            async with pool.open(), anyio.create_task_group() as group:
                group.start_soon(pool.write, "n", first, _quiet)
                await anyio.wait_all_tasks_blocked()
                with anyio.CancelScope() as scope:
                    group.start_soon(anyio.sleep, 0)
                    scope.cancel()
                    await pool.write("n", lambda: begun.append("second"), _quiet)
                go.set()

    asyncio.run(work())
    assert begun == ["first"]


def test_the_seconds_at_work_are_told_again_and_again() -> None:
    told: list[float] = []
    go = threading.Event()

    async def hear(seconds: float) -> None:
        told.append(seconds)
        if len(told) == 3:
            go.set()

    async def work() -> bool:
        with haversack.open(":memory:") as sack:
            pool = Work(sack, beat_seconds=0.25)
            async with pool.open():
                return await pool.read(lambda: go.wait(_SECONDS), hear)

    assert asyncio.run(work())
    assert told == [0.25, 0.5, 0.75]
