from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from haversack.compaction.extraction.rules import extract_by_rules
from haversack.model.memory import Kind, Turn
from haversack.model.message import Message, Role, Text

TurnsOf = Callable[[Sequence[Message]], list[Turn]]


def found(turns_of: TurnsOf, text: str, role: str = "user", name: str | None = None) -> list[tuple[Kind, str]]:
    message = Message(role=Role(role), parts=(Text(text),), name=name)
    return [(action.kind, action.subject) for action in extract_by_rules(turns_of([message]))]


@pytest.mark.parametrize(
    ("text", "kind", "subject"),
    [
        ("Hi! My name is Alice Smith.", Kind.PROFILE, "user/name"),
        ("By the way, I live in Oslo now", Kind.PROFILE, "user/city"),
        ("I just moved to Rome", Kind.PROFILE, "user/city"),
        ("I work at Acme", Kind.PROFILE, "user/work"),
        ("My favourite colour is blue", Kind.PROFILE, "user/favourite colour"),
        ("I really like green tea", Kind.PROFILE, "user/preference/green tea"),
        ("I don't like green tea", Kind.PROFILE, "user/preference/green tea"),
        ("I'm allergic to nuts", Kind.PROFILE, "user/preference/nuts"),
        ("We decided to use Postgres", Kind.DECISION, ""),
        ("Let's go with the red one", Kind.DECISION, ""),
        ("Actually, my flight is later", Kind.CORRECTION, ""),
        ("The deadline is on March 3", Kind.FACT, ""),
        ("Bob's wedding is on 2026-05-01", Kind.FACT, ""),
    ],
)
def test_plain_statements_are_found(turns_of: TurnsOf, text: str, kind: Kind, subject: str) -> None:
    assert found(turns_of, text) == [(kind, subject)]


@pytest.mark.parametrize(
    "text",
    [
        "nice weather",
        "What is my name?",
        "I would like tea",
        "If I lived in Rome",
        "Can you say my name is Bob?",
        "March 3",
        "",
    ],
)
def test_questions_and_ifs_are_not(turns_of: TurnsOf, text: str) -> None:
    assert found(turns_of, text) == []


def test_only_people_speak_of_themselves(turns_of: TurnsOf) -> None:
    text = "I live in Oslo."
    assert found(turns_of, text, "tool") == found(turns_of, text, "system") == found(turns_of, text, "assistant") == []
    assert found(turns_of, text, "assistant", "Bob") == [(Kind.PROFILE, "bob/city")]


def test_the_words_are_the_evidence(turns_of: TurnsOf) -> None:
    message = Message(role=Role.USER, parts=(Text("Well. I work for Acme with Carol."),), name="Alice")
    (action,) = extract_by_rules(turns_of([message]))
    assert (action.text, action.evidence) == ("Alice: I work for Acme with Carol.", "I work for Acme with Carol.")
    assert action.entities == ("Alice", "Acme", "Carol")


@pytest.mark.parametrize(
    "text", ["I love it!", "I like how it looks", "a job I enjoy every day", "When I turned ten we moved"]
)
def test_what_names_no_thing_is_no_preference(turns_of: TurnsOf, text: str) -> None:
    assert found(turns_of, text) == []


def test_the_thing_preferred_ends_with_its_clause(turns_of: TurnsOf) -> None:
    assert found(turns_of, "Well, I love road trips with Bob, they are fun") == [
        (Kind.PROFILE, "user/preference/road trips with bob")
    ]


def test_a_line_that_says_several_things_of_the_speaker_is_several_statements(turns_of: TurnsOf) -> None:
    text = "My name is Alice and I live in Rome, but I work at Acme."
    assert found(turns_of, text) == [
        (Kind.PROFILE, "user/name"),
        (Kind.PROFILE, "user/city"),
        (Kind.PROFILE, "user/work"),
    ]
    assert found(turns_of, "My name is Alice and I like tea.") == [(Kind.PROFILE, "user/name")]


def test_a_turn_made_of_statements_gives_the_first_fifty(turns_of: TurnsOf) -> None:
    said = "\n".join(f"I like boat number {number}" for number in range(60))
    subjects = [subject for _, subject in found(turns_of, said)]
    assert subjects == [f"user/preference/boat number {number}" for number in range(50)]
