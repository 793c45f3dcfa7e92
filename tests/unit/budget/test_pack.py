from collections.abc import Sequence

import pytest

from haversack.budget import Container, Packer

ROOT = Container(price=0)


def packing(budget: int, containers: Sequence[Container], items: Sequence[tuple[int, int]]) -> Packer:
    """Items are (price, container)."""
    prices, places = zip(*items, strict=True)
    return Packer(budget, containers, prices=prices, places=places)


def test_skips_what_does_not_fit_and_goes_on() -> None:
    packer = packing(10, [ROOT], [(6, 0), (7, 0), (4, 0)])
    packer.take([0, 1, 2])
    assert packer.packing.taken == {0: 6, 2: 4}
    assert packer.packing.spare == 0


def test_a_header_is_paid_once_and_only_with_an_item() -> None:
    containers = [Container(price=2), Container(price=3, parent=0), Container(price=5, parent=0)]
    packer = packing(20, containers, [(4, 1), (4, 1), (3, 2), (2, 1)])
    packer.take([0, 1, 2, 3])
    # 4 + 3 + 2 for the first, 4, then 3 + 5 does not fit in the 7 that are left, 2 does.
    assert packer.packing.taken == {0: 9, 1: 4, 3: 2}
    assert packer.packing.opened == [True, True, False]
    assert packer.packing.used == [15, 13, 0]
    assert packer.packing.held == [3, 3, 0]


def test_places_and_room_of_a_container() -> None:
    containers = [ROOT, Container(price=1, parent=0, places=1), Container(price=1, parent=0, room=5)]
    packer = packing(100, containers, [(3, 1), (3, 1), (5, 2), (4, 2)])
    packer.take([0, 1, 2, 3])
    assert packer.packing.taken == {0: 4, 3: 5}
    assert packer.packing.blocked == {1: "places", 2: "room"}


def test_confining_and_releasing() -> None:
    containers = [ROOT, Container(price=1, parent=0), Container(price=0, parent=0, room=2)]
    packer = packing(100, containers, [(3, 1), (3, 1), (3, 2)])
    packer.confine({1: 5, 2: 50})
    packer.take([0, 1, 2])
    assert packer.packing.taken == {0: 4}
    packer.release()
    assert packer.packing.blocked == {}
    packer.take([1, 2])
    assert packer.packing.taken == {0: 4, 1: 3}
    assert packer.packing.blocked == {2: "room"}


def test_crumbs() -> None:
    packer = packing(5, [Container(price=1)], [(50, 0), (9, 0)])
    assert not packer.shorten(0, [9, 4], most=3)
    assert not packer.shorten(0, [9, 4], least=5)
    assert packer.shorten(0, [9, 4, 2])
    assert packer.packing.form == {0: 1}
    assert not packer.shorten(1, [3])
    assert (packer.packing.taken, packer.packing.spare) == ({0: 5}, 0)


def test_a_header_that_is_an_item_comes_in_once_with_the_first_of_its_own() -> None:
    containers = [Container(price=2), Container(price=3, parent=0, places=3), Container(price=5, parent=1)]
    prices, places = [0, 4, 1, 9], [2, 2, 2, 1]

    def packer(budget: int) -> Packer:
        return Packer(budget, containers, prices=prices, places=places, heads={2: 0})

    by_a_child = packer(30)
    by_a_child.take([1, 0, 2, 3])
    # The parent pays for the headers above it: 2 + 3 + 5; the fourth item is one too many.
    assert by_a_child.packing.taken == {0: 10, 1: 4, 2: 1}
    assert by_a_child.packing.opener == {0: 1}
    assert by_a_child.packing.held == [3, 3, 3]
    assert by_a_child.packing.blocked == {3: "places"}
    alone = packer(10)
    alone.take([1, 0, 2])
    assert alone.packing.taken == {0: 10}
    assert alone.packing.opener == {}
    crowded = packer(30)
    crowded.take([3, 1])
    assert crowded.packing.taken == {3: 14, 0: 5, 1: 4}


@pytest.mark.parametrize("heads", [{}, {2: 0}])
def test_no_budget_is_passed_by_one(heads: dict[int, int]) -> None:
    containers = [Container(price=2), Container(price=3, parent=0), Container(price=5, parent=1)]
    for budget in range(28):
        packer = Packer(budget, containers, prices=[0, 4, 1, 9], places=[2, 2, 2, 1], heads=heads)
        packer.take([1, 0, 2, 3])
        assert packer.packing.spare == budget - sum(packer.packing.taken.values())
        assert packer.packing.spare >= 0
