import sys

from hypothesis import given
from hypothesis import strategies as st

from haversack.model.text import fingerprint_form, normalized, rough_forms

ALIKE = ["Straße  NR. 5", "strasse nr. 5", "\u1e9e\u00a0k", "SS \u212a", "e\u0301", "\u00e9", "\x1c a\tB\u2028", "A b"]
"""Case folding, a Kelvin sign, composed and decomposed letters, rare spaces."""


@given(st.lists(st.sampled_from(ALIKE) | st.text(max_size=8), min_size=2, max_size=12))
def test_texts_of_one_form_share_their_rough_form(texts: list[str]) -> None:
    texts += [f" {text.upper()}\n" for text in texts]
    rough = dict(zip(texts, rough_forms(texts), strict=True))
    for one in texts:
        for other in texts:
            if fingerprint_form(one) == fingerprint_form(other):
                assert rough[one] == rough[other]


def test_every_space_leaves_the_rough_form() -> None:
    spaces = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
    assert set(rough_forms([f"a{space}b" for space in spaces])) == {b"ab"}


def test_rough_forms_keep_words_apart() -> None:
    assert len(set(rough_forms(["metric units", "metric unit", "会議", "会", "\ud800"]))) == 5


def test_marks_without_end_are_put_in_order_part_by_part():
    few, many = "e" + "\u0301\u0316" * 15, "e" + "\u0301\u0316" * 25
    assert normalized("NFD", few) == "e" + "\u0316" * 15 + "\u0301" * 15
    assert normalized("NFD", many) == ("e" + "\u0316" * 15 + "\u0301" * 15 + "\u034f" + "\u0316" * 10 + "\u0301" * 10)
    assert fingerprint_form(many) == fingerprint_form(f" {many.upper()}")
