"""Protocol sessions by who opened them: each has a share, and the one that was unused for longest leaves first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["Sessions"]

_MOST_CALLERS = 10_000


class Sessions:
    """The sessions that were opened here. Ended ones may still be in it, until they leave like the others."""

    def __init__(self, share: int) -> None:
        self._share = share
        self._by_caller: OrderedDict[str, OrderedDict[str, int]] = OrderedDict()
        """How many requests each session has at work, the one unused for longest first."""

    def opened(self, who: str, session: str) -> None:
        """A caller has opened a session."""
        self._by_caller.setdefault(who, OrderedDict())[session] = 0
        self._by_caller.move_to_end(who)
        if len(self._by_caller) > _MOST_CALLERS:
            self._by_caller.popitem(last=False)

    @contextmanager
    def used(self, who: str, session: str) -> Generator[None]:
        """A request of the session is at work."""
        own = self._by_caller.get(who, OrderedDict())
        if session not in own:
            yield
            return
        own[session] += 1
        own.move_to_end(session)
        try:
            yield
        finally:
            own[session] -= 1

    def beyond(self, who: str) -> list[str]:
        """Take out the idle sessions that are more than a caller's share; they are to be ended."""
        own = self._by_caller.get(who, OrderedDict())
        idle = [session for session, at_work in own.items() if not at_work]
        leaving = idle[: max(0, len(own) - self._share)]
        for session in leaving:
            del own[session]
        return leaving
