"""Two engines over one store, one of which can be interrupted at each of its store calls; and what they start from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np

from haversack.compaction import CompactionConfig
from haversack.embed.own import OwnEmbedder
from haversack.engine.calibrating import Calibrations
from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.engine.session import TurnDraft
from haversack.engine.settings import MemorySettings, Reembed, Settings
from haversack.model.identity import make_id
from haversack.model.message import Message, Role, Text
from haversack.recall import Recall
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch, Store
from haversack.tokens import counter_for
from haversack.transfer import Entry, Problem, read_files

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = START + timedelta(days=40)
HOME, SHARED = "home", "shared"

LONG = "The committee spoke of the harbour, of its walls and of nothing else for quite a while. " * 2


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a store, and what the store held before it."""

    name: str
    given: tuple[Any, ...]
    named: Mapping[str, Any]
    before: MemoryStore | None
    """None where the store cannot be copied."""

    @property
    def namespace(self) -> object:
        """None where it names none."""
        first = self.given[0] if self.given else None
        return first[0] if isinstance(first, list) and first else first

    def is_deaf_to(self, after: MemoryStore) -> bool:
        """Whether it only reads, and reads the same of a store that somebody else has changed meanwhile."""
        return self.name != "apply" and self.before is not None and self._answer(self.before) == self._answer(after)

    def _answer(self, store: MemoryStore) -> object:
        return getattr(store, self.name)(*self.given, **self.named)


class Interrupted:
    """A store that lets somebody else act just before one of its calls, and goes on when one engine closes it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.calls: list[Call] = []
        self.before: Callable[[], None] | None = None
        self.at = -1

    def close(self) -> None:
        """Stay open for the others."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return self._counted(name, found) if callable(found) else found

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: object, **named: object) -> Any:
            self.calls.append(
                Call(name, given, named, self._store.copy() if isinstance(self._store, MemoryStore) else None)
            )
            if len(self.calls) == self.at and self.before is not None:
                self.before()
            return call(*given, **named)

        return counted


