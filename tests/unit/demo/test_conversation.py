"""The bundled conversation is whole, in order, and carries the evidence of its questions."""

import json
from datetime import UTC, datetime
from importlib.resources import files
from itertools import pairwise

import pytest

from haversack.demo import DemoQuestion, DemoTurn, questions, sessions
from haversack.model.message import Role

SESSIONS = tuple(sessions())
TURNS = {str(turn.metadata["turn"]): turn for session in SESSIONS for turn in session.turns}
QUESTIONS = {question.id: question for question in questions()}

KEY_WORDS = {
    "launch": ("launch", "from 15 August to Saturday 26 September 2026"),
    "epoxy": ("epoxy hardener", "Nitrile", "0.2 mm", "size 7"),
    "engine": ("Petrel", "electric", "Lumen E3"),
    "padlock": ("padlock", "Four, zero, seven, one"),
    "colour": ("Light ivory", "RAL 1015", "Green's out"),
    "supplier": ("galvanised", "Brackwell", "Nordholz Bootsbeschläge"),
    "units": ("metric", "UTC"),
    "jonas": ("Veerhaven", "first of June", "19:42"),
}


def test_every_line_is_one_json_session_and_the_file_stays_small():
    raw = files("haversack.demo").joinpath("conversation.jsonl").read_bytes()
    lines = raw.decode("utf-8").splitlines()
    assert len(raw) < 200_000
    assert [set(json.loads(line)) for line in lines] == [{"session", "at", "turns"}] * 18


def test_the_story_is_long_enough_to_need_a_budget():
    assert len(SESSIONS) == 18
    assert len(TURNS) == sum(len(session.turns) for session in SESSIONS) == 364


def test_sessions_ascend_from_january_to_september():
    starts = [session.at for session in SESSIONS]
    assert starts == sorted(starts)
    assert starts[0] == datetime(2026, 1, 12, 18, 5, tzinfo=UTC)
    assert starts[-1] == datetime(2026, 9, 21, 19, 20, tzinfo=UTC)
    assert {start.month for start in starts} == set(range(1, 10))
    assert len({session.session for session in SESSIONS}) == 18


def test_turn_times_ascend_within_a_session_and_begin_with_it():
    for session in SESSIONS:
        assert session.turns[0].at == session.at
        assert all(earlier.at < later.at for earlier, later in pairwise(session.turns))
        assert session.session.startswith(f"{session.at:%Y-%m-%d}-")


def test_turns_are_numbered_by_session_and_place():
    for number, session in enumerate(SESSIONS, start=1):
        places = [f"S{number}:{place}" for place in range(1, len(session.turns) + 1)]
        assert [turn.metadata["turn"] for turn in session.turns] == places


def test_every_turn_says_or_calls_something():
    for turn in TURNS.values():
        assert turn.message.text or turn.message.tool_calls
        assert (turn.message.role, turn.message.name) in {
            (Role.USER, "Mira"),
            (Role.ASSISTANT, "Bosun"),
            (Role.TOOL, None),
        }


def test_tool_calls_are_followed_by_their_results_in_order():
    calling = [session for session in SESSIONS if any(turn.message.tool_calls for turn in session.turns)]
    assert len(calling) == 3
    for session in calling:
        for place, turn in enumerate(session.turns):
            called = [call.id for call in turn.message.tool_calls]
            results = session.turns[place + 1 : place + 1 + len(called)]
            assert [result.message.tool_call_id for result in results] == called
            assert all(json.loads(call.arguments) for call in turn.message.tool_calls)
            assert all(json.loads(result.message.text) for result in results)


def test_a_german_and_a_japanese_mail_are_quoted_whole():
    words = "\n".join(turn.message.text for turn in TURNS.values())
    assert "die zwölf Bolzen aus Siliziumbronze" in words
    assert "青銅ターンバックルは四個で一万八千四百円です" in words


def test_eight_questions_of_which_the_first_three_are_shown():
    assert [question.shown for question in questions()] == [True] * 3 + [False] * 5
    assert set(QUESTIONS) == set(KEY_WORDS)
    assert sum(len(question.evidence) > 1 for question in questions()) == 5


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_evidence_exists_and_carries_the_key_words(question: DemoQuestion):
    turns = [TURNS[place] for place in question.evidence]
    assert len(set(question.evidence)) == len(turns) > 0
    words = "\n".join(turn.message.text for turn in turns)
    assert [word for word in KEY_WORDS[question.id] if word not in words] == []


def test_the_dated_question_is_answered_on_its_date():
    (place,) = QUESTIONS["engine"].evidence
    assert "8 March 2026" in QUESTIONS["engine"].question
    assert f"{TURNS[place].at:%Y-%m-%d}" == "2026-03-08"


def test_the_launch_date_was_two_others_before():
    def said(words: str) -> DemoTurn:
        (turn,) = (turn for turn in TURNS.values() if turn.message.role is Role.USER and words in turn.message.text)
        return turn

    dates = [
        said("Launch on Saturday the 13th of June").at,
        said("moving the launch to Saturday 15 August").at,
        TURNS[QUESTIONS["launch"].evidence[0]].at,
    ]
    assert dates == sorted(dates)
