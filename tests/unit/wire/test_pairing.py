"""Calls and results without ids, or with ids that others have."""

from datetime import UTC, datetime

from haversack.model.memory import Turn
from haversack.model.message import Message, Role, ToolCall
from haversack.wire.pairing import pair, pair_turns


def call(name: str, id_: str = ""):
    return ToolCall(id=id_, name=name, arguments="{}")


def ask(*calls: ToolCall):
    return Message(role=Role.ASSISTANT, tool_calls=calls)


def answer(id_: str | None = None, name: str | None = None):
    return Message(role=Role.TOOL, tool_call_id=id_, name=name)


def ids(messages: list[Message]):
    return [[c.id for c in m.tool_calls] or m.tool_call_id for m in messages]


def test_by_order():
    assert ids(pair([ask(call("f"), call("g")), answer(), answer()])) == [["call_1", "call_2"], "call_1", "call_2"]


def test_by_name_before_order():
    assert ids(pair([ask(call("f"), call("g")), answer(name="g"), answer(name="f")])) == [
        ["call_1", "call_2"],
        "call_2",
        "call_1",
    ]


def test_given_ids_stay_and_are_never_taken_twice():
    assert ids(pair([ask(call("f", "call_1"), call("g")), answer("call_1"), answer()])) == [
        ["call_1", "call_2"],
        "call_1",
        "call_2",
    ]


def test_a_result_without_any_call_gets_an_id_of_its_own():
    assert ids(pair([answer(), ask(call("f"))])) == ["call_1", ["call_2"]]


def test_an_id_that_is_used_again_gives_way_and_its_result_follows():
    again = [ask(call("f", "x")), answer("x"), ask(call("f", "x"), call("g", "x")), answer("x"), answer("x")]
    assert ids(pair(again)) == [["x"], "x", ["call_1", "call_2"], "call_1", "call_2"]


def test_a_result_answers_the_newest_call_that_came_with_its_id():
    assert ids(pair([ask(call("f", "x")), ask(call("f", "x")), answer("x")])) == [["x"], ["call_1"], "call_1"]


def test_a_result_without_an_id_leaves_calls_with_ids_to_theirs():
    assert ids(pair([ask(call("f", "x"), call("f")), answer(), answer("x")])) == [["x", "call_1"], "call_1", "x"]


def test_ids_of_turns_do_not_depend_on_where_the_list_begins():
    said = [ask(call("f")), answer(), ask(call("f"), call("g")), answer(), answer()]
    at = datetime(2026, 1, 1, tzinfo=UTC)
    turns = [Turn(id=str(n), session="s", message=one, at=at, position=n) for n, one in enumerate(said, start=7)]
    whole = pair_turns(turns)
    assert ids([turn.message for turn in whole]) == [
        ["call_7_1"],
        "call_7_1",
        ["call_9_1", "call_9_2"],
        "call_9_1",
        "call_9_2",
    ]
    assert pair_turns(turns[2:]) == whole[2:]
