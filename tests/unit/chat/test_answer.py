from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from haversack.chat.answer import take_turn
from haversack.chat.settings import ChatSettings
from haversack.chat.spending import FIELD
from haversack.chat.tools import Result
from haversack.compaction import CompactionConfig
from haversack.compaction.extraction.settings import ExtractionConfig
from haversack.errors import ServiceError
from haversack.llm.cost import ModelPrice
from haversack.llm.port import Cancel, Reply, ServiceCancelled, Usage
from haversack.model.message import Message, ToolCall

TIDE = {"type": "function", "function": {"name": "tide", "parameters": {"type": "object", "properties": {}}}}


@dataclass
class Box:
    """Tools that answer from a script."""

    answers: list[Callable[[Cancel], Result]]
    schemas: Sequence[Mapping[str, Any]] = (TIDE,)
    problems: Sequence[str] = ()
    called: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def call(self, name: str, arguments: str, cancel: Cancel) -> Result:
        self.called.append((name, arguments))
        return self.answers[min(len(self.called), len(self.answers)) - 1](cancel)

    def close(self) -> None:
        pass


def calls(*names: str) -> Reply:
    made = tuple(ToolCall(id=name, name="tide", arguments="{}") for name in names)
    return Reply(text="", model="scripted", finish="tool_calls", tool_calls=made)


def gives(words: str, *, failed: bool = False) -> Callable[[Cancel], Result]:
    return lambda _cancel: Result(text=words, failed=failed)


def test_a_turn_is_kept_asked_and_answered(room: Any) -> None:
    here = room("Metric, you said.")
    here.talk.ns.remember("Alice prefers metric units")
    assert here.say("Which units?") == "Metric,\n you\n said.\n\n"
    assert here.turns() == [("user", "Which units?"), ("assistant", "Metric, you said.")]
    (seen,) = here.service.seen
    assert seen.max_tokens == 500
    assert [message.role for message in seen.messages] == ["system", "user", "user"]
    assert "Alice prefers metric units" in seen.messages[1].text


def test_the_words_are_kept_when_the_service_fails(room: Any) -> None:
    here = room(ServiceError("the line is dead"), "Here I am.")
    here.say("Hello?")
    assert here.paper.notes == ["the line is dead"]
    assert str(here.chat.first_failure) == "the line is dead"
    here.say("Still there?")
    assert here.turns() == [("user", "Hello?"), ("user", "Still there?"), ("assistant", "Here I am.")]


def test_what_came_before_a_stop_is_kept_and_marked(room: Any) -> None:
    here = room("one two three four")
    asked = threading.Event()
    show = here.paper.piece

    def stop_after_two(words: str) -> None:
        show(words)
        if "two" in words:
            asked.set()

    here.paper.piece = stop_after_two
    with pytest.raises(ServiceCancelled):
        take_turn(here.talk, "Count.", asked)
    assert here.turns()[-1] == ("assistant", "one two")
    kept = here.talk.session.turns()[-1].metadata[FIELD]
    assert kept["ended"] == "stopped"
    assert kept["estimated"] is True
    assert kept["output_tokens"] == 2
    assert "one two [stopped]" in here.say("/transcript")


def test_a_stop_before_the_first_word_leaves_no_answer(room: Any) -> None:
    here = room("never said")
    asked = threading.Event()
    asked.set()
    with pytest.raises(ServiceCancelled):
        take_turn(here.talk, "Count.", asked)
    assert here.turns() == [("user", "Count.")]


def test_tools_are_called_and_their_results_kept(room: Any) -> None:
    here = room(calls("c1", "c2"), "High at six.")
    box = here.talk.tools = Box([gives("06:00"), gives("no such port", failed=True)])
    here.say("When is the tide?")
    assert box.called == [("tide", "{}"), ("tide", "{}")]
    assert [role for role, _ in here.turns()] == ["user", "assistant", "tool", "tool", "assistant"]
    second = here.service.seen[1]
    assert [message.text for message in second.messages[-2:]] == ["06:00", "no such port"]
    assert second.tools == (TIDE,)
    assert here.paper.notes == ["tool tide {}", "tool tide {}", "tool tide failed: no such port"]
    assert here.talk.last.ledger.tokens("tools/tide") > 0
    assert "schema tokens of the window\ntools/tide" in here.say("/tool-budget")


def test_rounds_of_tools_end(room: Any) -> None:
    here = room(calls("c1"), settings=ChatSettings(rounds=2))
    here.talk.tools = Box([gives("again")])
    here.say("Go.")
    assert len(here.service.seen) == 3
    assert here.turns()[-1] == ("tool", "not called: at most 2 rounds")
    assert "stopped after 2 rounds of tools (chat.rounds)" in here.paper.notes


