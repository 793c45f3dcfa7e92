"""A person at the keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import haversack

pytest.importorskip("prompt_toolkit")
pytest.importorskip("openai")

ID = r"[0-9A-HJKMNP-TV-Z]{26}"
COMPACTION = {"enabled": True, "min_turns_to_summarize": 2}


def last_id(shown: str) -> str:
    return re.findall(ID, shown)[-1]


def turns(tmp_path: Path, session: str) -> list[tuple[str, str, Any]]:
    with haversack.open(tmp_path / "haversack.db") as sack:
        said = sack.namespace("default").session(session).turns()
        return [(str(turn.message.role), turn.message.text, dict(turn.metadata)) for turn in said]


def walk_through_every_command(terminal: Any, answered: Callable[[str], str]) -> None:
    """What a curious person does in thirty turns; `answered` says what an answer to a line looks like."""
    say = terminal.say
    units = last_id(say("/remember Alice prefers metric units --importance 0.9 --entity Alice", "fact"))
    say("Which units does Alice like?", answered("Which units does Alice like?"))
    assert "Alice prefers metric units" in say("/context", "metric")
    assert "verdicts:" in say("/context units --budget 200 --debug", "spare")
    assert "Alice prefers metric units" in say("/prompt", "private content")
    assert "fits" in say(f"/why {units}", "in the last prompt: kept")
    say("/debug-budget", "normal")
    say("/tool-budget", "no tools")
    say("/debug-retrieval units", "siblings 1.00")
    say("/prime", "Alice prefers metric units")
    say("/memory", "1 fact")
    say("/facts", "Alice prefers")
    say("/entities", "Alice")
    say("/insights", "none yet")
    say("/cost --json", '"total"')
    for number in range(24):
        line = f"On day {number} the boat named Vrouwe sailed {number + 20} miles past the harbour of Veere."
        say(line, answered(line))
    done = say("/compact", "behind a summary")
    summaries = say("/summaries", "summary")
    say(f"/expand {last_id(done) if re.search(ID, done) else last_id(summaries)}", "On day 0")
    say("/transcript --limit 3", "On day 23")
    say("/sessions", "this one")
    say(f"/forget {units}", "a preview")
    say(f"/forget {units} --execute", units)
    say("/facts", "none yet")
    say("/lifecycle", "a preview")
    say("/reorganize", "a preview")
    say("/migrate", "is the newest")
    say("/migrate --to copy.db", "a preview")
    say("/snapshot", "a preview")
    taken = say("/snapshot --to before.snapshot --execute", "private content")
    assert "verified" in taken
    say("/restore before.snapshot", "a preview")
    say("/reset", "/reset --execute --confirm default")
    say("/reset --execute", "confirmation")
    say("/doctor", "sound")
    say("/export talk.jsonl", "private content")
    say("/help", "/debug-retrieval")
    say("/help why", "/why 01J9ZK3V6W8X4Y2T5R7Q0M1N2P which units")
    say("/wyh", "did you mean 'why'?")
    for number in range(5):
        say(f"One more thing, number {number}.", answered(f"One more thing, number {number}."))


@pytest.mark.timeout(300)
def test_thirty_turns_and_every_command_with_a_service(start: Any, configure: Any, model: Any, tmp_path: Path) -> None:
    prices = {"tiny": {"input": 10.0, "output": 100.0}}
    file = configure(
        memory={
            "context_window": 3000,
            "output_buffer": 300,
            "compaction": COMPACTION,
            "extraction": {"enabled": True},
            "costs": {"prices": prices},
        },
    )
    terminal = start("--config", str(file), "--session", "trip")
    assert "session trip in default; tiny" in terminal.shown
    walk_through_every_command(terminal, lambda line: f"You said: {line}")
    assert len(model.asked) == 30
    status = terminal.picture.splitlines()[-1]
    assert re.search(r"[\d,]+ of 2,700 tokens \(\d+ %\) · \w+ · compaction .* · \$0\.0600 · trip", status), status
    assert terminal.leave() == 0
    assert "to go on: haversack chat --resume trip" in terminal.shown
    assert len(turns(tmp_path, "trip")) == 60
    assert all(len(request["messages"]) >= 2 for request in model.asked)
    assert {request["max_tokens"] for request in model.asked} == {300}


@pytest.mark.timeout(300)
def test_thirty_turns_and_every_command_without_a_service(start: Any, tmp_path: Path) -> None:
    terminal = start("--session", "trip")
    assert "no service is configured: prompts are shown, not sent" in terminal.shown
    walk_through_every_command(terminal, lambda line: f"[user] {line}")
    assert "no service · trip" in terminal.picture.splitlines()[-1]
    assert terminal.leave() == 0
    assert len(turns(tmp_path, "trip")) == 30


def test_a_reset_and_a_restore_go_on_in_new_sessions(start: Any, configure: Any, model: Any, tmp_path: Path) -> None:
    terminal = start("--config", str(configure()), "--session", "trip")
    terminal.say("We sail on Monday.", "You said: We sail on Monday.")
    terminal.say("/snapshot --to before.snapshot --execute", "verified")
    terminal.say("/migrate --to copy.db --execute", "copied 2 memories and 2 turns to copy.db")
    terminal.say("/reset --execute --confirm default --no-snapshot", "erased for good: 2 memories and 2 turns")
    terminal.say("/sessions", "no sessions yet")
    assert "trip" not in terminal.picture.splitlines()[-1]
    terminal.say("/restore before.snapshot --execute", "restored 2 memories in 1 namespaces")
    terminal.say("/sessions", "trip")
    terminal.say("/sessions trip", "We sail on Monday.")
    assert terminal.leave() == 0
    with haversack.open(tmp_path / "copy.db") as sack:
        assert len(sack.namespace("default").session("trip").turns()) == 2


def test_ctrl_c_stops_the_answer_and_not_the_program(start: Any, configure: Any, model: Any, tmp_path: Path) -> None:
    model.script = [model.say("one two three never", hold_after=3)]
    terminal = start("--config", str(configure()), "--session", "s")
    terminal.send("Count.\r")
    terminal.wait("one two three")
    terminal.interrupt()
    terminal.wait("stopped; what was said is kept", ready=True)
    terminal.say("/transcript", "one two three [stopped]")
    terminal.say("Go on.", "You said: Go on.")
    sent = [message["content"] for message in model.asked[1]["messages"]]
    assert sent[-3:] == ["Count.", "one two three", "Go on."]
    assert terminal.leave() == 0
    kept = turns(tmp_path, "s")
    assert [(role, words) for role, words, _ in kept[:2]] == [("user", "Count."), ("assistant", "one two three")]
    assert kept[1][2]["haversack.chat"]["ended"] == "stopped"


def test_ctrl_c_before_the_first_word(start: Any, configure: Any, model: Any, tmp_path: Path) -> None:
    model.script = [model.say("never", hold_after=0)]
    terminal = start("--config", str(configure()), "--session", "s")
    terminal.send("Hello?\r")
    while not model.asked:
        terminal._read()
    terminal.interrupt()
    terminal.wait("stopped; what was said is kept", ready=True)
    terminal.say("Hello?", "You said: Hello?")
    assert terminal.leave() == 0
    assert [role for role, _, _ in turns(tmp_path, "s")] == ["user", "user", "assistant"]


def test_ctrl_c_at_the_prompt_clears_the_line(start: Any) -> None:
    terminal = start()
    terminal.send("half a thought")
    terminal.wait("half a thought")
    terminal.interrupt()
    terminal.wait("Ctrl-D leaves", ready=True)
    terminal.say("/sessions", "no sessions yet")
    assert terminal.leave() == 0
    assert "to go on" not in terminal.shown


def test_a_failing_service_is_told_and_the_chat_goes_on(start: Any, configure: Any, model: Any) -> None:
    model.script = [model.say(status=401)]
    terminal = start("--config", str(configure()))
    terminal.say("Hello?", "the chat service refused")
    terminal.say("And now?", "You said: And now?")
    assert terminal.leave("/exit\r") == 0


def test_resuming(start: Any, configure: Any, model: Any) -> None:
    file = str(configure())
    first = start("--config", file, "--session", "trip")
    first.say("We sail to Veere on Monday.", "You said")
    assert first.leave() == 0
    other = start("--config", file, "--session", "other")
    other.say("Something else.", "You said")
    assert other.leave() == 0

    again = start("--config", file, "--resume", "trip")
    assert "resumed with 2 turns; the last ones:" in again.shown
    assert "[user] We sail to Veere on Monday." in again.shown
    again.send("\x1b[A")  # the arrow up
    again.wait("We sail to Veere on Monday.")
    again.send("\x15\r")
    again.wait("", ready=True)
    again.say("When?", "You said: When?")
    sent = [message["content"] for message in model.asked[-1]["messages"]]
    assert sent[1:3] == ["We sail to Veere on Monday.", "You said: We sail to Veere on Monday."]
    assert sent[-1] == "When?"
    assert again.leave() == 0

    last = start("--config", file, "--resume")
    assert "session trip in default" in last.shown
    assert last.leave() == 0
    unknown = start("--config", file, "--resume", "nowhere", ready=False)
    unknown.wait("no session 'nowhere'; the last ones: 'trip', 'other'")
    assert unknown.leave("") == 3


def test_several_lines(start: Any, configure: Any, model: Any) -> None:
    terminal = start("--config", str(configure()))
    terminal.send("first\x1b\rsecond\\\rthird\r")
    terminal.wait("You said: first", ready=True)
    terminal.send("\x1b[200~pasted\nlines\x1b[201~\r")
    terminal.wait("You said: pasted", ready=True)
    assert [request["messages"][-1]["content"] for request in model.asked] == ["first\nsecond\nthird", "pasted\nlines"]
    assert terminal.leave() == 0


def test_commands_complete(start: Any) -> None:
    terminal = start()
    terminal.send("/debug-r")
    terminal.wait("Show what recall finds")
    terminal.send("\t tide\r")
    terminal.wait("nothing is connected", ready=True)
    terminal.send("/context --de")
    terminal.wait("--debug")
    terminal.send("\t tide\r")
    terminal.wait("verdicts:", ready=True)
    assert terminal.leave() == 0


@pytest.mark.parametrize(("environ", "colours"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_respect_no_color(start: Any, environ: dict[str, str], colours: bool) -> None:  # noqa: FBT001
    terminal = start(environ=environ)
    terminal.say("Hello", "[user] Hello")
    terminal.say("/help", "/memory")
    painted = re.findall(rb"\x1b\[(?:\d+;)*(?:3[0-7]|4[0-7]|38;5;\d+|48;5;\d+|9[0-7])m", terminal.raw)
    bold = re.findall(rb"\x1b\[(?:0;)?1m", terminal.raw)
    assert painted == []  # no colour of our own where nothing is wrong
    assert bool(bold) or not colours
    assert terminal.leave() == 0


def test_a_warning_has_the_terminals_own_colour_unless_no_color(start: Any, configure: Any, model: Any) -> None:
    long = "word " * 1340
    for environ, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        terminal = start("--config", str(configure()), "--namespace", str(coloured), environ=environ)
        model.script = [model.say("Fine.")]
        terminal.send(f"\x1b[200~{long}\x1b[201~\r")
        terminal.wait("Fine.", ready=True)
        assert "warning" in terminal.picture.splitlines()[-1]
        assert (b"\x1b[0;33m" in terminal.raw) is coloured
        assert terminal.leave() == 0


def test_words_of_a_model_cannot_drive_the_terminal(start: Any, configure: Any, model: Any) -> None:
    model.script = [model.say("safe \x1b]0;owned\x07\x1b[2J\x1b[31m text")]
    terminal = start("--config", str(configure()))
    shown = terminal.say("Hello", " text")
    assert "␛]0;owned␇␛[2J␛[31m" in shown
    assert b"\x1b[2J" not in terminal.raw[terminal.mark :]
    terminal.say("/transcript", "␛]0;owned")
    assert terminal.leave() == 0


def test_stored_words_move_no_cursor(start: Any, tmp_path: Path) -> None:
    """Nothing that was stored gets through as a code, whatever command shows it."""
    hostile = (
        "\x1b]52;c;c3RvbGVu\x07\x1b]0;stolen\x07\x1b]8;;stolen\x07\x1b[7777;7777H\x9b7777H\x1bcstolen"
        "\x08stolen\x7fstolen\u202estolen"
    )
    with haversack.open(tmp_path / "haversack.db") as sack:
        ns = sack.namespace("default")
        ns.remember(f"tea {hostile}", entities=[f"e{hostile}"], tags=[hostile], metadata={"m": hostile}, importance=0.9)
        ns.remember(f"tea is green {hostile}", kind="insight")
        ns.session(f"old{hostile}").add("user", f"tea again {hostile}", name=f"w{hostile}")
        ns.session("now").add("user", f"tea first {hostile}", name="w\x1b]52;x\x07")
        ns.session("now").add("assistant", f"so be it {hostile}")
    terminal = start("--resume", "now")
    for line, expected in [
        ("which tea?", "tea"),
        ("/context tea", "tea"),
        ("/context tea --debug", "verdicts"),
        ("/prompt", "private content"),
        ("/facts", "tea"),
        ("/insights", "green"),
        ("/entities", "e"),
        ("/memory", "fact"),
        ("/sessions", "old"),
        ("/transcript", "user"),
        ("/prime", "tea"),
        (f"/why {'0' * 26}", ""),
        ("/lifecycle", "a preview"),
        ("/doctor", "sound"),
    ]:
        terminal.say(line, expected)
    assert terminal.leave() == 0
    wrote = terminal.raw.decode(errors="replace")
    assert "stolen" in wrote
    for code in (
        "\x1b]52",
        "\x1b]0;stolen",
        "\x1b]8;;stolen",
        "\x1b[7777",
        "\x9b",
        "\x1bcstolen",
        "\x08stolen",
        "\x7f",
        "\u202e",
    ):
        assert code not in wrote, repr(code)
