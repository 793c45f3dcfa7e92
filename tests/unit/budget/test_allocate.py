from itertools import permutations

import pytest

from haversack.budget import Demand, allocate
from haversack.errors import InputError

EXAMPLE = {
    "summaries": (0.25, 1200),
    "user_profile": (0.15, 300),
    "user_facts": (0.15, 400),
    "entities": (0.15, 800),
    "graph": (0.10, 600),
    "decisions": (0.10, 500),
    "learnings": (0.05, 350),
    "procedures": (0.05, 250),
}


def demands(**changes: tuple[float, int]) -> list[Demand]:
    return [Demand(name=name, weight=weight, need=need) for name, (weight, need) in (EXAMPLE | changes).items()]


def test_the_worked_example() -> None:
    assert list(allocate(2000, demands()).values()) == [500, 300, 300, 300, 200, 200, 100, 100]


def test_what_a_section_leaves_flows_on_by_weight() -> None:
    shares = allocate(2000, demands(summaries=(0.25, 80), user_profile=(0.15, 300)))
    # 80 + 300 are satisfied; 1,620 over weights .15 .15 .10 .10 .05 .05 is 405, capped at 400 for the facts.
    assert shares["summaries"] == 80
    assert shares["user_profile"] == 300
    assert shares["user_facts"] == 400
    assert shares["entities"] == 406  # (2000 - 780) * .15 / .45
    assert shares["graph"] == shares["decisions"] == 271
    assert sum(shares.values()) in range(1995, 2001)


def test_two_active_sections_are_normalised() -> None:
    pair = [Demand(name="summaries", weight=0.25, need=9000), Demand(name="facts", weight=0.15, need=9000)]
    assert allocate(1000, pair) == {"summaries": 625, "facts": 375}


def test_everything_that_fits_is_given() -> None:
    assert allocate(10_000, demands()) == {name: need for name, (_, need) in EXAMPLE.items()}


def test_the_order_of_declaration_does_not_matter() -> None:
    three = [
        Demand(name="a", weight=1, need=50),
        Demand(name="b", weight=2, need=500, minimum=0.3),
        Demand(name="c", weight=0.5, need=500, maximum=0.2),
    ]
    results = [dict(sorted(allocate(101, list(order)).items())) for order in permutations(three)]
    assert all(result == results[0] for result in results)


def test_minimum_and_maximum() -> None:
    both = [
        Demand(name="big", weight=9, need=1000, maximum=0.5),
        Demand(name="small", weight=1, need=1000, minimum=0.4),
    ]
    assert allocate(100, both) == {"big": 50, "small": 50}
    assert allocate(100, [both[1], Demand(name="rest", weight=99, need=1000)]) == {"small": 40, "rest": 60}


def test_a_minimum_is_not_more_than_the_need() -> None:
    pair = [Demand(name="a", weight=1, need=5, minimum=0.5), Demand(name="b", weight=1, need=500)]
    assert allocate(100, pair) == {"a": 5, "b": 95}


def test_weight_zero_is_off() -> None:
    assert allocate(100, [Demand(name="a", weight=0, need=50), Demand(name="b", weight=1, need=500)]) == {
        "a": 0,
        "b": 100,
    }


def test_shares_never_fall_when_the_budget_grows() -> None:
    before = allocate(0, demands())
    for budget in range(1, 4500, 7):
        shares = allocate(budget, demands())
        assert all(shares[name] >= before[name] for name in shares)
        assert sum(shares.values()) <= budget
        before = shares


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ([("a", 1.0), ("a", 2.0)], "'a' is named twice"),
        ([("a", float("nan"))], "'a' is nan"),
        ([("a", -1.0), ("b", 2.0)], "'a' is -1.0"),
        ([("a", 0.0), ("b", 0.0)], "all weights are 0: a, b"),
        ([("a", float("inf"))], "'a' is inf"),
    ],
)
def test_weights_that_make_no_sense(wrong: list[tuple[str, float]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        allocate(100, [Demand(name=name, weight=weight, need=10) for name, weight in wrong])


def test_minima_above_the_whole() -> None:
    with pytest.raises(InputError, match="more than 1"):
        allocate(9, [Demand(name=n, weight=1, need=9, minimum=0.6) for n in "ab"])


def test_nothing_to_share() -> None:
    assert allocate(100, []) == {}
    assert allocate(0, demands()) == dict.fromkeys(EXAMPLE, 0)
