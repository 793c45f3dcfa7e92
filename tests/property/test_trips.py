"""Law: a call asks the store a bounded number of times, however much it is asked to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import cast

import pytest

from haversack import Haversack, Namespace
from haversack.assemble import LAYOUTS
from haversack.store.port import Store

from .places import SETUPS

Call = Callable[[Namespace, dict[str, str]], object]
QUERY = "when does the tide at Veere turn?"


class Counted:
    """A store that notes each call of a verb, with those of other engines over it."""

    def __init__(self, store: Store, calls: Counter[str]) -> None:
        self.store = store
        self.calls = calls

    def __getattr__(self, name: str) -> object:
        found = getattr(self.store, name)
        if not callable(found):
            return found

        def counted(*values: object, **named: object) -> object:
            self.calls[name] += 1
            return found(*values, **named)

        return counted


@pytest.fixture
def calls() -> Counter[str]:
    return Counter()


@pytest.fixture(params=SETUPS, ids=str)
def sack(request: pytest.FixtureRequest, calls: Counter[str]) -> Iterator[Haversack]:
    with request.param.place() as place:

        def over(store: Store) -> Store:
            return cast("Store", Counted(store, calls))

        yield place.open(over=over)


@pytest.fixture
def ns(sack: Haversack) -> Namespace:
    """A namespace with some of everything, in which every engine has used every verb of reading."""
    ns = sack.namespace("n")
    session = ns.session("s")
    for n in range(6):
        session.add("user", f"the tide at Veere turns at {n}")
        session.add("assistant", f"then the boat of {n} leaves")
        ns.remember(f"boat {n} is red and lies at berth {n}", kind="fact", entities=[f"boat {n}"])
        ns.remember(f"we sail on day {n} of the month", kind="decision", pinned=n == 0)
    ns.remember(LONG, kind="passage")
    ns.session("t").add("user", "the café at Goes is closed")
    ns.session("t").extract()
    ns.session("u").extend(
        [{"role": "user", "content": f"I prefer the berth {n} and I live in Goes"} for n in range(20)]
    )
    for ask in (
        *(lambda layout=layout: ns.context(QUERY, budget=400, layout=layout) for layout in LAYOUTS),
        *(lambda layout=layout: session.prompt(QUERY, layout=layout) for layout in LAYOUTS),
        lambda: ns.recall(QUERY),
    ):
        for _ in range(3):  # of three calls each of two engines has one
            ask()
    return ns


LONG = "\n\n".join(f"Paragraph {n} tells of harbour {n} and of all its berths. " * 12 for n in range(6))
FRESH = [f"the {colour} buoy marks depth {n}" for n in range(10) for colour in ("red", "green", "white", "black")]
TURNS = [{"role": "user", "content": f"message {n}"} for n in range(60)]
MOST: dict[str, tuple[int, Call]] = {
    "recall": (1, lambda ns, _: ns.recall(QUERY)),
    "remember": (4, lambda ns, _: ns.remember("the mill at Veere grinds barley")),
    "remember what is nearly known": (5, lambda ns, _: ns.remember("boat 3 is blue and lies at berth 3", kind="fact")),
    "remember_many": (5, lambda ns, _: ns.remember_many(FRESH)),
    "session.add": (1, lambda ns, _: ns.session("s").add("user", "good night")),
    "session.extend": (1, lambda ns, _: ns.session("s").extend(TURNS)),
    "session.extract": (10, lambda ns, _: ns.session("u").extract()),
    "forget softly": (4, lambda ns, known: ns.forget(known["fact"])),
    "forget for good": (8, lambda ns, known: ns.forget(known["fact"], hard=True)),
    "page": (1, lambda ns, _: ns.page()),
    "parts": (2, lambda ns, known: ns.parts(known["part"])),
}


@pytest.mark.parametrize("verb", MOST)
def test_a_warm_call_makes_few_trips(ns: Namespace, calls: Counter[str], verb: str) -> None:
    most, call = MOST[verb]
    known = {row.kind.value: row.id for row in ns.everything()}
    known["part"] = next(row.id for row in ns.everything() if row.source.part)
    calls.clear()
    call(ns, known)
    assert calls.total() <= most, dict(calls)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_context_is_one_trip_and_a_prompt_three(ns: Namespace, calls: Counter[str], layout: str) -> None:
    calls.clear()
    ns.context(QUERY, budget=400, layout=layout)
    assert calls == {"changes": 1}
    ns.session("s").prompt(QUERY, layout=layout)
    kept = 2 if layout == "cached" else 0  # what the last cached prompt showed is read and written
    assert calls.total() == 1 + 3 + kept, dict(calls)


def test_a_context_about_something_new_is_three_trips(ns: Namespace, calls: Counter[str]) -> None:
    ns.remember("barley grows behind the mill", kind="fact")
    calls.clear()
    ns.context("barley behind the mill", budget=400, layout="sections")
    assert calls == {"changes": 1, "memories": 1, "prices": 1}
