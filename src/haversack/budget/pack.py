"""The packer: whole numbers in, the chosen items out. It knows prices, containers and an order, and no text at all.

Each item stands in a container (a session under its header, a section under its title) and each container in another,
up to the root. A container costs its header and its end, once, when its first item enters: so no header stands alone.

Two laws follow from taking items in a fixed order of falling worth per token, skipping what does not fit:

- *More never hurts*: with one token more, the first difference is an item taken that was skipped before. It uses that
  last token too, so it weighs more than everything that took its place, and none of that is worth more per token.
- *Use the shares*: an item skipped because it and its header did not fit never fits later, for whoever opens the header
  instead takes the header's price and its own from the same room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = ["Container", "Packer", "Packing", "Piece", "Shorter"]


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


@dataclass(slots=True)
class Piece:
    """An item to place: its price when written in full, and where it stands."""

    price: int
    container: int
    long: bool = False
    """Whether it is worth shortening on the spot when it does not fit in full."""


Shorter: TypeAlias = "Callable[[int], Sequence[int]]"
"""The prices of the shorter forms of a piece, falling; asked for only when they are needed."""


@dataclass(slots=True)
class Packing:
    """What was chosen."""

    taken: dict[int, int] = field(default_factory=dict[int, int])
    """Price paid by piece, headers that it opened included, in the order of taking."""
    form: dict[int, int] = field(default_factory=dict[int, int])
    """Which of the shorter forms was taken, by piece; the others were taken in full."""
    blocked: dict[int, str] = field(default_factory=dict[int, str])
    """Why a piece was skipped, where it was not for want of budget: `places` or `room`."""
    spare: int = 0
    opened: list[bool] = field(default_factory=list[bool])
    used: list[int] = field(default_factory=list[int])
    """Tokens by container, what stands inside it included."""
    held: list[int] = field(default_factory=list[int])
    """Items by container."""


class Packer:
    """One run of packing: any number of passes over the pieces; what was taken stays."""

    def __init__(self, budget: int, containers: Sequence[Container], pieces: Sequence[Piece]) -> None:
        self._containers = containers
        self._pieces = pieces
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
        """Take each piece of the order that fits; shorten a long one that does not, to `least` tokens or more."""
        packing = self.packing
        pieces = self._pieces
        for index in order:
            piece = pieces[index]
            price = piece.price
            if price <= packing.spare and self._place(index, price, piece.container):
                continue
            if piece.long and shorter is not None and packing.spare >= least and self.free(piece.container) >= least:
                self.shorten(index, shorter, least=least)

    def shorten(self, index: int, shorter: Shorter, *, least: int = 0) -> bool:
        """Take the largest shorter form of a piece that fits and has `least` tokens; whether one did."""
        container = self._pieces[index].container
        for number, price in enumerate(shorter(index)):
            if least <= price <= self.packing.spare and self._place(index, price, container):
                self.packing.form[index] = number
                return True
        return False

    def _place(self, index: int, price: int, container: int) -> bool:
        packing = self.packing
        total = price if packing.opened[container] else price + self._opening(container)
        if total > packing.spare:
            return False
        if self._limited and (reason := self._refusal(container, price)):
            packing.blocked[index] = reason
            return False
        packing.spare -= total
        packing.taken[index] = total
        packing.blocked.pop(index, None)
        self._enter(container, price)
        return True

    def _opening(self, container: int) -> int:
        """What has to be paid for headers before an item may enter."""
        price = 0
        opened = self.packing.opened
        while container >= 0 and not opened[container]:
            price += self._containers[container].price
            container = self._containers[container].parent
        return price

    def _refusal(self, container: int, price: int) -> str | None:
        packing = self.packing
        load = price
        while container >= 0:
            limits = self._containers[container]
            if not packing.opened[container]:
                load += limits.price
            if limits.places is not None and packing.held[container] >= limits.places:
                return "places"
            room = self._rooms[container]
            if room is not None and packing.used[container] + load > room:
                return "room"
            container = limits.parent
        return None

    def _enter(self, container: int, load: int) -> None:
        packing = self.packing
        while container >= 0:
            if not packing.opened[container]:
                packing.opened[container] = True
                load += self._containers[container].price
            packing.used[container] += load
            packing.held[container] += 1
            container = self._containers[container].parent
