from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Any

import pytest

from haversack.chat.commands import COMMANDS
from haversack.chat.dispatch import is_command, leaves, names, options_of
from haversack.compaction import CompactionConfig


def last_id(shown: str) -> str:
    return re.findall(r"[0-9A-HJKMNP-TV-Z]{26}", shown)[-1]


def test_every_command_has_an_example_and_prints_json_where_it_prints_data(room: Any) -> None:
    here = room()
    for name, command in COMMANDS.items():
        shown = here.say(f"/help {name}")
        assert f"Usage: /{name} " in shown
        assert re.search(rf"Examples?:\n +/{name}", shown), name
        assert "--json" in options_of(name), name
        assert command.help
    assert {f"/{name}" for name in COMMANDS} <= set(re.findall(r"/[a-z-]+", here.say("/help")))


def test_lines_that_are_no_commands(room: Any) -> None:
    assert is_command("/help")
    assert not is_command("//etc/hosts is a file")
    assert leaves("/exit")
    assert leaves("/quit ")
    assert not leaves("exit")
    here = room()
    here.say("//etc/hosts is a file")
    assert here.turns() == [("user", "/etc/hosts is a file")]
    here.say("   ")
    assert len(here.turns()) == 1
    assert not here.chat.take("/exit")


def test_mistakes_name_what_is_near(room: Any) -> None:
    here = room()
    here.say("/contxt")
    assert here.paper.notes == ["no command /contxt: did you mean 'context'?; // sends a message that begins with /"]
    here.say("/context --debgu x")
    assert "--debug" in here.paper.notes[0]
    here.say("/lifecycle --exec")
    assert "--exec" in here.paper.notes[0]
    here.say("/context")
    assert here.paper.notes == ["nothing was said yet: say something first, or give a query"]
    here.say("/remember -5 degrees")
    assert "text that begins with a dash goes behind --, as in: /remember -- WORDS..." in here.paper.notes[0]
    here.say("/help nothing")
    assert "no command /nothing" in here.paper.notes[0]


def test_words_need_no_quotes(room: Any) -> None:
    here = room()
    here.say("""/remember Alice's cat likes "salty  fish" \\o/ --tag cat --entity Alice""")
    (kept,) = here.talk.ns.everything()
    assert kept.content == "Alice's cat likes salty  fish \\o/"
    assert (kept.tags, kept.entities) == (("cat",), ("Alice",))
    here.say('/remember an "open quote')
    assert here.talk.ns.everything()[0].content == 'an "open quote'


def test_what_is_there_is_listed(room: Any) -> None:
    here = room()
    assert "nothing is remembered yet" in here.say("/memory")
    here.say("/remember Alice prefers metric units --entity Alice")
    here.say("/remember Ask before sailing --kind insight")
    here.say("/remember Alice is a sailor --kind entity --entity Alice")
    assert here.say("/memory").startswith("alice: 3 memories (1 entity, 1 fact, 1 insight), 0 sessions, 0 turns")
    assert "Alice prefers metric units" in here.say("/memory metric units --kind fact")
    assert "Alice prefers metric units" in here.say("/facts")
    assert "Ask before sailing" not in here.say("/facts")
    assert "Ask before sailing" in here.say("/insights")
    assert "Ask before sailing" in here.say("/insights sailing")
    assert "Alice 2" in here.say("/entities")
    assert here.say("/summaries") == "none yet"
    here.say("Hello")
    assert "Hello" in here.say("/transcript")
    assert "this one" in here.say("/sessions")
    assert "Hello" in here.say("/sessions s")
    here.say("/memory --json")
    assert here.paper.values[0]["counts"]["turns"] == 1


def test_what_the_model_sees_is_explained(room: Any) -> None:
    here = room("Metric.")
    kept = last_id(here.say("/remember Alice prefers metric units"))
    here.say("Which units does Alice like?")
    assert "Alice prefers metric units" in here.say("/context")
    shown = here.say("/context metric --budget 200 --debug")
    assert "of 200 tokens (exact count)" in shown
    assert f"kept fits 6" in shown  # noqa: F541 - reads as the row does
    whole = here.say("/prompt")
    assert "Be brief." in whole
    assert "Which units does Alice like?" in whole
    assert here.paper.notes == ["this holds private content: what you said, and what is remembered"]
    here.say("/prompt what else --shape anthropic --json")
    assert here.paper.values[0]["request"]["system"] == "Be brief."
    assert "in the last prompt: kept in memories, fits" in here.say(f"/why {kept}")
    assert "kept at pack: fits" in here.say(f"/why {kept} metric units")
    assert "normal" in here.say("/debug-budget")
    assert "no tools" in here.say("/tool-budget")
    assert "recency 1.00 (+0.10)" in here.say("/debug-retrieval metric")
    assert "Alice prefers metric units" in here.say("/prime")


