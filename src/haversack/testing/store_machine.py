"""A stateful property test of a store: whatever verbs are called, it agrees with the dictionary store, also reopened.

Needs hypothesis, which this package does not install. Subclass StoreMachine, say how your store is opened, and let
your test runner collect `YourMachine.TestCase`.
"""

# ruff: noqa: S101 - a test's assertions

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from haversack.errors import ConflictError
from haversack.model.identity import fingerprint
from haversack.model.memory import Kind, Memory, Source, Stage, Turn
from haversack.store.memory import MemoryStore
from haversack.store.port import SEGMENT, Applied, Batch, Erasure, LifePage, Price, Restage, Store, Vector, Written
from haversack.testing.store_contract import sample_memory, sample_turn

__all__ = ["StoreMachine", "batches"]

_NAMESPACES = ("a", "a\0")
"""Two are enough to see one disturb the other, and few enough that calls meet what earlier ones left."""
_MEMORY_IDS = tuple(sample_memory(number).id for number in range(6))
_TURN_IDS = tuple(sample_turn(number).id for number in range(6))
_SESSIONS = ("s", "S", "s\0t")
_KEYS = ("k", "K", "")
_CONTENTS = ("tea", "TEA ", "caf\u00e9", "cafe\u0301", "nul\0tail", "\U0001f600")
_KINDS = (Kind.PASSAGE, Kind.FACT, Kind.INSIGHT)
_MARKS = tuple(fingerprint(kind, content) for kind in _KINDS for content in _CONTENTS)


def _memory(
    number: int,
    content: str,
    kind: Kind,
    stage: Stage,
    superseded: str | None,
    turns: list[str],
    minutes: int,
) -> Memory:
    plain = sample_memory(number, content, kind)
    return replace(
        plain,
        stage=stage,
        superseded_by=superseded,
        source=Source(turns=tuple(turns)),
        event_time=plain.event_time + timedelta(minutes=minutes),
    )


_memories = st.builds(
    _memory,
    st.integers(0, 5),
    st.sampled_from(_CONTENTS),
    st.sampled_from(_KINDS),
    st.sampled_from(Stage),
    st.none() | st.sampled_from(_MEMORY_IDS),
    st.lists(st.sampled_from(_TURN_IDS), max_size=2),
    st.integers(0, 1),
)
_turns = st.builds(sample_turn, st.integers(0, 5), st.sampled_from(_SESSIONS), st.none() | st.sampled_from(_KEYS))
_prices = st.builds(
    Price,
    memory=st.sampled_from(_MEMORY_IDS),
    encoding=st.sampled_from(("e", "E")),
    tokens=st.integers(0, 2**40),
    changed=st.none() | st.integers(1, 6),
)
_vectors = st.builds(
    Vector,
    memory=st.sampled_from(_MEMORY_IDS),
    model=st.sampled_from(("m", "M")),
    data=st.binary(max_size=4),
    changed=st.none() | st.integers(1, 6),
)
_collections = st.sampled_from(("c", SEGMENT))
_record_keys = st.sampled_from(("a", "ab", "b", _MEMORY_IDS[0], _TURN_IDS[0]))
_records = st.builds(
    Written,
    collection=_collections,
    key=_record_keys,
    value=st.none() | st.binary(max_size=4),
    expected=st.none() | st.none() | st.integers(0, 2),
)
_erasures = st.builds(
    Erasure,
    memories=st.lists(st.sampled_from(_MEMORY_IDS), max_size=2).map(tuple),
    turns=st.lists(st.sampled_from(_TURN_IDS), max_size=2).map(tuple),
    sessions=st.lists(st.sampled_from(_SESSIONS), max_size=1).map(tuple),
    everything=st.integers(0, 9).map(lambda number: number == 0),
    graves=st.integers(0, 4).map(lambda number: number > 0),
)


