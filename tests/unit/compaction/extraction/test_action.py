from __future__ import annotations

import pytest

from haversack.compaction.extraction.action import Action, Event, read_actions
from haversack.compaction.extraction.structured import parse, shown_ids
from haversack.errors import ServiceError
from haversack.model.memory import Kind

SHOWN = {"0": "m-a", "1": "m-b"}


@pytest.mark.parametrize(
    ("raw", "action"),
    [
        ({"event": "ADD", "text": " x "}, Action(event=Event.ADD, text="x")),
        (
            {
                "event": "add",
                "kind": "Profile",
                "text": "x",
                "subject": " Alice/City ",
                "evidence": "e",
                "importance": 7,
            },
            Action(event=Event.ADD, kind=Kind.PROFILE, text="x", subject="alice/city", evidence="e", importance=1.0),
        ),
        ({"event": "UPDATE", "id": 1, "text": "x"}, Action(event=Event.UPDATE, text="x", target="m-b")),
        ({"event": "DELETE", "id": "0"}, Action(event=Event.DELETE, target="m-a")),
        (
            {"event": "ADD", "text": "x", "entities": ["Bob", 3, ""], "importance": "high", "subject": 4, "id": "9"},
            Action(event=Event.ADD, text="x", entities=("Bob",)),
        ),
        ({"event": "ADD", "text": "x", "importance": float("nan")}, Action(event=Event.ADD, text="x")),
    ],
)
def test_what_can_be_read(raw: object, action: Action) -> None:
    assert read_actions([raw], SHOWN) == ([(0, action)], [])


@pytest.mark.parametrize(
    ("raw", "id_", "reason"),
    [
        ("text", None, "not an object"),
        ({"id": "1", "text": "x"}, "1", "no event"),
        ({"event": "PURGE", "id": "1"}, "1", "unknown event 'PURGE'; known: ADD, UPDATE, DELETE"),
        ({"event": "UPDATE", "id": "17", "text": "x"}, "17", "unknown id"),
        ({"event": "DELETE"}, None, "unknown id"),
        ({"event": "DELETE", "id": True}, None, "unknown id"),
        ({"event": "UPDATE", "id": "0"}, "0", "no text"),
        ({"event": "ADD", "text": " "}, None, "no text"),
        ({"event": "ADD", "text": "x", "kind": "fackt"}, None, "unknown kind 'fackt'; did you mean 'fact'?"),
        ({"event": "ADD", "text": "x", "kind": "passage"}, None, "unknown kind 'passage'"),
    ],
)
def test_what_cannot_be_read_is_told(raw: object, id_: str | None, reason: str) -> None:
    valid, (skipped,) = read_actions([raw], SHOWN)
    assert valid == []
    assert (skipped.index, skipped.id) == (0, id_)
    assert skipped.reason.startswith(reason)


@pytest.mark.parametrize(
    "reply",
    [
        '{"actions": [1]}',
        "[1]",
        '```json\n{"actions": [1]}\n```',
        '<think>{"actions": [2]}</think>{"actions": [1]}',
        'Here you are: {"actions": [1]} Bye',
    ],
)
def test_actions_are_found_in_a_reply(reply: str) -> None:
    assert parse(reply) == [1]


@pytest.mark.parametrize("reply", ["", "none", "{", '{"actions": 3}', '{"a": []}', "[" * 100_000])
def test_a_reply_without_actions_is_a_service_error(reply: str) -> None:
    with pytest.raises(ServiceError):
        parse(reply)


def test_the_ids_shown_are_short() -> None:
    assert shown_ids([]) == {}