@dataclass
class Hashing:
    """Eight numbers for a text, by the hashes of its words."""

    model: str = "hashing"
    dimension: int = 8

    def embed_query(self, text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        return self.embed([text])[0]

    def embed(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        return np.array([_embedded(text) for text in texts], dtype=np.float32).reshape(-1, self.dimension)


@cache
def _embedded(text: str) -> tuple[float, ...]:
    sums = np.zeros(8)
    for word in text.casefold().split():
        digest = hashlib.sha256(word.strip(".,!?").encode()).digest()
        sums += np.frombuffer(digest[:8], dtype=np.uint8).astype(float) - 127.5
    norm = float(np.linalg.norm(sums)) or 1.0
    return tuple(float(each) / norm for each in sums)


@dataclass
class Clock:
    """A moment that stands still, or a second later at each look."""

    now: datetime
    step: timedelta = timedelta()

    def __call__(self) -> datetime:
        self.now += self.step
        return self.now


@dataclass
class Counting:
    """Bytes that count up from a number of their own."""

    drawn: int

    def __call__(self, size: int) -> bytes:
        self.drawn += 1
        return (self.drawn << 40).to_bytes(size, "big")


def engine(over: Store | Interrupted, hand: int, clock: Clock | None = None) -> Haversack:
    """An engine whose ids differ from those of every other hand."""
    store, embedder = cast("Store", over), OwnEmbedder(Hashing())
    calibrations = Calibrations(store, counter_for)
    return Haversack(
        Core(
            store=store,
            recall=Recall(store, embedder),
            embedder=embedder,
            settings=Settings(reembed=Reembed.ASKED),
            memory=MemorySettings(
                context_window=2_000,
                output_buffer=100,
                compaction=CompactionConfig(compaction_recency_window=2, min_turns_to_summarize=2),
            ),
            clock=clock or Clock(LATER),
            entropy=Counting(hand << 16),
            counter=calibrations.counter,
            calibrations=calibrations,
        )
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Base:
    """A filled store, and the names of what it holds."""

    store: MemoryStore
    ids: Mapping[str, str]
    entries: tuple[Entry | Problem, ...] = field(repr=False)
    """An export of it, with a memory and a turn more."""


@cache
def base() -> Base:
    """A filled store in memory."""
    store = MemoryStore()
    ids = fill(store)
    return Base(store=store, ids=ids, entries=_exported(store))


def fill(store: Store) -> dict[str, str]:
    """Write little, with one of everything that a verb can meet; the ids by name, the same in every store."""
    sack = engine(store, 1, Clock(START, timedelta(seconds=1)))
    ns, ids = sack.namespace(HOME), dict[str, str]()

    def keep(name: str, content: str, **details: Any) -> None:
        ids[name] = ns.remember(content, **details).id

    keep("tea", "Alice drinks rooibos from the qheron mug", importance=0.8, tags=["drinks"], entities=["Alice"])
    keep("coffee", "Bob grinds qarabica beans by hand each morning", tags=["drinks"], kind="insight")
    keep("porto", "Alice lives in the qribeira of Porto", subject="alice/city")
    keep("lisbon", "Alice lives in the qmarvila of Lisbon", subject="alice/city")
    keep("soft", "The qsextant hangs in the upper hall")
    keep("ends", "The parking permit qcedula ends", expires_at=START + timedelta(days=20))
    keep("pinned", "Never send the qledger to strangers", pinned=True)
    keep("how", "To brew: boil the qkettle, wait, pour", kind="procedure")
    keep("choice", "We decided to buy the qsloop", kind="decision")
    pair = ["twin", "The red barge leaves the qharbour for the islands at noon on every day but Sunday in the summer"]
    keep(*pair)
    twin = store.memories(HOME, [ids["twin"]])[0]
    ids["twin2"] = make_id(START, (77).to_bytes(10, "big"))
    store.apply(HOME, Batch(memories=(replace(twin, id=ids["twin2"], content=f"{twin.content} qtoo", born=0),)))
    for number in range(5):
        keep(
            f"bruno{number}",
            f"Bruno {('keeps', 'sells', 'paints', 'mends', 'breeds')[number]} qbruno{number} things",
            entities=["Bruno"],
        )
    keep("left", "The left qlantern is green")
    keep("right", "The right qlantern2 is red")
    ids["whole"] = ns.merge([ids["left"], ids["right"]]).id
    keep("old", "The mill is closed on qmondays")
    keep("new", "The mill opens at nine qdaily", supersedes=ids["old"])
    talk = ns.session("talk")
    told = ("My name is Alice and I live in qfaro.", "We decided to sail on the qfriday tide.")
    for number in range(12):
        role = ("user", "assistant")[number % 2]
        own = told[number // 2] if role == "user" and number // 2 < len(told) else ""
        ids[f"turn{number}"] = talk.add(role, f"qturn{number}x is word {number}. {own} {LONG}").id
        if number == 5:
            talk.extract()
        if number == 8:
            done = talk.compact(to_free=60)
            assert done.summary is not None, done
            ids["summary"] = done.summary
    ids["solo"] = ns.session("solo").add("user", "The qsolitary heron stood on one leg").id
    ns.vote(ids["tea"], "up")
    ns.recall("rooibos mug")
    sack._core.access.spill(sack._core, HOME)  # pyright: ignore[reportPrivateUsage]
    ns.forget(ids["soft"])
    maintenance = ns.maintenance
    ids["proposal"] = maintenance.propose(ids["coffee"], shared=SHARED, author="alice").asked.proposal
    ids["run"] = maintenance.reorganize(steps=["dedupe"], execute=True).run or ""
    issued = sack.keys.create("door", scope="write")
    ids["key"], ids["secret"] = issued.key.id, issued.secret
    ids["visit"] = sack.visits.start(HOME).id
    ids["passage"] = next(one.id for one in ns.everything(kinds=["passage"]) if "qturn2x" in one.content)
    return ids


def _exported(store: MemoryStore) -> tuple[Entry | Problem, ...]:
    ns = engine(store.copy(), 2, Clock(START + timedelta(hours=1))).namespace(HOME)
    ns.remember("The qforeign bell rings twice")
    ns.session("talk").append([TurnDraft(message=Message(role=Role.USER, parts=(Text("qforeign turn"),)), key="k1")])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "dump.jsonl"
        path.write_bytes(b"".join(ns.take_out()))
        return tuple(read_files([path]))
