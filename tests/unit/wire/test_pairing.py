"""Calls and results without ids."""

from haversack.model.message import Message, Role, ToolCall
from haversack.wire.pairing import pair


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
