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

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

import msgspec

__all__ = ["Container", "Packer", "Packing"]


class Container(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is opened once for all its items."""

    price: int
    """Tokens of its header and its end together."""
    parent: int = -1
    """Index of the container that it stands in; -1 for none."""
    room: int | None = None
    """Most tokens that it may take in all, header included; None for no limit."""
    places: int | None = None
    """Most items that it may hold."""


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


class _Gate(NamedTuple):
    """What stands between an item and its container, until the next item enters anywhere."""

    opening: int
    """Tokens of the headers that are still to be paid."""
    room: int
    """Most tokens that an item may have under the containers' own limits, these headers paid."""
    seats: int
    """Most items that may still enter."""


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
    ) -> None:
        """`prices` (in full) and `places` (index of the container) are by item; columns, since items are many.

        `heads` are the items that are a container's header, by container: they stand in it and cost nothing more.
        """
        self._containers = containers
        self._prices = prices
        self._places = places
        self._heads = heads
        self._gates: dict[int, _Gate] = {}
        self._limit([container.room for container in containers])
        count = len(containers)
        self.packing = Packing(spare=budget, opened=[False] * count, used=[0] * count, held=[0] * count)

    def confine(self, rooms: Mapping[int, int]) -> None:
        """From now on these containers take at most so many tokens in all."""
        limits = self._rooms.copy()
        for container, room in rooms.items():
            own = self._containers[container].room
            limits[container] = room if own is None else min(room, own)
        self._limit(limits)

    def release(self) -> None:
        """Lift what `confine` imposed; the containers' own limits stay."""
        self._limit([container.room for container in self._containers])
        self.packing.blocked.clear()

    def _limit(self, rooms: list[int | None]) -> None:
        self._rooms = rooms
        self._limited = any(room is not None for room in rooms) or any(c.places is not None for c in self._containers)
        self._gates.clear()

    def take(self, order: Iterable[int]) -> None:
        """Take each item of the order that fits, in full."""
        packing, prices, places, gates = self.packing, self._prices, self._places, self._gates
        for index in order:
            price = prices[index]
            if price > packing.spare:
                continue
            gate = gates.get(places[index]) or self._gate(places[index])
            if self._heads or (price <= packing.spare - gate.opening and price <= gate.room and gate.seats):
                self._place(index, price, gate)
            elif price <= packing.spare - gate.opening:
                packing.blocked[index] = "room" if gate.seats else "places"

    def shorten(self, index: int, shorter: Sequence[int], *, least: int = 0, most: int = sys.maxsize) -> bool:
        """Take the largest shorter form of an item that fits and has `least` to `most` tokens; whether one did.

        `shorter` are the prices of its forms, falling.
        """
        gate = self._gate(self._places[index])
        for number, price in enumerate(shorter):
            if least <= price <= min(most, self.packing.spare) and self._place(index, price, gate):
                self.packing.form[index] = number
                return True
        return False

    def _gate(self, container: int) -> _Gate:
        packing = self.packing
        opening, room, seats = 0, sys.maxsize, sys.maxsize
        here = container
        while here >= 0:
            limits, limit = self._containers[here], self._rooms[here]
            if not packing.opened[here]:
                opening += limits.price
            if limit is not None:
                room = min(room, limit - packing.used[here] - opening)
            if limits.places is not None:
                seats = min(seats, limits.places - packing.held[here])
            here = limits.parent
        gate = self._gates[container] = _Gate(opening, room, seats)
        return gate

    def _place(self, index: int, price: int, gate: _Gate) -> bool:
        packing, container = self.packing, self._places[index]
        if packing.opened[container] and self._heads.get(container) == index:
            return True
        party = self._party(index, price, container) if self._heads else [(index, price)]
        total = price + gate.opening
        if total > packing.spare:
            return False
        if len(party) > gate.seats or price > gate.room:
            packing.blocked[index] = "places" if len(party) > gate.seats else "room"
            return False
        for item, own in party:
            packing.taken[item] = own
            packing.blocked.pop(item, None)
            if item != index:
                packing.opener[item] = index
        packing.taken[party[0][0]] += total - sum([own for _, own in party])
        packing.spare -= total
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

    def _enter(self, container: int, load: int, items: int) -> None:
        packing = self.packing
        if self._limited or not packing.opened[container]:
            self._gates.clear()
        while container >= 0:
            if not packing.opened[container]:
                packing.opened[container] = True
                load += self._containers[container].price
            packing.used[container] += load
            packing.held[container] += items
            container = self._containers[container].parent
