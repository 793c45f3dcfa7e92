from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest

from haversack.compaction.guards import bare_words, inspect, read_material
from haversack.compaction.summarize import Refused, Summarizer, Summary
from haversack.model.memory import Turn
from haversack.model.message import Message
from haversack.testing.scripted import Line, ScriptedChat
from haversack.testing.words import WordCounter

Say = Callable[..., Message]
TurnsOf = Callable[[Sequence[Message]], list[Turn]]
FILLER = "and so on and so on and so on and so on and so on and so on."


@pytest.fixture
def chat(say: Say, turns_of: TurnsOf) -> list[Turn]:
    return turns_of(
        [
            say("user", f"Please book Alice into the Ritz {FILLER}"),
            say("assistant", f"We decided on room 1041 for 300 euros {FILLER} See src/app.py {FILLER}"),
            say("user", f"And can you call Bob on Friday? {FILLER}"),
        ]
    )


GOOD = (
    "Alice is booked into the Ritz; decided room 1041 for 300 euros, see src/app.py. Open: can you call Bob on Friday?"
)


def make(turns: Sequence[Turn], *lines: Line, limit: int = 1000, fallback: bool = True) -> tuple[Summary, ScriptedChat]:
    service = ScriptedChat(lines=lines)
    summarizer = Summarizer(counter=WordCounter(), service=service, fallback=fallback)
    made = summarizer.summarize([[turn] for turn in turns], limit=limit, time_left=lambda: 9.0)
    return made, service


def test_material_tells_decisions_and_open_requests(chat: list[Turn]) -> None:
    material = read_material(chat)
    assert material.anchors >= {"alice", "ritz", "1041", "300", "bob", "friday", "src/app.py"}
    assert [line[:10] for line in material.decisions] == ["We decided"]
    assert material.requests == ("And can you call Bob on Friday?",)
    assert material.lines[0].startswith("user: Please")


def test_a_good_summary_is_clean(chat: list[Turn]) -> None:
    assert inspect(GOOD, read_material(chat)).is_clean


def test_what_is_lost_or_invented_is_found(chat: list[Turn]) -> None:
    found = inspect("Alice is booked into the Hilton, room 1014.", read_material(chat))
    assert set(found.missing) == {"ritz", "1041", "300", "bob", "friday", "src/app.py"}
    assert found.invented == ("1014", "hilton")
    assert len(found.lost) == 2
    assert not found.is_clean


def test_a_good_answer_is_taken_at_once(chat: list[Turn]) -> None:
    made, service = make(chat, GOOD)
    assert (made, len(service.seen)) == (Summary(text=GOOD, turns=3, left_out=0), 1)
    assert "Alice" in service.seen[0].messages[1].text
    assert "data" in service.seen[0].messages[0].text


def test_what_is_missing_is_asked_for_once_more(chat: list[Turn]) -> None:
    made, service = make(chat, "Alice wants the Ritz.", GOOD)
    assert (made.text, len(service.seen)) == (GOOD, 2)
    assert "1041" in service.seen[1].messages[0].text


def test_what_stays_missing_is_added_from_the_turns_and_inventions_go(chat: list[Turn]) -> None:
    made, service = make(chat, "Alice wants the Ritz. Room 1014 is in the Hilton.")
    assert len(service.seen) == 2
    assert "Hilton" not in made.text
    assert made.text.startswith("Alice wants the Ritz.")
    assert "user: And can you call Bob on Friday?" in made.text
    assert made.left_out < 7


def test_without_fallback_the_best_answer_stands(chat: list[Turn]) -> None:
    made, _ = make(chat, "Alice wants the Ritz.", "hm", fallback=False)
    assert made.text == "Alice wants the Ritz."


def test_what_is_not_shorter_is_refused(chat: list[Turn]) -> None:
    with pytest.raises(Refused) as caught:
        make(chat, "blah " * 500)
    assert caught.value.cause.code == "not shorter"


def test_a_previous_summary_leads_and_the_limit_holds(chat: list[Turn]) -> None:
    service = ScriptedChat(lines=[GOOD])
    summarizer = Summarizer(counter=WordCounter(), service=service)
    units = [[turn] for turn in chat]
    made = summarizer.summarize(units, previous="Carol lives in Rome.", limit=1000, time_left=lambda: 9.0)
    assert made.text == f"Carol lives in Rome.\n{GOOD}"
    bounded = summarizer.summarize(units, previous="Carol lives in Rome.", limit=12, time_left=lambda: 9.0)
    assert len(bounded.text.split()) <= 12


def test_long_turns_are_sent_in_parts_and_units_stay_whole(say: Say, turns_of: TurnsOf) -> None:
    long = say("user", " ".join(f"word{n % 7}." for n in range(9000)))
    turns = turns_of([long, *[say("assistant", "fine fine fine fine fine fine")] * 9])
    service = ScriptedChat(lines=["short"])
    summarizer = Summarizer(counter=WordCounter(), service=service, turns_per_call=8, fallback=False)
    made = summarizer.summarize([[turns[0]], turns[1:7], turns[7:]], limit=100, time_left=lambda: 9.0)
    sent = [len(seen.messages[1].text.split()) for seen in service.seen if "fine" not in seen.messages[1].text]
    assert sum(sent) >= 9000
    assert max(sent) <= 4000
    assert made.turns == 10
    fine = [seen.messages[1].text.count("\n") + 1 for seen in service.seen if "fine" in seen.messages[1].text]
    assert set(fine) == {6, 3}


def test_no_model_means_sentences_with_their_speakers(chat: list[Turn]) -> None:
    summarizer = Summarizer(counter=WordCounter())
    made = summarizer.summarize([[turn] for turn in chat], limit=1000, time_left=lambda: 0.0)
    assert len(made.text.split()) <= 33
    assert all(line.startswith(("user: ", "assistant: ")) for line in made.text.splitlines())


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("<think>a\nb</think> Yes.", "Yes."),
        ("<THINKING>a</THINKING>\nYes", "Yes"),
        ("<think>a", ""),
        ("plain <b>x</b>", "plain <b>x</b>"),
    ],
)
def test_reasoning_is_not_part_of_an_answer(reply: str, words: str) -> None:
    assert bare_words(reply) == words


def test_without_a_service_time_that_runs_out_keeps_the_pieces_done(chat: list[Turn]) -> None:
    times = iter([0.5, 0.0])
    made = Summarizer(counter=WordCounter(), turns_per_call=1).summarize(
        [[turn] for turn in chat], limit=1000, time_left=lambda: next(times)
    )
    assert (made.turns, made.exhausted) == (2, True)
    assert "Bob" not in made.text


def test_without_a_service_a_cancelled_run_ends_between_pieces(chat: list[Turn]) -> None:
    cancel = threading.Event()

    def time_left() -> float:
        cancel.set()
        return 9.0

    with pytest.raises(Refused, match="cancelled"):
        Summarizer(counter=WordCounter(), turns_per_call=1).summarize(
            [[turn] for turn in chat], limit=1000, time_left=time_left, cancel=cancel
        )
