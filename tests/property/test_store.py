"""Any sequence of verbs on a store agrees with the oracle, and nothing crosses namespaces whatever their names."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from haversack.store.memory import MemoryStore
from haversack.store.port import Batch, Price, Store, Vector, Written
from haversack.store.sqlite.store import SqliteStore
from haversack.testing.store_contract import sample_memory, sample_turn
from haversack.testing.store_machine import StoreMachine

_QUICK_DISK = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - only a place for temporary folders
"""Durability is not the question here, so the runs need not wait for a disk."""

_CALM = settings(
    max_examples=100,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # shrinking would take minutes, and a run is short
    stateful_step_count=15,
    deadline=None,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
    print_blob=True,
)


class _SqliteMachine(StoreMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir=_QUICK_DISK)

    def open_store(self) -> Store:
        return SqliteStore(Path(self.folder.name) / "store.db")

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()


TestSqliteAgrees = _SqliteMachine.TestCase
TestSqliteAgrees.settings = _CALM


_names = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)
_kin = _names.flatmap(
    lambda name: st.lists(
        st.sampled_from((name, name + "\0", name + " ", name.swapcase(), name * 2, name[:1], "%" + name, name + "_")),
        unique=True,
        min_size=2,
    )
)


@given(names=_kin)
@settings(max_examples=30, deadline=None)
def test_nothing_crosses_namespaces(names: list[str]) -> None:
    with tempfile.TemporaryDirectory(dir=_QUICK_DISK) as folder:
        stores: list[Store] = [MemoryStore(), SqliteStore(Path(folder) / "store.db")]
        for store in stores:
            for number, name in enumerate(names):
                store.apply(name, _batch(number, name))
            assert store.namespaces() == sorted(names)
            for number, name in enumerate(names):
                assert _seen(store, name, len(names)) == (1, [name], [name], [name], [number], [number], 1)
            store.close()


def _batch(number: int, name: str) -> Batch:
    memory = sample_memory(number, name)
    return Batch(
        memories=(memory,),
        turns=(sample_turn(number, session=name, key=name),),
        prices=(Price(memory=memory.id, encoding="e", tokens=number),),
        vectors=(Vector(memory=memory.id, model="m", data=bytes([number])),),
        records=(Written(collection="c", key=name, value=name.encode()),),
    )


def _seen(store: Store, name: str, count: int) -> tuple[object, ...]:
    ids = [sample_memory(number).id for number in range(count)]
    return (
        store.sequence(name),
        [memory.content for memory in store.memories(name, ids)],
        [info.id for info in store.sessions(name)],
        [record.value.decode() for record in store.records(name, "c")],
        list(store.prices(name, "e", ids).values()),
        [data[0] for data in store.vectors(name, "m", ids).values()],
        sum(store.census(name).memories.values()),
    )
