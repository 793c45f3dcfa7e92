import pytest

from haversack.budget import Keep, cut


@pytest.mark.parametrize(("keep", "kept"), [(Keep.NEWEST, [3, 4]), (Keep.OLDEST, [0, 1]), (Keep.ENDS, [0, 4])])
def test_an_unbroken_run_from_the_end_that_matters(keep: Keep, kept: list[int]) -> None:
    assert cut([2, 2, 9, 1, 3], 5, keep) == kept


def test_stops_at_the_first_misfit() -> None:
    assert cut([1, 1, 9, 1], 8) == [3]


def test_free_things_fit_into_nothing() -> None:
    assert cut([1, 0, 0], 0) == [1, 2]
