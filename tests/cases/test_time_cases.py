"""The handed cases about time on import, and about a clock that stepped back."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from haversack.errors import InputError
from haversack.model.memory import Turn
from haversack.model.message import Message, Role, Text, ToolCall
from haversack.model.times import read_time
from haversack.transfer import Problem, SessionEntry, read_files
from haversack.transfer.writing import dump_header, dump_turn, render_line

MOMENT = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


def import_one(tmp_path: Path, **time: Any) -> tuple[SessionEntry, list[Problem]]:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"role": "user", "content": "x", **time}))
    found = list(read_files([path]))
    (entry,) = (one for one in found if isinstance(one, SessionEntry))
    return entry, [one for one in found if isinstance(one, Problem)]


@pytest.mark.parametrize(
    "value",
    [
        1700000000,
        1700000000.0,
        1700000000000,
        "1700000000",
        "1700000000000",
        "2023-11-14T22:13:20Z",
        "2023-11-14 22:13:20+00:00",
        "2023-11-14t22:13:20z",
    ],
)
def test_time_04_every_spelling_is_the_same_instant(tmp_path: Path, value: Any):
    entry, problems = import_one(tmp_path, timestamp=value)
    assert [(turn.at, turn.at_guess) for turn in entry.turns] == [(MOMENT, False)]
    assert problems == []


@pytest.mark.parametrize("time", [{}, {"timestamp": None}, {"timestamp": ""}])
def test_time_04_no_time_is_marked(tmp_path: Path, time: dict[str, Any]):
    entry, problems = import_one(tmp_path, **time)
    assert [(turn.at, turn.at_guess, turn.metadata) for turn in entry.turns] == [(None, True, {"time_from": "import"})]
    assert problems == []


@pytest.mark.parametrize("value", ["yesterday", -1, 0, 100000000000000000000, True, ["2023"]])
def test_time_04_an_impossible_time_is_named_and_marked(tmp_path: Path, value: Any):
    entry, (problem,) = import_one(tmp_path, timestamp=value)
    assert [(turn.at, turn.at_guess) for turn in entry.turns] == [(None, True)]
    assert problem.warning
    assert problem.message.startswith(f"timestamp={value!r} is not a time: ")


def test_time_04_a_number_beyond_all_floats_is_no_time() -> None:
    with pytest.raises(InputError, match="at=1000"):
        read_time(10**400, "at")


def test_time_03_export_and_import_keep_the_order_of_appending(tmp_path: Path):
    said = [
        (100.0, Message(role=Role.USER, parts=(Text("a"),))),
        (105.0, Message(role=Role.ASSISTANT, tool_calls=(ToolCall(id="c1", name="f", arguments="{}"),))),
        (95.0, Message(role=Role.TOOL, tool_call_id="c1", parts=(Text("b"),))),
        (95.0, Message(role=Role.ASSISTANT, parts=(Text("c"),))),
        (95.0, Message(role=Role.USER, parts=(Text("d"),))),
    ]
    turns = [
        Turn(id=f"t{number}", session="s", message=message, at=datetime.fromtimestamp(at, UTC))
        for number, (at, message) in enumerate(said)
    ]
    path = tmp_path / "export.jsonl"
    path.write_bytes(b"".join(map(render_line, [dump_header(), *map(dump_turn, turns)])))
    assert list(read_files([path])) == turns