def test_forgetting_previews(room: Any) -> None:
    here = room()
    kept = last_id(here.say("/remember Alice prefers metric units"))
    here.say(f"/forget {kept}")
    assert here.paper.notes == ["a preview: add --execute to do it"]
    assert here.talk.ns.get(kept).content
    here.say(f"/forget {kept} --hard --execute")
    assert here.paper.notes == []
    here.say(f"/why {kept} units")
    assert "no memory" in here.paper.notes[0]


def test_compacting_and_opening_again(room: Any) -> None:
    here = room("A long answer about the harbour, the tide and the boat. " * 6)
    for number in range(8):
        here.say(f"Tell me of day {number}, when we sailed to Veere with the boat number {number}.")
    shown = here.say("/compact")
    assert shown.startswith("done: 12 turns behind a summary")
    summary = last_id(shown)
    assert summary in here.say("/summaries")
    assert "Tell me of day 0" in here.say(f"/expand {summary}")
    here.say(f"/expand {summary} --reopen")
    assert here.say("/transcript --limit 2").count("harbour") == 6


def test_compaction_that_is_switched_off_says_so(room: Any) -> None:
    here = room("Yes.", compaction=CompactionConfig(enabled=False))
    here.say("/compact")
    assert here.paper.notes == ["compaction is switched off by memory.compaction.enabled: false"]
    here.say("Hello?")
    assert "compaction off" in here.say("/debug-budget")


def test_files_are_new_private_and_whole(room: Any, tmp_path: Path) -> None:
    here = room("Metric.")
    here.say("Which units?")
    target = tmp_path / "out.jsonl"
    here.say(f"/export {target}")
    assert here.paper.notes == ["the file holds private content: keep it as private as the store"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert b"Which units?" in target.read_bytes()
    before = target.read_bytes()
    here.say(f"/export {target}")
    assert "exists: give the name of a new file" in here.paper.notes[0]
    assert target.read_bytes() == before
    here.say(f"/export {tmp_path / 'talk.md'} --transcript")
    assert "**user** (" in (tmp_path / "talk.md").read_text()
    here.say(f"/context units --file {tmp_path / 'c.md'}")
    assert "private content" in here.paper.notes[0]
    here.say(f"/prompt --file {tmp_path / 'p.json'}")
    assert (tmp_path / "p.json").read_bytes().startswith(b'{"messages":')
    here.say(f"/prompt --file {tmp_path / 'no' / 'p.json'}")
    assert "cannot be written" in here.paper.notes[-1]


def test_lifecycle_previews(room: Any) -> None:
    here = room()
    assert "would change 0" in here.say("/lifecycle")
    assert here.paper.notes == ["a preview: add --execute to do it"]
    assert "changed 0" in here.say("/lifecycle --execute")


def test_maintenance_previews_and_asks(room: Any) -> None:
    here = room("Yes.")
    here.say("/remember Alice prefers metric units")
    for line in ("/reorganize", "/reorganize --step dedupe"):
        assert "would hide 0 duplicates" in here.say(line)
        assert here.paper.notes == ["a preview: add --execute to do it"]
    assert "takes it back" in here.say("/reorganize --execute")
    shown = here.say("/reset")
    assert "would erase for good: 1 memories" in shown
    assert "to do it: /reset --execute --confirm alice" in shown
    here.say("/reset --execute --confirm bob")
    assert here.paper.notes[0].startswith("confirmation: ")
    assert len(here.talk.ns.everything()) == 1
    assert "erased for good" in here.say("/reset --execute --confirm alice")
    assert here.talk.ns.everything() == []
    assert here.talk.session.id != "s"
    assert "would copy 0 memories" in here.say("/migrate --to other.db")
    assert here.say("/doctor").endswith("last snapshot never\nsound")


def test_a_store_without_files_says_so(room: Any) -> None:
    here = room()
    for line in ("/migrate", "/snapshot", "/snapshot --execute", "/restore x.snapshot", "/migrate --to y.db --execute"):
        here.say(line)
        assert here.paper.notes[0].startswith("capability: "), line


def test_turns_behind_a_summary_are_marked(room: Any) -> None:
    here = room("A long answer about the harbour, the tide and the boat. " * 6)
    for number in range(8):
        here.say(f"Tell me of day {number}, when we sailed to Veere with the boat number {number}.")
    summary = last_id(here.say("/compact"))
    assert here.say("/transcript").count(f"[behind summary {summary}]") == 12


@pytest.mark.parametrize(
    "line", ["/memory", "/facts", "/entities", "/sessions", "/transcript", "/prime", "/cost", "/help"]
)
def test_json_everywhere_when_the_screen_wants_it(room: Any, line: str) -> None:
    here = room(as_json=True)
    assert here.say(line) == ""
    assert len(here.paper.values) == 1


def test_completion_knows_every_name() -> None:
    assert set(COMMANDS) < set(names())
    assert options_of("context") == ["--budget", "--debug", "--file", "--json"]
    assert options_of("nothing") == []
