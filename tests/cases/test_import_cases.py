"""The handed cases about imports, read from their own sample files where those are at hand."""

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from haversack.model.message import Image, Role, Text, ToolCall
from haversack.transfer import MemoryEntry, Problem, Reading, SessionEntry, read_files

SAMPLES = Path(os.environ.get("HAVERSACK_CASES", "../shared/cases")) / "samples"

pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="the handed samples are not here")


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
    "user: Which day do we water the tomatoes?",
    "assistant: Tuesdays and Fridays.",
    "user: Keep Tuesdays, drop Fridays.",
    "assistant: Done: Tuesdays only.",
]


def test_imp_01_the_live_thread_and_null_dates():
    held = sessions(found(SAMPLES / "chatgpt_conversations.json"))
    assert list(held) == ["c-0001", "c-0002"]
    assert lines(held["c-0001"]) == LIVE
    first, second = held["c-0002"].turns
    assert first.message.parts == (
        Image(url="file-service://file-000", width=64, height=64),
        Text("What is in this picture?"),
    )
    assert second.message.text == "A watering can."
    assert [turn.at for turn in (first, second)] == [datetime(2023, 11, 14, 22, 28, 20, tzinfo=UTC)] * 2
    assert [turn.at_guess for turn in (first, second)] == [False, True]


@pytest.mark.parametrize("current", [None, "no-such-node"])
def test_imp_01_without_a_live_node_the_newest_leaf_is_read(tmp_path: Path, current: str | None):
    results = found(changed_export(tmp_path, current_node=current))
    assert lines(sessions(results)["c-0001"]) == LIVE
    assert [one.warning for one in results if isinstance(one, Problem)] == [True]


def test_imp_01_a_circle_fails_one_conversation(tmp_path: Path):
    mapping = json.loads((SAMPLES / "chatgpt_conversations.json").read_text())[0]["mapping"]
    mapping["u1"]["parent"] = "a2b"
    results = found(changed_export(tmp_path, mapping=mapping))
    assert list(sessions(results)) == ["c-0002"]
    (problem,) = (one for one in results if isinstance(one, Problem))
    assert "conversation c-0001: its parents form a circle" in str(problem)
    assert not problem.warning


def test_imp_01_a_file_cut_half_way_keeps_what_is_whole(tmp_path: Path):
    data = (SAMPLES / "chatgpt_conversations.json").read_bytes()
    path = tmp_path / "conversations.json"
    path.write_bytes(data[: data.index(b"c-0002")])
    results = found(path)
    assert list(sessions(results)) == ["c-0001"]
    assert [(one.place, one.message) for one in results if isinstance(one, Problem)] == [
        ("element 2", "the file ends in the middle of it")
    ]


def test_imp_03_openai_lines():
    held = sessions(found(SAMPLES / "openai_messages.jsonl"))
    assert lines(held["s1"]) == [
        "system: You keep a garden diary.",
        "user: Compare both beds.",
        "assistant: ",
        "tool: moisture 40",
        "tool: moisture 55",
        "assistant: Bed 2 is wetter.",
    ]
    turns = held["s1"].turns
    assert [call.id for call in turns[2].message.tool_calls] == ["c1", "c2"]
    assert [turn.message.tool_call_id for turn in turns[3:5]] == ["c1", "c2"]
    assert turns[2].message.parts == ()
    assert held["s2"].turns[0].message.role is Role.SYSTEM
    assert held["s2"].turns[1].message.parts == (
        Text("Label this"),
        Image(url="data:image/png;base64,iVBORw0KGgo="),
    )


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("langchain_messages.json", ["lc1"]),
        ("sharegpt.json", ["call_1"]),
        ("anthropic_messages.json", ["tu1", "tu2"]),
        ("openai_responses_items.jsonl", ["call_1"]),
    ],
)
def test_imp_03_calls_and_results_are_paired(name: str, calls: list[str]):
    messages = [turn.message for turn in only(name).turns]
    assert [call.id for message in messages for call in message.tool_calls] == calls
    assert [message.tool_call_id for message in messages if message.role is Role.TOOL] == calls


def test_imp_03_langchain_dumpd():
    entry = only("langchain_dumpd.json")
    assert lines(entry) == ["user: Look up item 3", "assistant: "]
    assert entry.turns[1].message.tool_calls == (ToolCall(id="lc1", name="lookup", arguments='{"item":3}'),)


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
        "bed_1 (garden_bed): faces south",
        "bed_2 (garden_bed): clay soil",
        "bed_1 next_to bed_2",
    ]
    assert [(one.place, one.warning) for one in results if isinstance(one, Problem)] == [("line 4", False)]


def test_sto_03_a_file_without_a_byte(tmp_path: Path):
    path = tmp_path / "empty.jsonl"
    path.touch()
    assert found(path) == []
