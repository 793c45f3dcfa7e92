"""Any sequence of verbs on a store agrees with the oracle, and nothing crosses namespaces whatever their names."""

from __future__ import annotations

from contextlib import ExitStack
from typing import ClassVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from haversack.store.port import Batch, Price, Store, Vector, Written
from haversack.testing.store_contract import sample_memory, sample_turn
from haversack.testing.store_machine import StoreMachine

from .places import Setup, everywhere

_CALM = settings(
    max_examples=100,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # shrinking would take minutes, and a run is short
    stateful_step_count=15,
    deadline=None,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
    print_blob=True,
)


class _Machine(StoreMachine):
    setup: ClassVar[Setup]

    def __init__(self) -> None:
        super().__init__()
        self.resting = ExitStack()
        self.place = self.resting.enter_context(self.setup.place())

    def open_store(self) -> Store:
        return self.place.store()

    def teardown(self) -> None:
        super().teardown()
        self.resting.close()


class _OneSqliteMachine(_Machine):
    setup = Setup(in_file=True, engines=1)


class _TwoSqliteMachine(_Machine):
    """Two stores are open on the file; each verb goes to one of them."""

    setup = Setup(in_file=True, engines=2)


TestSqliteAgrees = _OneSqliteMachine.TestCase
TestTwoOnAFileAgree = _TwoSqliteMachine.TestCase
TestSqliteAgrees.settings = TestTwoOnAFileAgree.settings = _CALM


_names = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)
_kin = _names.flatmap(
    lambda name: st.lists(
        st.sampled_from((name, name + "\0", name + " ", name.swapcase(), name * 2, name[:1], "%" + name, name + "_")),
        unique=True,
        min_size=2,
    )
)


@everywhere
@given(names=_kin)
@settings(max_examples=30, deadline=None)
def test_nothing_crosses_namespaces(setup: Setup, names: list[str]) -> None:
    with setup.place() as place:
        store = place.store()
        for number, name in enumerate(names):
            store.apply(name, _batch(number, name))
        assert store.namespaces() == sorted(names)
        for number, name in enumerate(names):
            assert _seen(store, name, len(names)) == (1, [name], [name], [name], [number], [number], 1)


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
