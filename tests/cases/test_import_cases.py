"""The cases about imports, read from sample files in the shapes that other programs write."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from haversack.model.message import Image, Role, Text, ToolCall
from haversack.transfer import MemoryEntry, Problem, Reading, SessionEntry, read_files

SAMPLES = Path(__file__).parent / "samples"


def found(*paths: Path) -> list[Any]:
    return list(read_files(paths))


def sessions(found: Sequence[Any]) -> dict[str, SessionEntry]:
    return {one.session: one for one in found if isinstance(one, SessionEntry)}


def lines(entry: SessionEntry) -> list[str]:
    return [f"{turn.message.role}: {turn.message.text}" for turn in entry.turns]


def only(name: str) -> SessionEntry:
    (entry,) = found(SAMPLES / name)
    return entry


def changed_export(tmp_path: Path, **first: Any) -> Path:
    """The ChatGPT sample with fields of its first conversation changed; None takes a field away."""
    data = json.loads((SAMPLES / "chatgpt_conversations.json").read_text())
    for key, value in first.items():
        data[0].pop(key)
        data[0].update({} if value is None else {key: value})
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(data))
    return path


LIVE = [
    "user: When does the ferry leave?",
    "assistant: At eight and at noon.",
    "user: Put us on the one at eight.",
    "assistant: Two seats at eight, then.",
]


def test_imp_01_the_live_thread_and_null_dates():
    held = sessions(found(SAMPLES / "chatgpt_conversations.json"))
    assert list(held) == ["ferry-1", "ferry-2"]
    assert lines(held["ferry-1"]) == LIVE
    first, second = held["ferry-2"].turns
    assert first.message.parts == (
        Image(url="file-service://file-quay", width=48, height=32),
        Text("Which boat is this?"),
    )
    assert second.message.text == "A pilot cutter."
    assert [turn.at for turn in (first, second)] == [datetime(2024, 3, 9, 16, 15, tzinfo=UTC)] * 2
    assert [turn.at_guess for turn in (first, second)] == [False, True]


@pytest.mark.parametrize("current", [None, "no-such-node"])
def test_imp_01_without_a_live_node_the_newest_leaf_is_read(tmp_path: Path, current: str | None):
    results = found(changed_export(tmp_path, current_node=current))
    assert lines(sessions(results)["ferry-1"]) == LIVE
    assert [one.warning for one in results if isinstance(one, Problem)] == [True]


def test_imp_01_a_circle_fails_one_conversation(tmp_path: Path):
    mapping = json.loads((SAMPLES / "chatgpt_conversations.json").read_text())[0]["mapping"]
    mapping["ask"]["parent"] = "final"
    results = found(changed_export(tmp_path, mapping=mapping))
    assert list(sessions(results)) == ["ferry-2"]
    (problem,) = (one for one in results if isinstance(one, Problem))
    assert "conversation ferry-1: its parents form a circle" in str(problem)
    assert not problem.warning


def test_imp_01_a_file_cut_half_way_keeps_what_is_whole(tmp_path: Path):
    data = (SAMPLES / "chatgpt_conversations.json").read_bytes()
    path = tmp_path / "conversations.json"
    path.write_bytes(data[: data.index(b"ferry-2")])
    results = found(path)
    assert list(sessions(results)) == ["ferry-1"]
    assert [(one.place, one.message) for one in results if isinstance(one, Problem)] == [
        ("element 2", "the file ends in the middle of it")
    ]


def test_imp_03_openai_lines():
    held = sessions(found(SAMPLES / "openai_messages.jsonl"))
    assert lines(held["s1"]) == [
        "system: You keep the harbour log.",
        "user: Compare the two tides.",
        "assistant: ",
        "tool: height 2.1",
        "tool: height 3.4",
        "assistant: Dusk is higher.",
    ]
    turns = held["s1"].turns
    assert [call.id for call in turns[2].message.tool_calls] == ["c1", "c2"]
    assert [turn.message.tool_call_id for turn in turns[3:5]] == ["c1", "c2"]
    assert turns[2].message.parts == ()
    assert held["s2"].turns[0].message.role is Role.SYSTEM
    assert held["s2"].turns[1].message.parts == (
        Text("Name this flag"),
        Image(url="data:image/png;base64,iVBORw0KGgo="),
    )


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("langchain_messages.json", ["b1"]),
        ("sharegpt.json", ["call_1"]),
        ("anthropic_messages.json", ["t1", "t2"]),
        ("openai_responses_items.jsonl", ["k1"]),
    ],
)
def test_imp_03_calls_and_results_are_paired(name: str, calls: list[str]):
    messages = [turn.message for turn in only(name).turns]
    assert [call.id for message in messages for call in message.tool_calls] == calls
    assert [message.tool_call_id for message in messages if message.role is Role.TOOL] == calls


def test_imp_03_langchain_dumpd():
    entry = only("langchain_dumpd.json")
    assert lines(entry) == ["user: Find a berth for nine metres", "assistant: "]
    assert entry.turns[1].message.tool_calls == (ToolCall(id="b1", name="find_berth", arguments='{"length":9}'),)


def test_imp_03_a_mark_a_blank_line_and_a_bad_line(tmp_path: Path):
    first, second = (SAMPLES / "openai_messages.jsonl").read_text().splitlines()
    path = tmp_path / "log.jsonl"
    path.write_text(f"\ufeff\n{first}\noops\n{second}\n")
    results = found(path)
    assert list(sessions(results)) == ["s1", "s2"]
    assert [one.place for one in results if isinstance(one, Problem)] == ["line 3"]


@pytest.mark.parametrize("name", ["openai_messages.jsonl", "langchain_messages.json", "sharegpt.json"])
def test_imp_03_twice_is_the_same_keys(name: str):
    path = SAMPLES / name
    assert found(path) == found(path)


def test_imp_03_runs_that_repeat_earlier_messages(tmp_path: Path):
    messages = json.loads((SAMPLES / "openai_messages.jsonl").read_text().splitlines()[0])["messages"]
    messages.append({"role": "user", "content": "Thanks."})
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps({"session_id": "s", "messages": messages[:n]}) + "\n" for n in (3, 5, 7)))
    turns = [turn for entry in found(path) for turn in entry.turns]
    assert len(turns) == 15
    assert len({turn.key for turn in turns}) == 7


def test_sto_03_a_torn_last_record():
    reading: Reading = read_files([SAMPLES / "mcp_memory_torn.jsonl"])
    results = list(reading)
    assert [one.content for one in results if isinstance(one, MemoryEntry)] == [
        "pier_1 (pier): has a crane",
        "pier_2 (pier): is for ferries",
        "pier_1 north_of pier_2",
    ]
    assert [(one.place, one.warning) for one in results if isinstance(one, Problem)] == [("line 4", False)]


def test_sto_03_a_file_without_a_byte(tmp_path: Path):
    path = tmp_path / "empty.jsonl"
    path.touch()
    assert found(path) == []
