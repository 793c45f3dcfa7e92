from __future__ import annotations

from typing import Any

import pytest

from haversack.engine.namespace import Namespace
from haversack.engine.session import TurnDraft
from haversack.errors import InputError
from haversack.model.message import Message, Role, Text

CALL = {"id": "c1", "type": "function", "function": {"name": "find_place", "arguments": '{"kind":"bike"}'}}


def test_a_turn_is_recallable_at_once_with_its_metadata(ns: Namespace) -> None:
    turn = ns.session("s").add("user", "Let's plan the trip to Lisbon", name="Alice", metadata={"turn": "D1:3"})
    (hit,) = ns.recall("Lisbon")
    assert (hit.memory.speaker, hit.content, dict(hit.metadata)) == (
        "Alice",
        "Let's plan the trip to Lisbon",
        {"turn": "D1:3"},
    )
    assert (hit.memory.source.session, hit.memory.source.turns) == ("s", (turn.id,))
    assert hit.memory.event_time == turn.at


def test_turns_keep_the_order_of_appending_whatever_the_clock_says(ns: Namespace) -> None:
    session = ns.session("s")
    said: list[tuple[str, float, dict[str, Any]]] = [
        ("user", 100.0, {}),
        ("assistant", 105.0, {"tool_calls": [CALL]}),
        ("tool", 95.0, {"tool_call_id": "c1"}),
        ("assistant", 95.0, {}),
        ("user", 95.0, {}),
    ]
    for role, second, more in said:
        session.add(role, f"said at {second}", at=1_700_000_000 + second, **more)
    roles = [turn.message.role for turn in session.turns()]
    assert roles == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT, Role.USER]
    pages, after = [], -1
    while page := session.turns(after=after, limit=2):
        pages.append([turn.position for turn in page])
        after = page[-1].position
    assert pages == [[0, 1], [2, 3], [4]]
    assert [turn.at.timestamp() - 1_700_000_000 for turn in session.turns()] == [100, 105, 95, 95, 95]


def test_many_turns_are_one_transaction(ns: Namespace) -> None:
    session = ns.session("s")
    with pytest.raises(InputError):
        session.extend([{"role": "user", "content": "fine"}, {"role": "wizard", "content": "?"}])
    assert session.turns() == []
    added = session.extend([{"role": "user", "content": "a question"}, {"role": "assistant", "content": "an answer"}])
    assert [turn.position for turn in added] == [0, 1]
    assert session.extend([]) == []


def test_a_turn_with_a_known_key_is_not_added_again(ns: Namespace) -> None:
    session = ns.session("s")
    drafts = [
        TurnDraft(message=Message(role=Role.USER, parts=(Text(word),)), key=word) for word in ("one", "two", "three")
    ]
    assert len(session.append(drafts[:2])) == 2
    assert [turn.key for turn in session.append(drafts)] == ["three"]
    assert len(ns.recall("one two three", top_k=10)) == 3


def test_a_call_is_found_by_its_arguments_and_a_system_prompt_is_not_recalled(ns: Namespace) -> None:
    ns.session("s").extend(
        [
            {"role": "system", "content": "You keep a bike diary."},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "open till six"},
        ]
    )
    speakers = {hit.memory.speaker for hit in ns.recall("bike find_place six", top_k=10)}
    assert speakers == {"assistant", "tool"}
    assert {type(each) for each in speakers} == {str}  # as they come back from a file


def test_times_and_metadata_may_ride_on_the_message(ns: Namespace) -> None:
    (turn,) = ns.session("s").extend([{"role": "user", "content": "x", "at": "2026-01-01", "metadata": {"n": 1}}])
    assert (turn.at.isoformat(), dict(turn.metadata)) == ("2026-01-01T00:00:00+00:00", {"n": 1})


def test_a_misspelt_keyword_or_no_list_is_refused(ns: Namespace) -> None:
    session = ns.session("s")
    with pytest.raises(InputError, match="did you mean 'tool_calls'"):
        session.add("assistant", "x", toolcalls=[])
    for one in (None, {"role": "user", "content": "x"}):
        with pytest.raises(InputError, match="extend takes a list"):
            session.extend(one)  # pyright: ignore[reportArgumentType]
    assert session.turns() == []


@pytest.mark.parametrize("message", ["text", 7, None, {"content": "no role"}])
def test_what_is_no_message_is_refused(ns: Namespace, message: Any) -> None:
    with pytest.raises(InputError):
        ns.session("s").extend([message])