def _some(values: st.SearchStrategy[Memory | Turn | Price | Vector | Written]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(values, min_size=1, max_size=4).map(tuple)


# Each kind of batch alone, so that few are refused for what they have beside it; and all kinds in one.
batches = st.one_of(
    st.builds(Batch, memories=_some(_memories), seen=st.none() | st.integers(0, 8)),
    st.builds(Batch, memories=_some(_memories), prices=_some(_prices), vectors=_some(_vectors)),
    st.builds(Batch, memories=_some(_memories), turns=_some(_turns), prices=_some(_prices)),
    st.builds(Batch, turns=_some(_turns)),
    st.builds(Batch, records=_some(_records)),
    st.builds(Batch, erase=_erasures),
    st.builds(
        Batch,
        memories=_some(_memories),
        seen=st.none() | st.integers(0, 8),
        new_since=st.none() | st.integers(0, 8),
        made_of=st.lists(st.sampled_from((*_MEMORY_IDS, *_TURN_IDS)), max_size=2).map(tuple),
    ),
    st.builds(Batch, memories=_some(_memories), erase=_erasures, sequence=st.integers(0, 8)),
    st.builds(
        Batch,
        memories=_some(_memories),
        turns=_some(_turns),
        prices=_some(_prices),
        vectors=_some(_vectors),
        records=_some(_records),
        erase=st.none() | _erasures,
        seen=st.none() | st.integers(0, 8),
    ),
)
_names = st.sampled_from(_NAMESPACES)


class StoreMachine(RuleBasedStateMachine):
    """Verbs in any order; every answer must be the oracle's."""

    @abstractmethod
    def open_store(self) -> Store:
        """Open this run's store. The first call makes it, empty; later calls, after a close, open the same one."""

    @initialize()
    def begin(self) -> None:
        """Two empty stores."""
        self.oracle: Store = MemoryStore()
        self.store = self.open_store()

    def teardown(self) -> None:
        """Release the store."""
        if hasattr(self, "store"):
            self.store.close()

    @rule(namespace=_names, batches=st.lists(batches, min_size=1, max_size=4))
    def apply(self, namespace: str, batches: list[Batch]) -> None:
        """Both carry them out, or both refuse."""
        for batch in batches:
            theirs = _outcome(lambda batch=batch: self.store.apply(namespace, batch))
            assert theirs == _outcome(lambda batch=batch: self.oracle.apply(namespace, batch))
        self._compare(namespace)

    @rule(namespace=_names, since=st.integers(0, 12), limit=st.integers(0, 4), known=st.integers(0, 12))
    def changes(self, namespace: str, since: int, limit: int, known: int) -> None:
        """Changes in pieces."""
        self._same(lambda store: store.changes(namespace, since=since, limit=limit, known=min(known, since)))

    @rule(namespace=_names, changed=st.lists(st.integers(1, 12), min_size=1, max_size=3), stage=st.sampled_from(Stage))
    def restage(self, namespace: str, changed: list[int], stage: Stage) -> None:
        """New stages alone, for what is there as it was read and for what is not."""
        names = {memory.changed: memory.id for memory in self.oracle.changes(namespace).memories}
        batch = Batch(stages=tuple(Restage(names.get(number, _MEMORY_IDS[0]), number, stage) for number in changed))
        theirs = _outcome(lambda: self.store.apply(namespace, batch))
        assert theirs == _outcome(lambda: self.oracle.apply(namespace, batch))
        self._compare(namespace)

    @rule(
        namespace=_names,
        spared=st.sets(st.sampled_from(_KINDS)),
        since=st.integers(0, 12),
        limit=st.integers(1, 4),
        sized=st.booleans(),
    )
    def lives(self, namespace: str, spared: set[Kind], since: int, limit: int, sized: bool) -> None:  # noqa: FBT001
        """What ageing asks, in pieces."""
        self._same(lambda store: _told(store.lives(namespace, spared=spared, since=since, limit=limit, sized=sized)))

    @rule(
        namespace=_names,
        session=st.sampled_from(_SESSIONS),
        after=st.integers(-1, 3),
        limit=st.none() | st.integers(0, 3),
        newest=st.booleans(),
        shown=st.booleans(),
    )
    def turns(self, namespace: str, session: str, *, after: int, limit: int | None, newest: bool, shown: bool) -> None:
        """Part of a session."""
        self._same(lambda store: store.turns(namespace, session, after=after, limit=limit, newest=newest, shown=shown))

    @rule(
        namespace=_names,
        prefix=st.sampled_from(("", "a", "b", "0")),
        after=st.just("") | _record_keys,
        limit=st.integers(0, 3),
        newest=st.booleans(),
    )
    def records(self, namespace: str, prefix: str, after: str, limit: int, *, newest: bool) -> None:
        """Part of a collection."""
        self._same(lambda store: store.records(namespace, "c", prefix=prefix, after=after, limit=limit, newest=newest))

    @rule()
    def reopen(self) -> None:
        """Close and open again, where that loses nothing."""
        if "durable" in self.store.abilities:
            self.store.close()
            self.store = self.open_store()
            for namespace in _NAMESPACES:
                self._compare(namespace)

    def _compare(self, namespace: str) -> None:
        self._same(lambda store: store.sequence(namespace))
        self._same(lambda store: store.changes(namespace))
        self._same(lambda store: store.memories(namespace, _MEMORY_IDS))
        self._same(lambda store: store.turns_by_id(namespace, _TURN_IDS))
        self._same(lambda store: [store.turns(namespace, session) for session in _SESSIONS])
        self._same(lambda store: store.sessions(namespace))
        self._same(lambda store: store.namespaces())
        self._same(lambda store: store.said(namespace, _MARKS))
        self._same(lambda store: store.tombstoned(namespace, _MARKS))
        self._same(lambda store: store.erased(namespace, (*_MEMORY_IDS, *_TURN_IDS)))
        self._same(lambda store: [store.prices(namespace, each, _MEMORY_IDS) for each in ("e", "E")])
        self._same(lambda store: [store.vectors(namespace, each, _MEMORY_IDS) for each in ("m", "M")])
        self._same(lambda store: [store.embedded(namespace, each) for each in ("m", "M")])
        self._same(lambda store: [store.records(namespace, each) for each in ("c", SEGMENT)])
        self._same(lambda store: store.records(namespace, "c", prefix="a"))
        self._same(lambda store: store.record(namespace, "c", "a"))
        self._same(lambda store: store.census(namespace))

    def _same(self, ask: Callable[[Store], object]) -> None:
        assert ask(self.store) == ask(self.oracle)


def _outcome(call: Callable[[], Applied]) -> Applied | str:
    try:
        return call()
    except ConflictError as refusal:
        return type(refusal).__name__


def _told(page: LifePage) -> tuple[object, ...]:
    lives = page.lives
    columns = (getattr(lives, each.name) for each in fields(lives))
    return page.upto, page.more, [list(column) for column in columns]
