"""Law: forgotten is gone. What a preview names is exactly what goes, with all that came from it, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from haversack.engine.namespace import Namespace
from haversack.model.memory import Source

from .places import Setup, everywhere

KINDS = st.sampled_from(["fact", "decision", "insight"])
SHAPES = st.lists(st.tuples(KINDS, st.integers(0, 30), st.booleans()), max_size=12)
AIMS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries({"kinds": st.lists(KINDS | st.just("passage"), min_size=1, max_size=2)}),
    st.just({"session": "s0"}),
    st.just({"tags": ["even"]}),
    st.just({"everything": True}),
    st.just({"where": {"n": 3}}),
)


def fill(ns: Namespace, shapes: list[tuple[str, int, bool]]) -> None:
    """Turns of two sessions, and memories each of which came from a turn or from an earlier memory."""
    turns = [ns.session(f"s{n % 2}").add("user", f"word{n} said", metadata={"n": n}) for n in range(6)]
    known: list[str] = []
    for number, (kind, parent, from_turn) in enumerate(shapes):
        if from_turn or not known:
            turn = turns[parent % len(turns)]
            source = Source(session=turn.session, turns=(turn.id,))
        else:
            source = Source(memories=(known[parent % len(known)],))
        tags = ["even"] if number % 2 == 0 else ["odd"]
        made = ns.remember(f"item{number} known", kind=kind, source=source, tags=tags, metadata={"n": number})
        known.append(made.id)


def words(ns: Namespace) -> str:
    return b"".join(ns.take_out()).decode()


@everywhere
@given(shapes=SHAPES, aim=AIMS)
def test_a_preview_names_exactly_what_a_hard_forget_removes(
    setup: Setup, shapes: list[tuple[str, int, bool]], aim: dict[str, Any]
) -> None:
    with setup.open() as sack:
        ns, other = sack.namespace("mine"), sack.namespace("other")
        fill(ns, shapes)
        fill(other, shapes)
        before_other = words(other)
        before = {memory.id: memory for memory in ns.page(limit=1000).memories}
        turns = {turn.id: turn for name in ("s0", "s1") for turn in ns.session(name).turns()}

        planned = ns.forget(hard=True, preview=True, **aim)
        done = ns.forget(hard=True, **aim)

        assert replace(done, preview=True, at=None, certificate="") == planned
        gone = {*done.memories, *done.derived}
        left = {memory.id for memory in ns.page(limit=1000).memories}
        assert left == set(before) - gone
        assert {turn.id for name in ("s0", "s1") for turn in ns.session(name).turns()} == set(turns) - set(done.turns)
        for memory_id in left:
            source = before[memory_id].source
            assert not gone & set(source.memories)
            assert not set(done.turns) & set(source.turns)
        rest = words(ns)
        assert all(before[memory_id].content not in rest for memory_id in gone)
        assert all(turns[turn_id].message.text not in rest for turn_id in done.turns)
        assert words(other) == before_other


@everywhere
@given(shapes=SHAPES, aim=AIMS.filter(lambda aim: "everything" not in aim))
def test_a_soft_forget_restored_is_as_if_it_had_not_been(
    setup: Setup, shapes: list[tuple[str, int, bool]], aim: dict[str, Any]
) -> None:
    with setup.open() as sack:
        ns = sack.namespace("mine")
        fill(ns, shapes)

        def ask() -> list[tuple[str, float]]:
            return [(hit.id, round(hit.score, 6)) for hit in ns.recall("said known", top_k=100, now="2027-01-01")]

        before = ask()
        done = ns.forget(**aim)
        assert not {memory_id for memory_id, _ in ask()} & set(done.memories)
        ns.restore(done.memories)
        assert ask() == before