def test_a_stopped_call_leaves_a_result_for_every_call(room: Any) -> None:
    def stop(_cancel: Cancel) -> Result:
        raise ServiceCancelled("stopped")

    here = room(calls("c1", "c2"), "Well.")
    here.talk.tools = Box([stop])
    here.say("Go.")
    assert here.chat.stopped
    assert here.turns()[-2:] == [("tool", "stopped before it ended"), ("tool", "not called: stopped before its turn")]
    assert here.say("Then tell me so.") == "Well.\n\n"


def test_a_long_result_is_cut_and_says_so(room: Any) -> None:
    here = room(calls("c1"), "Done.", settings=ChatSettings(result_tokens=10))
    here.talk.tools = Box([gives("high water " * 100)])
    here.say("Go.")
    (result,) = [words for role, words in here.turns() if role == "tool"]
    assert result.startswith("high water ")
    assert result.endswith("[cut here: the whole result has 1,100 characters]")


def test_costs_add_up_and_outlive_the_program(room: Any) -> None:
    prices = {"scripted": ModelPrice(input=10, output=100)}
    here = room("Yes.", prices=prices)
    here.service.usage = Usage(input_tokens=1000, output_tokens=20)
    here.say("Really?")
    here.say("Really?")
    assert (here.talk.spent.calls, str(here.talk.spent)) == (2, "$0.0240")
    here.talk.start_anew(here.talk.ns.session("s"))
    assert here.talk.spent.dollars == pytest.approx(0.024)
    assert "answers, scripted 2 2000 40 0.0240" in here.say("/cost")


def test_an_empty_answer_is_told_and_not_kept(room: Any) -> None:
    here = room(" ")
    here.say("Anything?")
    assert here.turns() == [("user", "Anything?")]
    assert "the model answered nothing" in here.paper.notes


def test_a_cut_answer_says_so(room: Any) -> None:
    here = room(Reply(text="", model="scripted", finish="length"))
    here.service.lines = [cut_short]
    here.say("Go on.")
    assert here.turns()[-1] == ("assistant", "as long as it may be")


def cut_short(_messages: Sequence[Message]) -> str:
    return "as long as it may be"


def test_codes_that_a_terminal_obeys_arrive_as_signs(room: Any) -> None:
    here = room("\x1b[2Jgone\x07\x9b31m")
    assert here.say("Hello") == "␛[2Jgone␇\ufffd31m\n\n"
    assert here.turns()[-1] == ("assistant", "\x1b[2Jgone\x07\x9b31m")


def test_without_a_service_the_prompt_is_shown(room: Any) -> None:
    here = room()
    here.say("/remember Alice prefers metric units")
    shown = here.say("Which units?")
    assert "[memories] " in shown
    assert "- Alice prefers metric units" in shown
    assert shown.endswith("[user] Which units?")
    assert "would be sent:" in here.paper.notes[0]
    assert here.turns() == [("user", "Which units?")]


def test_in_json_every_answer_is_one_value(room: Any) -> None:
    here = room("Metric.", as_json=True)
    assert here.say("Which units?") == ""
    (value,) = here.paper.values
    assert (value["role"], value["text"], value["position"]) == ("assistant", "Metric.", 1)
    unsent = room(as_json=True)
    unsent.say("Which units?")
    assert unsent.paper.values[0]["messages"][-1] == {"role": "user", "content": "Which units?"}


def test_a_message_that_does_not_fit_says_what_is_too_large(room: Any) -> None:
    here = room("never", window=1000)
    here.say("long " * 900)
    assert "the largest part is query" in here.paper.notes[0]
    assert "output reserve" in here.paper.notes[0]
    assert here.service.seen == []


def test_what_was_said_last_is_read_at_leaving(room: Any) -> None:
    here = room("Noted.", extraction=ExtractionConfig())
    here.say("My name is Alice and I live in Veere.")
    assert here.talk.session.unread() == 2
    here.paper.notes.clear()
    here.chat.leave()
    assert here.paper.notes == [
        "reading what was said for facts (Ctrl-C leaves it for later; nothing is lost)",
        "to go on: haversack chat --resume s",
    ]
    assert here.talk.session.unread() == 0
    assert "Veere" in here.say("/facts")


def test_a_compaction_in_progress_is_awaited_and_ctrl_c_does_not_wait_for_it(room: Any) -> None:
    here = room("Yes.", compaction=CompactionConfig())
    here.say("Hello")
    here.talk.session.monitor.mark_compaction_started()
    asked = threading.Event()
    asked.set()
    with pytest.raises(ServiceCancelled):
        take_turn(here.talk, "And now?", asked)
    assert "finishing a compaction first (Ctrl-C stops)" in here.paper.notes
    here.talk.session.monitor.mark_compaction_complete()
    here.say("And then?")
    assert [words for _, words in here.turns()] == ["Hello", "Yes.", "And now?", "And then?", "Yes."]
