"""Law: every spelling of a number finds every other spelling of it, and no other number."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from haversack.scoring.spoken import SPOKEN
from haversack.scoring.units import SYMBOLS, WORTH
from haversack.scoring.words import is_day, key_of, query_keys, split

FULL_WIDTH = str.maketrans("0123456789,", "０１２３４５６７８９，")
ARABIC = str.maketrans("0123456789,", "٠١٢٣٤٥٦٧٨٩٬")
HINDI = str.maketrans("0123456789", "०१२३४५६७८९")


SIGNS = """½ ¼ ⅔ 1/2 3/4 12/4 10⁶ 10^ ×10^ 1e5 1e400 0.5 0,5 .5 1,000 1.000 1'000 1000 100 12 5 A4 ٥ ५ ５ ② ¹ ⁻
    07:05 7:05 2026-03-05 05/03/2026 +49 030 minus a an and past to of one $ € US EUR USD % ° sq cu
    ² ³ 年 5月 3日 ngày tháng May march out am pm o'clock in the - – / : . , ( ) ' T x e k M @ _ # İ ß""".split()  # noqa: SIM905
PIECES = [*SIGNS, *sorted(SPOKEN), *sorted(SYMBOLS)[::7], *WORTH, "9" * 400, "9" * 5000]


def spellings(number: int) -> list[str]:
    grouped = f"{number:,}"
    joined = [grouped.replace(",", sign) for sign in ("", ",", ".", "'", "\u2019", "\u00a0", "\u202f", "\u2009")]
    return [*joined, *(grouped.translate(table) for table in (FULL_WIDTH, ARABIC, HINDI))]


def keys(text: str) -> set[int]:
    return {key_of(word) for word in split(text)}


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_every_spelling_finds_every_other_and_no_other_number(one: int, other: int) -> None:
    for asked in spellings(one):
        wanted = set(query_keys(f"{asked} boats")) - {key_of("boats")}
        for told in spellings(one):
            assert wanted & keys(f"they have {told} boats"), (asked, told)
        for told in spellings(other) if one != other else ():
            assert not wanted & keys(f"they have {told} boats"), (asked, told)


@given(st.integers(1_000, 10**9))
def test_blanks_between_thousands_are_one_spelling(number: int) -> None:
    spaced = f"{number:,}".replace(",", " ")
    assert set(query_keys(f"{number} boats")) <= keys(f"{spaced} boats")
    assert set(query_keys(f"{spaced} boats")) <= keys(f"{number} boats")


@pytest.mark.parametrize("sign", ["-", "\u2212"])
@given(number=st.integers(1, 10**6))
def test_a_number_below_zero_is_another(sign: str, number: int) -> None:
    assert key_of(str(number)) not in query_keys(f"{sign}{number} degrees")
    assert set(query_keys(f"{sign}{number} degrees")) <= keys(f"-{number:,} degrees")


@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(["", " ", " ", "-", "."])), max_size=6))
@example([("A4", ""), ("½", " "), ("μF", "")])
@example([("minus", " "), ("1/2", "")])
@example([("7:05", " "), ("1/2", " "), ("hundred", "")])
@example([("10⁶", ""), ("¼", "")])
def test_a_text_has_all_that_it_asks_for_as_a_question(pieces: list[tuple[str, str]]) -> None:
    text = "".join(piece + between for piece, between in pieces)
    held = keys(text)
    assert [word for key, word in query_keys(text).items() if key not in held and not is_day(word)] == []
