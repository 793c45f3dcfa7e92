from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from haversack.chat.pipe import joined
from haversack.chat.settings import ChatSettings, ToolServer
from haversack.chat.spending import Spent
from haversack.chat.status import compaction_state, status_line
from haversack.chat.talk import choose_session
from haversack.compaction import CompactionConfig
from haversack.config import load_config
from haversack.errors import ConfigError, NotFoundError

NOW = datetime(2026, 3, 1, 12, 0, 5, tzinfo=UTC)


def test_a_backslash_goes_on_in_the_next_line() -> None:
    assert list(joined(["one\\\n", "two\n", "three\r\n", "four\\\n"])) == ["one\ntwo", "three", "four"]


def test_a_new_session_is_named_by_the_time_and_never_an_old_one(room: Any) -> None:
    ns = room().talk.ns
    first = choose_session(ns, None, resume=False, now=NOW)
    assert first.id == "2026-03-01T12:00:05"
    first.add("user", "Hello")
    assert choose_session(ns, None, resume=False, now=NOW).id == "2026-03-01T12:00:05-2"
    assert choose_session(ns, "trip", resume=False, now=NOW).id == "trip"


def test_resuming_needs_something_to_resume(room: Any) -> None:
    ns = room().talk.ns
    with pytest.raises(NotFoundError, match="no session to resume"):
        choose_session(ns, None, resume=True, now=NOW)
    ns.session("first").add("user", "Hello", at="2026-01-01T00:00:00Z")
    ns.session("second").add("user", "Hello", at="2026-01-02T00:00:00Z")
    assert choose_session(ns, None, resume=True, now=NOW).id == "second"
    assert choose_session(ns, "first", resume=True, now=NOW).id == "first"
    with pytest.raises(NotFoundError, match="'second', 'first'"):
        choose_session(ns, "third", resume=True, now=NOW)


def test_the_status_line_says_what_is_used(room: Any) -> None:
    here = room("Yes.", window=1500)
    assert status_line(here.talk) == "nothing sent yet · compaction on request · $0.0000 · s"
    here.say("word " * 750)
    line = status_line(here.talk)
    assert line.startswith("76")
    assert " of 1,000 tokens (7" in line
    assert " · elevated · compaction on request · " in line
    assert status_line(room().talk) == "nothing sent yet · compaction on request · no service · s"


def test_compaction_states(room: Any) -> None:
    assert compaction_state(room(compaction=CompactionConfig(enabled=False)).talk) == "off"
    here = room("Yes.", compaction=CompactionConfig(), window=1500)
    assert compaction_state(here.talk) == "idle"
    here.say("Hello")
    here.talk.session.monitor.mark_compaction_started()
    assert compaction_state(here.talk) == "running"


def test_a_sum_with_an_unknown_price_has_no_price() -> None:
    known = Spent(calls=1, input_tokens=10, output_tokens=2, dollars=0.5)
    assert str(known + known) == "$1.0000"
    assert str(known + Spent(calls=1, input_tokens=5, output_tokens=1, dollars=None)) == "15 + 3 tokens"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rounds": 0}, "chat.rounds=0 must be a whole number of at least 1"),
        ({"result_tokens": True}, "chat.result_tokens=True"),
    ],
)
def test_settings_out_of_range(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        ChatSettings(**settings)


def test_a_tool_server_is_a_program_or_an_address() -> None:
    for wrong in ({}, {"command": ("x",), "url": "http://127.0.0.1/mcp"}, {"url": "http://127.0.0.1", "seconds": 0}):
        with pytest.raises(ConfigError):
            ToolServer(**wrong)  # pyright: ignore[reportArgumentType]


def test_the_section_of_the_file_is_strict(tmp_path: Any) -> None:
    file = tmp_path / "h.yaml"
    file.write_text("chat:\n  service: local\n  tools:\n    files: {command: [mcp-files, docs], env: [HOME]}\n")
    chat = load_config(file, {}).chat
    assert chat.tools["files"].command == ("mcp-files", "docs")
    assert chat.tools["files"].env == ("HOME",)
    file.write_text("chat:\n  tools:\n    files: {comand: [x]}\n")
    with pytest.raises(ConfigError, match=r"chat\.tools\.files\.comand: did you mean 'command'\?"):
        load_config(file, {})
