"""Law: a verb that reads, decides and writes notices whatever came between.

Two engines share a store. Each verb is interrupted before each of its store calls by each verb of the other engine,
and what comes of it is held to the laws (`interleaving_laws`) and to the two orders in which the verbs can follow each
other. `python -m tests.property.interleaving` prints how many pairs and schedules there are and what they break.
"""

from __future__ import annotations

import pytest

from .interleaving_schedules import Tally, in_turn, tally
from .interleaving_verbs import EXPLAINED, VERBS, Verb, public_names

pytestmark = pytest.mark.slow


def test_every_public_verb_is_interleaved_or_explained() -> None:
    listed = {name for verb in VERBS for name in verb.covers}
    assert public_names() == listed | EXPLAINED.keys()
    assert not listed & EXPLAINED.keys()


@pytest.mark.parametrize("first", VERBS, ids=lambda verb: verb.name.replace(" ", "-"))
def test_a_verb_holds_the_laws_whatever_comes_between(first: Verb) -> None:
    found: Tally = tally(first)
    assert found.broken == {}


@pytest.mark.parametrize("first", VERBS, ids=lambda verb: verb.name.replace(" ", "-"))
def test_verbs_hold_the_laws_one_after_the_other(first: Verb) -> None:
    broken = {(first.name, second.name): played.broken for second in VERBS if (played := in_turn(first, second)).broken}
    assert broken == {}
