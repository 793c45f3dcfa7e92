"""Law: what a call reads grows with what it gives back, never with what the namespace or the store holds."""

from __future__ import annotations

import pytest
from bench.speed.reads import CALLS, Reads, scene

_SMALL, _LARGE = 500, 2_000
_FIXED = 16
"""Rows that a call reads beside what it gives back: the change number, its session, what it checks before it writes,
and what it takes in of its own change."""

Found = dict[str, tuple[int, Reads]]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Found, Found]:
    """What each call reads of a small and of a large namespace."""

    def calls(size: int) -> Found:
        with scene(tmp_path_factory.mktemp("reads") / "memory.db", size) as at:
            read: Found = {}
            for name, ask in CALLS.items():
                with at.store.counted() as reads:
                    given = ask(at)
                read[name] = given, reads
            return read

    return calls(_SMALL), calls(_LARGE)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_reads_at_most_twice_what_it_gives(found: tuple[Found, Found], name: str) -> None:
    given, reads = found[1][name]
    fixed = _FIXED if name.startswith("forget") else 1
    assert reads.rows <= 2 * given + fixed


@pytest.mark.parametrize("name", CALLS)
def test_four_times_as_many_memories_cost_a_call_no_more(found: tuple[Found, Found], name: str) -> None:
    (few, small), (many, large) = found[0][name], found[1][name]
    assert few == many
    assert large.steps <= 1.1 * small.steps + 50
