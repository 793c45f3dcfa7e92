"""The threads in which `async` code works with a store, so that no call of a store is made on an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar, cast

from haversack.errors import StoreError

__all__ = ["Threads"]

_Taken = ParamSpec("_Taken")
_Result = TypeVar("_Result")
_END = object()


class Threads:
    """The threads of one open store, shared by all of its doors and `to_async`.

    A call that is cancelled while it waits for a thread never begins; one at work ends, and nobody is told.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._calls = ThreadPoolExecutor(most, thread_name_prefix="haversack-call")
        self._checks = ThreadPoolExecutor(max(2, most // 4), thread_name_prefix="haversack-check")

    def submit(self, act: Callable[[], _Result]) -> Future[_Result]:
        """Begin a call of the engine as soon as a thread is free. Raises StoreError once the store is closed."""
        return _submitted(self._calls, act)

    async def run(self, act: Callable[_Taken, _Result], /, *args: _Taken.args, **kwargs: _Taken.kwargs) -> _Result:
        """Carry out a call of the engine."""
        return await asyncio.wrap_future(self.submit(partial(act, *args, **kwargs)))

    async def check(self, act: Callable[_Taken, _Result], /, *args: _Taken.args, **kwargs: _Taken.kwargs) -> _Result:
        """Carry out a short read, such as the check of a key. It has threads of its own: no long call delays it."""
        return await asyncio.wrap_future(_submitted(self._checks, partial(act, *args, **kwargs)))

    async def each(self, items: Iterable[_Result]) -> AsyncGenerator[_Result]:
        """Yield the items, each taken in a thread."""
        left = iter(items)
        take = cast("Callable[..., Any]", next)
        while (item := await self.run(take, left, _END)) is not _END:
            yield item

    def close(self) -> None:
        """Begin nothing more. Does not wait for what is at work, since a call may close the store itself."""
        for pool in (self._calls, self._checks):
            pool.shutdown(wait=False, cancel_futures=True)


def _submitted(pool: ThreadPoolExecutor, act: Callable[[], _Result]) -> Future[_Result]:
    try:
        return pool.submit(copy_context().run, act)
    except RuntimeError:
        raise StoreError("this store is closed") from None
