"""The law of pairs over logs as they come: ids missing or used twice, calls unanswered, stray results, blank turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from haversack.errors import BudgetError, InputError

from .places import Setup, everywhere

IDS = st.sampled_from(["", "same", "same", "a", "b"])
WORDS = st.sampled_from(["", " ", "rig the boat", "the tide turns at four " * 9])
CALLS = st.lists(st.tuples(IDS, st.sampled_from(["f", "g"])), min_size=1, max_size=3)
STEP = st.one_of(
    st.tuples(st.sampled_from(["user", "assistant", "system"]), WORDS),
    st.tuples(st.just("calls"), CALLS),
    st.tuples(st.just("tool"), IDS),
)


def message_of(step: tuple[str, Any]) -> dict[str, Any]:
    kind, said = step
    if kind == "calls":
        calls = [{"id": id_, "function": {"name": name, "arguments": "{}"}} for id_, name in said]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    if kind == "tool":
        return {"role": "tool", "content": "done", "tool_call_id": said or None}
    return {"role": kind, "content": said}


@everywhere
@given(st.lists(STEP, max_size=20), st.integers(40, 400), st.sampled_from(["which boat?", None]), st.booleans())
def test_whatever_a_log_lacks_calls_and_results_stay_together(
    setup: Setup, steps: list[tuple[str, Any]], window: int, query: str | None, compacted: object
) -> None:
    with setup.open() as sack:
        session = sack.namespace("n").session("s")
        session.extend([message_of(step) for step in steps])
        if compacted:
            session.compact()
        try:
            prompt = session.prompt(query, model="cl100k_base", window=window, output=0)
        except BudgetError:
            return
        except InputError:
            if query is not None:
                raise
            return
    check_openai(prompt.messages("openai"))
    check_anthropic(prompt.messages("anthropic"))


def check_openai(messages: Sequence[Mapping[str, Any]]) -> None:
    """Every result answers a call of the message before it; every call is answered, by an id of its own."""
    waiting: set[str] = set()
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting
            waiting.discard(message["tool_call_id"])
            continue
        assert not waiting
        called = [call["id"] for call in message.get("tool_calls", ())]
        waiting = set(called)
        assert len(waiting) == len(called)
        assert not waiting & seen
        seen |= waiting
    assert not waiting


def check_anthropic(messages: Sequence[Mapping[str, Any]]) -> None:
    """Roles take turns, the user first; the results of a message answer exactly the calls of the one before it."""
    assert [message["role"] for message in messages] == (["user", "assistant"] * len(messages))[: len(messages)]
    waiting: list[str] = []
    for message in messages:
        blocks = message["content"] if isinstance(message["content"], list) else []
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert sorted(answered) == sorted(waiting)
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert not waiting
