"""Where a property runs: on each kind of store, with one engine, and with two on one store that take turns.

A property takes a `Setup` by `everywhere` and opens its engines and stores in it. `test_places` holds that each does.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self, cast

import pytest

from haversack.embed.embedder import Embedder
from haversack.engine.calibrating import Calibrations
from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.engine.settings import MemorySettings, Settings
from haversack.maintenance.files import Files
from haversack.recall import Recall
from haversack.store.memory import MemoryStore
from haversack.store.port import Store
from haversack.store.sqlite.site import SqliteSite
from haversack.store.sqlite.store import SqliteStore
from haversack.tokens import counter_for

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
QUICK_DISK = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - only a place for temporary folders
"""Durability is not the question here, so the runs need not wait for a disk."""

_LEAD_ON = frozenset({"keys", "audit", "visits", "jobs", "maintenance", "knowledge"})
"""Properties that hand out an object whose verbs are calls of their own."""
_HAND_OUT = frozenset({"namespace", "session"})
"""Calls that do the same, and ask the store nothing."""


class Turns:
    """The same object of several engines, or of several stores on one file: each call goes to one of them."""

    def __init__(self, hands: Sequence[Any], turn: Iterator[int]) -> None:
        self._hands = hands
        self._turn = turn

    def __getattr__(self, name: str) -> Any:
        if name in _LEAD_ON:
            return Turns([getattr(hand, name) for hand in self._hands], self._turn)
        if not callable(getattr(type(self._hands[0]), name, None)):
            return getattr(self._hands[next(self._turn)], name)

        def call(*given: object, **named: object) -> Any:
            if name in _HAND_OUT:
                return Turns([getattr(hand, name)(*given, **named) for hand in self._hands], self._turn)
            return getattr(self._hands[next(self._turn)], name)(*given, **named)

        return call

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close each."""
        for hand in self._hands:
            hand.close()


def _turns(number: int) -> Iterator[int]:
    """Whose turn it is: 0 1 1 0 1 0 0 1 … of two (the Thue-Morse sequence).

    Strict turns would give all writes of a test that reads and writes by turns to one engine. Here each has the first
    and the second place of a pair equally often, and nobody acts three times in a row.
    """
    return (step.bit_count() % number for step in count())


class _Kept(MemoryStore):
    """A store in memory that outlives the engines over it, as a file does."""

    def close(self) -> None:
        """Stay as it is."""


def _as_it_is(store: Store) -> Store:
    return store


class Place:
    """A store, empty at first, and what opens engines over it: they share one clock and one source of ids."""

    def __init__(self, setup: Setup, folder: Path) -> None:
        self.path = folder / "memory.db"
        self._setup = setup
        self._kept = None if setup.in_file else _Kept()
        self._opened = ExitStack()
        self._looks = count()
        self._drawn = count(1)

    def open(
        self,
        *,
        embedder: Embedder | None = None,
        memory: MemorySettings = MemorySettings(),  # noqa: B008 - frozen
        over: Callable[[Store], Store] = _as_it_is,
    ) -> Haversack:
        """Open the engine, or the engines that take turns; `over` stands between each and its store."""
        return cast("Haversack", self._each(lambda: self._engine(over(self._store()), embedder, memory)))

    def store(self) -> Store:
        """Open the store without an engine; where there are two engines, two stores on one file take turns."""
        return cast("Store", self._each(self._store))

    def close(self) -> None:
        """Close all that was opened."""
        self._opened.close()

    def _each(self, make: Callable[[], Any]) -> Any:
        hands = [self._opened.enter_context(closing(make())) for _ in range(self._setup.engines)]
        return hands[0] if len(hands) == 1 else Turns(hands, _turns(len(hands)))

    def _store(self) -> Store:
        return SqliteStore(self.path) if self._kept is None else self._kept

    def _engine(self, store: Store, embedder: Embedder | None, memory: MemorySettings) -> Haversack:
        calibrations = Calibrations(store, counter_for)
        return Haversack(
            Core(
                store=store,
                has_files=partial(Files, SqliteSite(self.path), store) if self._setup.in_file else None,
                recall=Recall(store, embedder),
                embedder=embedder,
                settings=Settings(),
                memory=memory,
                clock=lambda: START + timedelta(seconds=next(self._looks)),
                entropy=lambda size: (next(self._drawn) << 40).to_bytes(size, "big"),
                counter=calibrations.counter,
                calibrations=calibrations,
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """On what a property runs."""

    in_file: bool
    """In a SQLite file, or in the memory of the process."""
    engines: int

    def __str__(self) -> str:
        return f"{'sqlite' if self.in_file else 'memory'}-{self.engines}"

    @contextmanager
    def place(self) -> Generator[Place]:
        """An empty store of this kind."""
        with TemporaryDirectory(dir=QUICK_DISK) as folder, closing(Place(self, Path(folder))) as place:
            yield place

    @contextmanager
    def open(self, *, memory: MemorySettings = MemorySettings()) -> Generator[Haversack]:  # noqa: B008 - frozen
        """An empty store of this kind, with its engines."""
        with self.place() as place:
            yield place.open(memory=memory)


SETUPS = [Setup(in_file=in_file, engines=engines) for in_file in (False, True) for engines in (1, 2)]
everywhere = pytest.mark.parametrize("setup", SETUPS, ids=str)
in_files = pytest.mark.parametrize("setup", [each for each in SETUPS if each.in_file], ids=str)
"""For what only a file has."""
