"""Work that several callers want done at once, done once for all of them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["Flights"]

_Answer = TypeVar("_Answer")


class Flights(Generic[_Answer]):
    """One run at a time. Who comes while one is under way shares the next: it begins after every one of them came."""

    def __init__(self) -> None:
        self.turn = Lock()
        """Held while a run is under way; others may take it to keep runs away."""
        self._lock = Lock()
        self._next: Future[_Answer] | None = None

    def join(self, work: Callable[[], _Answer]) -> _Answer:
        """Return what a run that began after this call answers; raise what one's own run raises."""
        with self._lock:
            shared, mine = self._next, Future[_Answer]()
            self._next = shared or mine
        if shared is not None:
            return self.join(work) if shared.exception() is not None else shared.result()
        try:
            with self.turn:
                self._depart()
                answer = work()
        except BaseException as error:
            self._depart(mine)
            mine.set_exception(error)
            raise
        mine.set_result(answer)
        return answer

    def _depart(self, flight: Future[_Answer] | None = None) -> None:
        """Nobody joins the next run any more, or only not this one."""
        with self._lock:
            if flight is None or self._next is flight:
                self._next = None
