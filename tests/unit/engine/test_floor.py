"""What hardly answers a question stays out of contexts and prompts, unless it is pinned or the call asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

import haversack
from haversack.engine.namespace import Namespace
from haversack.engine.settings import MemorySettings
from haversack.errors import InputError

NOTES = (
    "Alice sails a boat called Petrel.",
    "The red kayak has a crack near the stern.",
    "Piano lessons are on Thursdays at five.",
    "Bo is allergic to hazelnuts and carries tablets.",
    "The spare key of the cellar hangs behind the calendar.",
    "Our landlord wants the rent by the third of each month.",
)
STRANGE = "Which enzyme cuts DNA at palindromes?"


@pytest.fixture
def ns() -> Iterator[Namespace]:
    with haversack.open(":memory:") as sack:
        namespace = sack.namespace()
        namespace.remember_many(NOTES)
        yield namespace


def test_the_right_note_is_far_more_relevant_than_any_to_a_question_about_nothing_here(ns: Namespace) -> None:
    right = ns.recall("What is Alice's boat called?")
    assert right[0].content == NOTES[0]
    assert right[0].relevance > 0.8
    assert max(hit.relevance for hit in ns.recall(STRANGE)) < 0.05
    assert all(before.relevance >= after.relevance for before, after in pairwise(right))


def test_a_question_about_nothing_here_leaves_the_context_empty_and_says_so(ns: Namespace) -> None:
    packed = ns.context(STRANGE, budget=500)
    assert (packed.text, packed.tokens, packed.items) == ("", 0, ())
    assert packed.unanswered
    assert packed.to_dict()["unanswered"] is True
    assert "nothing is relevant enough" in str(packed)
    assert {(row.verdict, row.reason, row.stage) for row in packed.verdicts} == {("filtered", "below_floor", "filter")}


def test_a_handful_of_memories_stands_whatever_is_asked() -> None:
    with haversack.open(":memory:") as sack:
        ns = sack.namespace()
        ns.remember_many(NOTES[:4])
        assert ns.context(STRANGE, budget=500).items
        ns.remember(NOTES[4])
        assert ns.context(STRANGE, budget=500).unanswered


def test_an_empty_store_answers_nothing_and_no_room_is_no_lack_of_answers(ns: Namespace) -> None:
    assert not ns.context("What is Bo allergic to?", budget=0).unanswered
    with haversack.open(":memory:") as sack:
        assert sack.namespace().context("What is Bo allergic to?", budget=500).unanswered


def test_an_answer_stands_and_what_is_beside_it_may(ns: Namespace) -> None:
    packed = ns.context("What is Bo allergic to?", budget=500)
    assert NOTES[3] in packed.text
    assert not packed.unanswered
    assert all(row.relevance >= 0.05 for row in packed.kept)


def test_the_least_relevance_of_a_call_replaces_the_setting(ns: Namespace) -> None:
    assert len(ns.context(STRANGE, budget=500, min_relevance=0).items) >= 3
    assert len(ns.context("What is Bo allergic to?", budget=500, min_relevance=0.5).items) == 1
    assert [hit.content for hit in ns.recall("What is Bo allergic to?", min_relevance=0.5)] == [NOTES[3]]
    assert ns.recall(STRANGE)
    assert ns.recall(STRANGE, min_relevance=0.05) == []


def test_the_setting_of_nothing_lets_everything_in() -> None:
    with haversack.open(":memory:", config={"memory": {"min_relevance": 0}}) as sack:
        sack.namespace().remember_many(NOTES)
        assert len(sack.namespace().context(STRANGE, budget=500).items) >= 3


@pytest.mark.parametrize("wrong", [-0.1, 1.5])
def test_a_relevance_lies_between_nothing_and_one(ns: Namespace, wrong: float) -> None:
    with pytest.raises(InputError, match="min_relevance"):
        ns.context(STRANGE, min_relevance=wrong)
    with pytest.raises(InputError, match="min_relevance"):
        ns.session("s").prompt(STRANGE, min_relevance=wrong)
    with pytest.raises(InputError, match=r"memory\.min_relevance"):
        MemorySettings(min_relevance=wrong)


def test_pinned_memories_stand_whatever_is_asked(ns: Namespace) -> None:
    pinned = ns.remember("The user wants answers in metric units.", pinned=True)
    packed = ns.context(STRANGE, budget=500)
    assert packed.items == (pinned.id,)
    assert not packed.unanswered


@pytest.mark.parametrize("follow_up", ["and why?", "Tell me more about it.", "was bedeutet das?"])
def test_a_follow_up_names_no_topic_so_the_floor_does_not_empty_its_context(ns: Namespace, follow_up: str) -> None:
    assert not ns.context(follow_up, budget=500).unanswered


def test_a_question_in_the_script_of_the_notes_keeps_them() -> None:
    with haversack.open(":memory:") as sack:
        ns = sack.namespace()
        ns.remember_many(["钥匙挂在日历后面。", "爱丽丝的船叫海燕。", "钢琴课在星期四。"])
        assert "爱丽丝的船叫海燕。" in ns.context("爱丽丝的船叫什么？", budget=500).text


def test_likeness_is_no_probability_so_only_a_call_sets_its_floor(ns: Namespace) -> None:
    assert ns.context(STRANGE, budget=500, weights="similarity").items
    assert ns.context(STRANGE, budget=500, weights="similarity", min_relevance=0.99).unanswered


def test_prompts_hold_to_the_floor_as_well(ns: Namespace) -> None:
    session = ns.session("talk")
    strange = session.prompt(STRANGE, model="gpt-4o", window=8000)
    assert [message.text for message in strange.parts] == [STRANGE]
    assert strange.context is not None
    assert strange.context.unanswered
    answered = session.prompt("What is Bo allergic to?", model="gpt-4o", window=8000)
    assert any(NOTES[3] in message.text for message in answered.parts)
    every = session.prompt(STRANGE, model="gpt-4o", window=8000, min_relevance=0)
    assert every.context is not None
    assert every.context.items


def test_a_section_keeps_what_belongs_there_without_answering(ns: Namespace) -> None:
    ns.remember("The user lives in Porto.", kind="profile")
    packed = ns.context(STRANGE, budget=500, layout="sections")
    assert "The user lives in Porto." in packed.text


def test_why_names_the_floor_and_the_relevance(ns: Namespace) -> None:
    hit = ns.recall(STRANGE)[0]
    told = ns.why(STRANGE, hit.id, budget=500)
    assert (told.reason, told.stage, told.relevance) == ("below_floor", "filter", hit.relevance)
    assert f"relevance {hit.relevance:.3f}" in str(told)


def test_a_strong_child_brings_its_weak_parent(ns: Namespace) -> None:
    parent = ns.remember("Chapter seven, notes of a long afternoon.")
    child = ns.remember("The ferry to Texel leaves at noon.", metadata={"parent": parent.id})
    packed = ns.context("When does the ferry to Texel leave?", budget=500, min_relevance=0.5)
    assert set(packed.items) == {parent.id, child.id}
