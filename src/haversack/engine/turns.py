"""Whose work is next: owners take turns, and none holds more than a share of what waits. No threads here."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from haversack.errors import CrowdedError

__all__ = ["Claim", "Shares", "Turns"]

_Work = TypeVar("_Work")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """How much may wait."""

    all: int = 128
    owner: int = 16
    """Of one owner (a key)."""
    namespace: int = 8


@dataclass(frozen=True, slots=True)
class Claim(Generic[_Work]):
    """Work of an owner in a namespace; of either, only one is done at a time."""

    owner: str
    namespace: str
    work: _Work


class Turns(Generic[_Work]):
    """What waits and what is being done. Whoever shares it between threads locks it."""

    def __init__(self, shares: Shares) -> None:
        self._shares = shares
        self._waiting: dict[str, deque[Claim[_Work]]] = {}
        """By owner, whose turn is next first."""
        self._at_work = list[Claim[_Work]]()

    def __iter__(self) -> Iterator[_Work]:
        """What waits."""
        return (claim.work for line in self._waiting.values() for claim in line)

    def add(self, claim: Claim[_Work]) -> None:
        """Let it wait; CrowdedError when the owner, the namespace or all have too much waiting already."""
        claims = [one for line in self._waiting.values() for one in line]
        namespaces = Counter(one.namespace for one in claims)
        for number, most, whose in (
            (len(self._waiting.get(claim.owner, ())), self._shares.owner, "jobs of this key"),
            (namespaces[claim.namespace], self._shares.namespace, "jobs of this namespace"),
            (len(claims), self._shares.all, "jobs"),
        ):
            if number >= most:
                raise CrowdedError(f"{number} {whose} are waiting already: try again when one is done")
        self._waiting.setdefault(claim.owner, deque()).append(claim)

    def take(self) -> Claim[_Work] | None:
        """The next that may be done now; its owner is last in line then. Give it back by `done`."""
        for owner, line in self._waiting.items():
            free = next((claim for claim in line if self._may_begin(claim)), None)
            if free is not None:
                del self._waiting[owner]
                line.remove(free)
                if line:
                    self._waiting[owner] = line
                self._at_work.append(free)
                return free
        return None

    def done(self, claim: Claim[_Work]) -> None:
        """The work has ended."""
        self._at_work.remove(claim)

    def drop(self, work: _Work) -> bool:
        """Take out what waits; whether it was waiting."""
        for owner, line in self._waiting.items():
            found = next((claim for claim in line if claim.work is work), None)
            if found is not None:
                line.remove(found)
                if not line:
                    del self._waiting[owner]
                return True
        return False

    def _may_begin(self, claim: Claim[_Work]) -> bool:
        return all(one.owner != claim.owner and one.namespace != claim.namespace for one in self._at_work)
