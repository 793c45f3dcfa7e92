"""The packer: whole numbers in, the chosen items out. It knows prices, containers and an order, and no text at all.

Each item stands in a container (a session under its header, a section under its title) and each container in another,
up to the root. A container costs its header and its end, once, when its first item enters: so no header stands alone.
A header may itself be an item (a parent of those inside): it comes in with the first of them, or alone, never twice.

Two laws follow from taking items in a fixed order of falling worth per token, skipping what does not fit:

- *More never hurts*: with one token more, the first difference is an item taken that was skipped before. It uses that
  last token too, so it weighs more than everything that took its place, and none of that is worth more per token.
- *Use the shares*: an item skipped because it and its header did not fit never fits later, for whoever opens the header
  instead takes the header's price and its own from the same room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

__all__ = ["Container", "Packer", "Packing", "Shorter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """Something that is opened once for all its items."""

    price: int
    """Tokens of its header and its end together."""
    parent: int = -1
    """Index of the container that it stands in; -1 for none."""
    room: int | None = None
    """Most tokens that it may take in all, header included; None for no limit."""
    places: int | None = None
    """Most items that it may hold."""


Shorter: TypeAlias = "Callable[[int], Sequence[int]]"
"""The prices of the shorter forms of an item, falling; asked for only when they are needed."""


@dataclass(slots=True)
class Packing:
    """What was chosen."""

    taken: dict[int, int] = field(default_factory=dict[int, int])
    """Price paid by item, headers that it opened included, in the order of taking; a parent before its children."""
    opener: dict[int, int] = field(default_factory=dict[int, int])
    """For an item that came in as a header: the item that opened it."""
    form: dict[int, int] = field(default_factory=dict[int, int])
    """Which of the shorter forms was taken, by item; the others were taken in full."""
    blocked: dict[int, str] = field(default_factory=dict[int, str])
    """Why an item was skipped, where it was not for want of budget: `places` or `room`."""
    spare: int = 0
    opened: list[bool] = field(default_factory=list[bool])
    used: list[int] = field(default_factory=list[int])
    """Tokens by container, what stands inside it included."""
    held: list[int] = field(default_factory=list[int])
    """Items by container."""


class Packer:
    """One run of packing: any number of passes over the items; what was taken stays."""

    def __init__(
        self,
        budget: int,
        containers: Sequence[Container],
        *,
        prices: Sequence[int],
        places: Sequence[int],
        heads: Mapping[int, int] = MappingProxyType({}),
        long_from: int | None = None,
    ) -> None:
        """`prices` (in full) and `places` (index of the container) are by item; columns, since items are many.

        `heads` are the items that are a container's header, by container: they stand in it and cost nothing more.
        An item of `long_from` tokens or more is worth shortening on the spot when it does not fit in full.
        """
        self._containers = containers
        self._prices = prices
        self._places = places
        self._heads = heads
        self._long_from = long_from
        self._rooms: list[int | None] = [container.room for container in containers]
        self._limited = any(c.room is not None or c.places is not None for c in containers)
        count = len(containers)
        self.packing = Packing(spare=budget, opened=[False] * count, used=[0] * count, held=[0] * count)

    def confine(self, rooms: Mapping[int, int]) -> None:
        """From now on these containers take at most so many tokens in all."""
        for container, room in rooms.items():
            own = self._containers[container].room
            self._rooms[container] = room if own is None else min(room, own)
        self._limited = True

    def release(self) -> None:
        """Lift what `confine` imposed; the containers' own limits stay."""
        self._rooms = [container.room for container in self._containers]
        self._limited = any(c.room is not None or c.places is not None for c in self._containers)
        self.packing.blocked.clear()

    def free(self, container: int) -> int:
        """Tokens that are left for what stands in this container, headers to be opened included."""
        least = self.packing.spare
        while container >= 0:
            room = self._rooms[container]
            if room is not None:
                least = min(least, room - self.packing.used[container])
            container = self._containers[container].parent
        return least

    def take(self, order: Iterable[int], *, shorter: Shorter | None = None, least: int = 0) -> None:
        """Take each item of the order that fits; shorten a long one that does not, to `least` tokens or more."""
        packing = self.packing
        prices, places = self._prices, self._places
        long_from = self._long_from
        for index in order:
            price = prices[index]
            if price <= packing.spare and self._place(index, price, places[index]):
                continue
            if long_from is None or price < long_from or shorter is None or packing.spare < least:
                continue
            if self.free(places[index]) >= least:
                self.shorten(index, shorter, least=least)

    def shorten(self, index: int, shorter: Shorter, *, least: int = 0) -> bool:
        """Take the largest shorter form of an item that fits and has `least` tokens; whether one did."""
        container = self._places[index]
        for number, price in enumerate(shorter(index)):
            if least <= price <= self.packing.spare and self._place(index, price, container):
                self.packing.form[index] = number
                return True
        return False

    def _place(self, index: int, price: int, container: int) -> bool:
        packing = self.packing
        if packing.opened[container]:
            if self._heads.get(container) == index:
                return True
            total = price
        else:
            total = price + self._opening(container)
        if total > packing.spare:
            return False
        party = self._party(index, price, container) if self._heads else [(index, total)]
        if self._limited and (reason := self._refusal(container, price, len(party))):
            packing.blocked[index] = reason
            return False
        packing.spare -= total
        rest = total - sum(own for _, own in party)
        for item, own in party:
            packing.taken[item] = own + rest
            packing.blocked.pop(item, None)
            if item != index:
                packing.opener[item] = index
            rest = 0
        self._enter(container, price, len(party))
        return True

    def _party(self, index: int, price: int, container: int) -> list[tuple[int, int]]:
        """Who comes in with this item, itself included, with their own prices: a parent before its children."""
        party = [] if self._heads.get(container) == index else [(index, price)]
        while container >= 0 and not self.packing.opened[container]:
            head = self._heads.get(container)
            if head is not None:
                party.append((head, self._containers[container].price))
            container = self._containers[container].parent
        return party[::-1]

    def _opening(self, container: int) -> int:
        """What has to be paid for headers before an item may enter."""
        price = 0
        opened = self.packing.opened
        while container >= 0 and not opened[container]:
            price += self._containers[container].price
            container = self._containers[container].parent
        return price

    def _refusal(self, container: int, price: int, items: int) -> str | None:
        packing = self.packing
        load = price
        while container >= 0:
            limits = self._containers[container]
            if not packing.opened[container]:
                load += limits.price
            if limits.places is not None and packing.held[container] + items > limits.places:
                return "places"
            room = self._rooms[container]
            if room is not None and packing.used[container] + load > room:
                return "room"
            container = limits.parent
        return None

    def _enter(self, container: int, load: int, items: int) -> None:
        packing = self.packing
        while container >= 0:
            if not packing.opened[container]:
                packing.opened[container] = True
                load += self._containers[container].price
            packing.used[container] += load
            packing.held[container] += items
            container = self._containers[container].parent
