"""What lines cost under each encoding: stored when written; where an encoding is new, counted and kept later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from haversack.lazy import lazy
from haversack.model.memory import Memory
from haversack.store.port import Price, Store

if TYPE_CHECKING:
    from haversack.assemble import frame
    from haversack.tokens import Counter
else:
    frame = lazy("haversack.assemble.frame")

__all__ = ["PriceBook", "priced_as"]

_MOST_WAITING = 50_000
"""Beyond this many, prices that no write has taken along are dropped: they can be counted again."""
_MOST_READ = 100_000
_Place: TypeAlias = tuple[str, str]
"""A namespace and an encoding."""
_NONE = (-1, 0)


@dataclass(slots=True)
class PriceBook:
    """Prices for reading, and the newly counted ones until a write takes them along. Safe for threads."""

    _waiting: dict[str, dict[tuple[str, str], Price]] = field(default_factory=dict[str, "dict[tuple[str, str], Price]"])
    _read: dict[_Place, dict[str, tuple[int, int]]] = field(default_factory=dict[_Place, "dict[str, tuple[int, int]]"])
    """Lately read: by memory its change number and its price."""
    _held: int = 0
    """How many of these there are, at most."""
    _lock: Lock = field(default_factory=Lock)

    def of(self, store: Store, namespace: str, memories: Sequence[Memory], counter: Counter) -> list[int]:
        """The price of each memory's line, in tokens."""
        read = self._read.setdefault((namespace, counter.encoding), {})
        found = [read.get(memory.id, _NONE) for memory in memories]
        fresh = [memory for memory, (changed, _) in zip(memories, found, strict=True) if changed != memory.changed]
        if not fresh:
            return [price for _, price in found]
        known = self._look_up(store, namespace, fresh, counter)
        self._held += len(known)
        if self._held > _MOST_READ:
            self._read, self._held = {}, len(known)
        self._read.setdefault((namespace, counter.encoding), {}).update(
            {one.id: (one.changed, known[one.id]) for one in fresh}
        )
        return [known.get(memory.id, price) for memory, (_, price) in zip(memories, found, strict=True)]

    def _look_up(self, store: Store, namespace: str, memories: Sequence[Memory], counter: Counter) -> dict[str, int]:
        known = store.prices(namespace, priced_as(counter), [memory.id for memory in memories])
        missing = [memory for memory in memories if memory.id not in known]
        if missing:
            counted = count_lines(missing, counter)
            read = {memory.id: memory.changed for memory in missing}
            self._keep(namespace, [replace(price, changed=read[price.memory]) for price in counted])
            known |= {price.memory: price.tokens for price in counted}
        return known

    def take(self, namespace: str) -> tuple[Price, ...]:
        """Hand over what waits for a write in this namespace."""
        with self._lock:
            return tuple(self._waiting.pop(namespace, {}).values())

    def namespaces(self) -> list[str]:
        """Those with prices waiting."""
        with self._lock:
            return list(self._waiting)

    def _keep(self, namespace: str, prices: Sequence[Price]) -> None:
        with self._lock:
            waiting = self._waiting.setdefault(namespace, {})
            if len(waiting) < _MOST_WAITING:
                waiting.update({(price.memory, price.encoding): price for price in prices})


def priced_as(counter: Counter) -> str:
    """Return what prices are stored under: the encoding and the form of the lines that were counted."""
    return f"{counter.encoding}/{frame.LINE_FORM}"


def count_lines(memories: Sequence[Memory], counter: Counter) -> tuple[Price, ...]:
    """Prices counted afresh, in one batch."""
    tokens = counter.count_many([frame.line(memory) for memory in memories]) if memories else []
    return tuple(
        Price(memory=memory.id, encoding=priced_as(counter), tokens=price)
        for memory, price in zip(memories, tokens, strict=True)
    )
