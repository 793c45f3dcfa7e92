import pytest

from haversack.budget import Budget, Ledger, Line, Measure, Window, check_ratio, settle
from haversack.errors import InputError


def test_the_first_seeds_formulas() -> None:
    window = Window(size=32_000, system=1500, tools=500, output=2500, ratio=0.30)
    assert (window.fixed, window.dynamic, window.supporting) == (4500, 27_500, 8250)


def test_fixed_costs_above_the_window_leave_nothing() -> None:
    window = Window(size=1000, system=900, tools=400, output=100)
    assert (window.dynamic, window.supporting) == (0, 0)


@pytest.mark.parametrize(
    ("size", "output", "words"),
    [
        (8000, 8000, "output=8000"),
        (100, 200, "output=200"),
        (0, 0, "window=0"),
        (-1, 0, "window=-1"),
        (10, -2, "output=-2"),
    ],
)
def test_windows_that_leave_no_room(size: int, output: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Window(size=size, output=output)


@pytest.mark.parametrize("ratio", [80, 1.5, -0.1, float("nan"), "0.3", True])
def test_ratios_out_of_range(ratio: object) -> None:
    with pytest.raises(InputError, match="ratio="):
        check_ratio(ratio, "ratio")


def test_ratio_zero_only_where_it_means_off() -> None:
    assert check_ratio(0, "ratio", zero=True) == 0.0
    with pytest.raises(InputError, match="above 0"):
        check_ratio(0, "ratio")


def test_budgets() -> None:
    assert Budget(tokens=1500).resolve() == 1500
    assert Budget(ratio=0.25).resolve(8000) == 2000
    assert Budget(ratio=0.25, window=4001).resolve(8000) == 1000
    assert Budget(ratio=0.5, tokens=100).resolve(8000) == 100


def test_budgets_that_make_no_sense() -> None:
    with pytest.raises(InputError, match="needs tokens"):
        Budget()
    with pytest.raises(InputError, match="of what"):
        Budget(ratio=0.5).resolve()
    with pytest.raises(InputError, match="tokens=-1"):
        Budget(tokens=-1)
    with pytest.raises(InputError, match="window=True"):
        Budget(ratio=0.5, window=True)


def test_a_ledger_adds_up_and_prints() -> None:
    ledger = Ledger(
        lines=(
            Line(name="system", tokens=1500),
            Line(name="tools/search", tokens=80),
            Line(name="tools/ask", tokens=20),
            Line(name="history", tokens=7, items=1, measure=Measure.ESTIMATE),
        ),
        budget=4000,
        reserved=500,
    )
    assert (ledger.total, ledger.spare, ledger.exact) == (1607, 1893, False)
    assert (ledger.tokens("tools"), ledger.tokens("tools/ask"), ledger.tokens("nothing")) == (100, 20, 0)
    assert str(ledger).splitlines() == [
        "system          1,500",
        "tools/search       80",
        "tools/ask          20",
        "history             7  1 item, estimate",
        "total           1,607",
        "output reserve    500  kept free",
        "spare           1,893",
        "budget          4,000",
    ]
    record = ledger.to_dict()
    assert record["total"] == 1607
    assert record["lines"] == [
        {"name": "system", "tokens": 1500, "measure": "exact", "items": 0},
        {"name": "tools/search", "tokens": 80, "measure": "exact", "items": 0},
        {"name": "tools/ask", "tokens": 20, "measure": "exact", "items": 0},
        {"name": "history", "tokens": 7, "measure": "estimate", "items": 1},
    ]


def test_settling_to_a_fresh_count() -> None:
    lines = (Line(name="a", tokens=5), Line(name="b", tokens=9), Line(name="none", tokens=0))
    before = [("a", 5), ("b", 9)]
    more = settle(lines, 20, Measure.EXACT)
    assert [(line.name, line.tokens) for line in more] == [*before, ("framing", 6)]
    assert [(line.name, line.tokens) for line in settle(lines, 15, Measure.EXACT)] == [*before, ("framing", 1)]
    assert [(line.name, line.tokens) for line in settle(lines, 14, Measure.EXACT)] == before
    assert [(line.name, line.tokens) for line in settle(lines, 3, Measure.ESTIMATE)] == [("a", 3), ("b", 0)]
