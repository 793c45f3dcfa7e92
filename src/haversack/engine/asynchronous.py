"""The same engine for `async` code: one proxy that runs each verb in the store's threads, no twin written by hand."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, cast

from haversack.engine.auditing import Audit
from haversack.engine.correcting import Knowledge
from haversack.engine.haversack import Haversack
from haversack.engine.jobs import JobBoard
from haversack.engine.keeping import StoreMaintenance
from haversack.engine.keys import Keyring
from haversack.engine.maintaining import NamespaceMaintenance
from haversack.engine.threads import Threads
from haversack.engine.visits import Visits

__all__ = ["Asynchronous", "to_async"]

_Verbs = TypeVar("_Verbs")

_FACETS = (Audit, JobBoard, Keyring, Knowledge, NamespaceMaintenance, StoreMaintenance, Visits)
_INSTANT = frozenset({"namespace", "session"})
"""These only make a handle, so they need no thread and no await."""


class Asynchronous(Generic[_Verbs]):
    """A Haversack, Namespace or Session whose verbs are awaited: `await ns.remember(…)`, with the same arguments.

    `namespace()` and `session()` are called without await and give another of these, and so are attributes with verbs
    of their own: `await ns.maintenance.lifecycle()`. What a verb gives bit by bit is read by `async for`:
    `async for line in await ns.take_out()`. Usable as `async with`.
    """

    def __init__(self, verbs: _Verbs, threads: Threads) -> None:
        self._verbs = verbs
        self._threads = threads

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._verbs, name)
        if name in _INSTANT:
            return self._handle(attribute)
        if isinstance(attribute, _FACETS):
            return Asynchronous(attribute, self._threads)
        return self._in_thread(attribute) if callable(attribute) else attribute

    def __dir__(self) -> list[str]:
        return dir(self._verbs)

    def __repr__(self) -> str:
        return f"to_async({self._verbs!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(self._verbs, Haversack):
            await self._threads.run(self._verbs.close)

    def _handle(self, verb: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(verb)
        def made(*args: Any, **kwargs: Any) -> Any:
            return Asynchronous(verb(*args, **kwargs), self._threads)

        return made

    def _in_thread(self, verb: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
        @functools.wraps(verb)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            result = await self._threads.run(verb, *args, **kwargs)
            return self._threads.each(cast("Iterator[Any]", result)) if isinstance(result, Iterator) else result

        return awaited


def to_async(sack: Haversack) -> Asynchronous[Haversack]:
    """The open store with verbs to await; the store stays the same one, so both faces may be used at once."""
    return Asynchronous(sack, sack.threads)
