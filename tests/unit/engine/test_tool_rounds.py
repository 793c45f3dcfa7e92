"""Prompts in the middle of an exchange: the user asked, the model called tools, their results are there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace
from haversack.engine.session import Session
from haversack.engine.settings import MemorySettings
from haversack.errors import BudgetError, InputError
from haversack.tokens import counter_for
from haversack.tokens.chat import count_messages
from haversack.tokens.models import Family
from haversack.wire import openai


def call(name: str) -> dict[str, Any]:
    made = {"id": name, "type": "function", "function": {"name": "tide", "arguments": '{"port":"Veere"}'}}
    return {"role": "assistant", "content": None, "tool_calls": [made]}


def result(name: str, words: str = "High at 6") -> dict[str, Any]:
    return {"role": "tool", "content": words, "tool_call_id": name}


def in_the_middle(session: Session) -> None:
    session.extend(
        [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hello to you."},
            {"role": "user", "content": "When is the tide?"},
            call("c1"),
            result("c1"),
            call("c2"),
            result("c2"),
        ]
    )


@pytest.mark.parametrize("layout", ["attention", "cached"])
def test_the_open_exchange_stands_whole_behind_the_history(ns: Namespace, layout: str) -> None:
    session = ns.session("s")
    in_the_middle(session)
    prompt = session.prompt(model="gpt-4o", window=2000, output=100, layout=layout)
    sent = list(prompt.messages("openai"))
    assert [message["role"] for message in sent][-5:] == ["user", "assistant", "tool", "assistant", "tool"]
    assert sent[-5]["content"] == "When is the tide?"
    assert [line.name for line in prompt.ledger.lines if "tool" in line.name] == ["tool calls", "tool results"]
    assert prompt.ledger.tokens("query") > 0
    counted = count_messages(counter_for("gpt-4o"), openai.load_all(sent), Family.OPENAI, model="gpt-4o").total
    assert counted == prompt.ledger.total
    assert not [row for row in prompt.verdicts if row.verdict == "kept"]  # all of it stands in the conversation


def test_what_is_not_answered_yet_is_no_place_to_ask_from(ns: Namespace) -> None:
    session = ns.session("s")
    session.add("user", "When is the tide?")
    session.extend([call("c1")])
    with pytest.raises(InputError, match="neither with the user's turn nor with a tool's result"):
        session.prompt(window=2000, output=100)
    session.extend([result("c1")])
    assert session.prompt(window=2000, output=100).tokens > 0
    session.add("assistant", "At six.")
    with pytest.raises(InputError, match="give a query"):
        session.prompt(window=2000, output=100)


@pytest.mark.parametrize("layout", ["flat", "cached"])
def test_results_over_the_window_become_pointers(ns: Namespace, layout: str) -> None:
    session = ns.session("s")
    session.add("user", "When is the tide?")
    words = "The harbour has a crane. " * 250
    session.extend([call("c1"), result("c1", words), call("c2"), result("c2", f"{words}The tide is at six. {words}")])
    first, second = (turn.id for turn in session.turns() if turn.message.role == "tool")
    prompt = session.prompt(model="gpt-4o", window=500, output=100, layout=layout)
    sent = prompt.messages("openai")
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "assistant", "tool"]
    assert sent[2]["content"] == f"[Tool result of {len(words)} characters, kept in full; to read it: expand {first}]"
    assert "The tide is at six." in str(sent[4]["content"])
    assert str(sent[4]["content"]).endswith(f"[… cut: kept in full; to read it: expand {second}]")
    assert prompt.ledger.total <= 400
    assert [(row.id, row.verdict) for row in prompt.turns] == [(first, "shortened"), (second, "shortened")]
    assert [turn.id for turn in session.expand(first)] == [first]


def test_the_oldest_calls_leave_when_even_pointers_do_not_fit(ns: Namespace) -> None:
    session = ns.session("s")
    session.add("user", "When is the tide?")
    session.extend([each for n in range(20) for each in (call(f"c{n}"), result(f"c{n}", f"High at {n}"))])
    prompt = session.prompt(model="gpt-4o", window=220, output=100)
    sent = prompt.messages("openai")
    assert sent[0]["content"] == "When is the tide?"
    kept = (len(sent) - 1) // 2
    assert 0 < kept < 20
    assert [message["content"] for message in sent[2::2]] == [f"High at {n}" for n in range(20 - kept, 20)]
    assert prompt.ledger.total <= 120
    assert len(prompt.turns) == 2 * (20 - kept)


def test_a_question_over_the_window_says_what_is_too_large(ns: Namespace) -> None:
    session = ns.session("s")
    session.add("user", "When is the tide? " * 500)
    session.extend([call("c1"), result("c1")])
    with pytest.raises(BudgetError, match="the largest part is query"):
        session.prompt(window=500, output=100)


def test_a_limit_of_turns_never_cuts_the_open_exchange(sack: Haversack) -> None:
    limited = Haversack(replace(sack._core, memory=MemorySettings(max_history_turns=0)))
    session = limited.namespace("n").session("s")
    in_the_middle(session)
    sent = list(session.prompt(window=2000, output=100).messages("openai"))
    assert sent[-5]["content"] == "When is the tide?"
    assert [message for message in sent if message["content"] == "Hello"] == []
