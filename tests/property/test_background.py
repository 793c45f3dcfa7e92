"""Law: what does not answer the query never outranks what does."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from haversack.assemble import LAYOUTS, Candidate
from haversack.assemble.layout import Layout, Sharing
from haversack.assemble.order import entry_order

from .places import Setup, everywhere
from .test_laws_context import candidates, layouts
from .test_same_everywhere import WORDS

TOLD = st.lists(
    st.tuples(st.sampled_from(["fact", "decision", "passage", "correction", "summary"]), WORDS, st.floats(0, 1)),
    min_size=1,
    max_size=14,
)


@everywhere
@given(TOLD, WORDS, st.integers(0, 120), st.sampled_from(list(LAYOUTS)))
@settings(deadline=None)
def test_background_scores_less_than_every_answer(
    setup: Setup, told: Sequence[tuple[str, list[str], float]], asked: list[str], budget: int, layout: str
) -> None:
    with setup.open() as sack:
        ns = sack.namespace("n")
        for kind, words, importance in told:
            ns.remember(" ".join(words), kind=kind, importance=importance)
        rows = ns.context(" ".join(asked), budget=budget, layout=layout).verdicts
    background = [row.score for row in rows if set(row.parts) == {"importance", "pinned"}]
    answering = (row for row in rows if row.reason != "below_floor")
    answers = [row.score for row in answering if len(row.parts) > 2]  # a parent has none
    assert max(background, default=0) < min(answers, default=1)


@given(candidates(), layouts(), st.randoms())
def test_answers_enter_first(found: list[Candidate], layout: Layout, random: Random) -> None:
    found = [structs.replace(one, score=0.001) if one.answers and one.score <= 0 else one for one in found]
    section = [next(n for n, part in enumerate(layout.sections) if one.memory.kind in part.kinds) for one in found]
    prices = [random.randrange(1, 300) for _ in found]
    entry = entry_order(found, range(len(found)), layout=layout, section=section, prices=prices)
    lists = entry.within if layout.sharing is not Sharing.SCORE else [entry.order]
    if layout.sharing is Sharing.WEIGHT:
        lists = [*lists, entry.order]
    for items in lists:
        answers = [found[item].answers for item in items]
        assert answers == sorted(answers, reverse=True)
