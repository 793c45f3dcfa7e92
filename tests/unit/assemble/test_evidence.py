"""Memories of a prompt end where the next thousand tokens are no longer worth it."""

from collections.abc import Callable
from dataclasses import replace

from msgspec import structs

from haversack.assemble import Candidate, ModelPricer, build_prompt
from haversack.assemble.evidence import LITTLE_EVIDENCE, worth_their_tokens
from haversack.model.memory import Kind
from haversack.tokens import Counter

Make = Callable[..., Candidate]

SCORES = (0.5, 0.3, 0.1, 0.01, 0.01, 0.01)


def priced(make: Make, *scores: float, tokens: int = 500) -> list[Candidate]:
    return [structs.replace(make(f"m{n}", score, number=n), price=tokens) for n, score in enumerate(scores)]


def left(found: list[Candidate]) -> list[str]:
    return [one.memory.content for one in found if one.filtered is None]


def test_the_list_ends_where_the_next_thousand_tokens_add_too_little(make_candidate: Make, exact: Counter) -> None:
    """From the third on .1 + .01 come to the .8 before them, which is 12 %; from the fourth .02 to .9, which is 2 %."""
    found = priced(make_candidate, *SCORES)
    judged = worth_their_tokens(found[::-1], exact, 0.06)
    assert left(judged) == ["m2", "m1", "m0"]
    assert {one.filtered for one in judged} == {None, LITTLE_EVIDENCE}
    assert left(worth_their_tokens(found, exact, 0.13)) == ["m0", "m1"]
    assert left(worth_their_tokens(found, exact, 0.01)) == ["m0", "m1", "m2", "m3", "m4", "m5"]


def test_a_question_that_stands_in_the_history_is_no_evidence(make_candidate: Make, exact: Counter) -> None:
    said = structs.replace(make_candidate("said", 0.99, number=9), filtered="in_history")
    judged = worth_their_tokens([said, *priced(make_candidate, *SCORES)], exact, 0.06)
    assert judged[0] == said
    assert left(judged) == ["m0", "m1", "m2"]


def test_few_tokens_are_judged_by_what_they_would_add_in_a_thousand(make_candidate: Make, exact: Counter) -> None:
    found = priced(make_candidate, 0.9, 0.004, 0.004, tokens=10)
    assert left(worth_their_tokens(found, exact, 0.06)) == ["m0", "m1", "m2"]
    found = [structs.replace(one, price=None) for one in found]
    assert left(worth_their_tokens(found, exact, 0.06)) == ["m0", "m1", "m2"]


def test_pins_parents_and_what_does_not_answer_are_no_matter_of_evidence(make_candidate: Make, exact: Counter) -> None:
    strong, parent, pin, background = priced(make_candidate, 0.9, 0.001, 0.001, 0.001)
    child = structs.replace(strong, memory=replace(strong.memory, metadata={"parent": parent.memory.id}))
    pin = structs.replace(pin, memory=replace(pin.memory, pinned=True))
    background = structs.replace(background, answers=False)
    assert left(worth_their_tokens([child, parent, pin, background], exact, 0.06)) == ["m0", "m1", "m2", "m3"]


def test_a_larger_window_takes_no_more_noise(make_candidate: Make, pricer: ModelPricer) -> None:
    found = [
        make_candidate(f"Number {n}: {'word ' * 40}", 0.9**n, number=n, kind=Kind.PASSAGE, session="s")
        for n in range(90)
    ]
    prompts = [
        build_prompt(query="x", pricer=pricer, window=window, candidates=found, least_evidence=0.06)
        for window in (1000, 8000, 16_000, 128_000)
    ]
    kept = [len(prompt.context.items) for prompt in prompts if prompt.context]
    assert kept[0] < kept[1] == kept[2] == kept[3] < 60
    assert len(build_prompt(query="x", pricer=pricer, window=16_000, candidates=found).verdicts) == 90
    assert {row.reason for row in prompts[3].verdicts} == {"fits", LITTLE_EVIDENCE}
