"""The banks of bench/lived are well formed, and each command runs over a tiny conversation."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from bench.__main__ import LIVED
from bench.evidence import words_of
from bench.lived.bank import HALVES, Block, half_of, load, select
from bench.lived.facts import SIZES, draw, facts_of
from bench.lived.figures import Outcome, tabulate
from bench.lived.memdaily import load as load_memdaily
from bench.lived.now import changes_of, told
from bench.lived.pairs import pairs_of
from bench.options import Options
from bench.table import Table

from haversack.evaluation.conversations import load as load_conversations

_BANKS = ("facts", "now", "numbers", "scripts", "nonsense")
_ASKED = ("?", "~")
_TALK = (
    ("Ilse", "one", "2025-03-01T10:00Z", "I found a brass telescope at the flea market."),
    ("Noor", "one", "2025-03-01T10:01Z", "Lovely, what will you look at first?"),
    ("Ilse", "one", "2025-03-01T10:02Z", "The rings of Saturn, from the roof of the school."),
    ("Noor", "two", "2025-04-02T18:00Z", "My cello came back from the workshop with a new bridge."),
    ("Ilse", "two", "2025-04-02T18:01Z", "Then you can play at the garden party in May."),
)
_QUESTIONS = (("What did Ilse find at the flea market?", ["0"]), ("What was repaired for Noor?", ["3"]))


def _own(path: Path, talk: list[tuple[str, str, str, str]]) -> Path:
    turns = [
        {"id": str(place), "speaker": speaker, "session": session, "at": at, "text": text}
        for place, (speaker, session, at, text) in enumerate(talk)
    ]
    questions = [{"text": text, "gold": gold} for text, gold in _QUESTIONS]
    path.write_text(json.dumps({"name": path.stem, "turns": turns, "questions": questions}) + "\n", "utf-8")
    return path


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return _own(tmp_path / "chat.jsonl", list(_TALK))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    roles = {"Ilse": "user", "Noor": "assistant"}
    return _own(tmp_path / "log.jsonl", [(roles[who], session, at, text) for who, session, at, text in _TALK])


@pytest.fixture
def memdaily(tmp_path: Path) -> Path:
    message = {"mid": 0, "message": "我的同事养了一只鹦鹉。", "time": "2024年04月01日 周一 08:39", "place": "x"}
    asked = {"qid": 0, "question": "同事养了什么？", "target_step_id": [0], "answer": "鹦鹉"}
    later = message | {"mid": 1, "message": "我今天去游泳。"}
    path = tmp_path / "part.json"
    path.write_text(
        json.dumps({"x": [{"tid": 0, "message_list": [message, later], "question_list": [asked]}]}), "utf-8"
    )
    return path


def _options(tmp_path: Path, **chosen: object) -> Options:
    return replace(Options(data=tmp_path / "nothing", embedders=("none",)), **chosen)


def _run(name: str, options: Options) -> list[Table]:
    module, function = LIVED[name].split(":")
    return list(getattr(import_module(module), function)(options))


@pytest.mark.parametrize("name", _BANKS)
def test_each_line_of_a_bank_stands_in_it_once(name: str):
    lines = [line for block in load(name) for line in block.lines]
    assert [line for line, times in Counter(lines).items() if times > 1] == []
    assert {mark for mark, _ in lines} <= {"=", *_ASKED}


@pytest.mark.parametrize("name", _BANKS)
def test_no_question_holds_the_whole_note(name: str):
    for block in load(name):
        notes = [words_of(note.removeprefix("{a}: ").removeprefix("{b}: ")) for note in block.marked("=")]
        for mark, question in block.lines:
            if mark in _ASKED:
                asked = f" {' '.join(words_of(question))} "
                assert not [note for note in notes if f" {' '.join(note)} " in asked]


def test_facts_are_120_for_a_chat_and_120_for_a_log_with_three_questions_each(chat: Path, log: Path):
    for path in (chat, log):
        facts = facts_of(load_conversations(path)[0])
        assert len(facts) == 120
        assert {len(fact.questions) for fact in facts} == {3}
        assert Counter(fact.half for fact in facts) == {"tune": 60, "held": 60}
        assert not any("{" in text for fact in facts for text in (fact.text, *fact.questions))


def test_facts_on_the_two_speakers_come_in_pairs_of_one_half(chat: Path):
    facts = facts_of(load_conversations(chat)[0])
    about = [fact for fact in facts if fact.about == "speakers"]
    for ilse, noor in zip(about[::2], about[1::2], strict=True):
        assert (ilse.half, ilse.subject) == (noor.half, str(noor.subject).replace("Noor/", "Ilse/"))
        assert "Ilse" in ilse.text
        assert "Noor" in noor.text


@pytest.mark.parametrize("size", SIZES)
def test_a_draw_has_its_size_and_each_fact_once(chat: Path, size: int):
    chosen = draw(facts_of(load_conversations(chat)[0]), size, "seed")
    assert len({fact.text for fact in chosen}) == size


def test_changes_are_60_and_a_third_of_them_facts():
    blocks = load("now")
    assert Counter(block.heading for block in blocks) == {"turns": 40, "facts": 20}
    assert all(block.marked("?") and block.marked("~") for block in blocks)
    assert {len(block.marked("=")) for block in blocks} == {2, 3}


def test_what_is_told_stands_in_the_chat_in_order(chat: Path):
    conversation = load_conversations(chat)[0]
    changes = changes_of(conversation)
    turns = told(conversation, changes)
    assert [turn for turn in turns if ":" not in turn.id] == list(conversation.turns)
    assert [turn.at for turn in turns] == sorted(turn.at for turn in turns)
    statements = sum(len(change.statements) for change in changes if change.form == "turns")
    assert len(turns) == len(conversation.turns) + statements
    order = [turn.id for turn in turns]
    assert order.index("2:0") < order.index("2:1") < order.index("2:2")
    assert {turn.speaker for turn in turns} == {"Ilse", "Noor"}


def test_numbers_are_200_pairs_of_notes_and_questions():
    pairs = list(pairs_of(load("numbers")))
    assert (len(pairs), len({pair.note for pair in pairs}), len({pair.question for pair in pairs})) == (200, 200, 200)


def test_scripts_have_20_notes_and_10_questions_for_each_language():
    blocks = load("scripts")
    assert len({block.heading for block in blocks}) == len(blocks) == 10
    assert {(len(block.marked("=")), len(block.marked("?"))) for block in blocks} == {(20, 10)}


def test_nonsense_is_200_questions():
    assert sum(len(block.marked("?")) for block in load("nonsense")) == 200


@pytest.mark.parametrize("together", [1, 2])
def test_halves_are_disjoint_and_make_the_whole(together: int):
    entries = list(range(8))
    parts = [{entry for _, entry in select(entries, half, together)} for half in HALVES]
    assert parts[0] & parts[1] == set()
    assert {entry for _, entry in select(entries, "all", together)} == parts[0] | parts[1] == set(entries)
    assert [half_of(place, together) for place in range(together)] == ["tune"] * together


def test_a_question_belongs_to_the_note_above_it():
    block = Block(heading="x", lines=(("=", "a"), ("?", "b"), ("=", "c"), ("=", "d"), ("?", "e")))
    assert [(pair.note, pair.question) for pair in pairs_of([block])] == [("a", "b"), ("d", "e")]


def test_a_table_has_the_means_of_all_and_of_each_half():
    found = [
        Outcome(labels=("x",), half="tune", figures=(100.0,)),
        Outcome(labels=("x",), half="held", figures=(0.0,)),
        Outcome(labels=("x",), half="held", figures=(100.0,)),
        Outcome(labels=("y",), half="held", figures=(25.0,)),
    ]
    assert tabulate("n", "t", (("set",), ("share",)), found).rows == (
        ("x", "all", 3, pytest.approx(200 / 3)),
        ("x", "tune", 1, 100.0),
        ("x", "held", 2, 50.0),
        ("y", "held", 1, 25.0),
    )


def test_memdaily_becomes_turns_of_the_user_with_gold(memdaily: Path):
    (talk,) = load_memdaily(memdaily)
    assert [(turn.id, turn.speaker, turn.at.isoformat()) for turn in talk.turns] == [
        ("part 0/0", "user", "2024-04-01T08:39:00+00:00"),
        ("part 0/1", "user", "2024-04-01T08:39:01+00:00"),
    ]
    assert [query.gold for query in talk.queries] == [{"part 0/0"}]


@pytest.mark.parametrize("name", LIVED)
def test_each_command_asks_the_half_alone(
    name: str, tmp_path: Path, chat: Path, log: Path, memdaily: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("bench.lived.facts.SIZES", {5: 1})
    tables = _run(name, _options(tmp_path, locomo=chat, beam=log, memdaily=(memdaily,), half="held"))
    asked = {row[table.columns.index("half")] for table in tables for row in table.rows}
    assert asked == {"held"}


@pytest.mark.parametrize("name", ["facts", "now", "prompts"])
def test_without_real_conversations_nothing_is_printed(name: str, tmp_path: Path):
    assert _run(name, _options(tmp_path)) == []


def test_a_fact_that_is_found_counts_and_the_turns_lose_nothing(
    tmp_path: Path, chat: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("bench.lived.facts.SIZES", {5: 1})
    found, about, turns = _run("facts", _options(tmp_path, locomo=chat))
    # The chat takes less than 200 tokens: whatever is a candidate at all stands in the context.
    asked, stands = found.columns.index("questions"), found.columns.index("stands in 200 tokens")
    assert found.rows[0][asked] == 15
    assert float(str(found.rows[0][stands])) > 50
    assert sum(int(str(row[asked])) for row in about.rows if row[2] != "all") == 15
    assert [row[-1] for row in turns.rows if row[2] == "all"] == [100.0, 100.0]


def test_a_prompt_of_a_fresh_session_carries_a_small_chat(tmp_path: Path, chat: Path):
    (table,) = _run("prompts", _options(tmp_path, locomo=chat))
    assert [row[3] for row in table.rows if row[1] == "all"] == [100.0] * 5


def test_options_name_the_files_or_take_those_of_the_folder(tmp_path: Path, chat: Path, log: Path):
    assert _options(tmp_path).real() == {}
    assert _options(tmp_path, locomo=chat, beam=log).real() == {
        "chats": load_conversations(chat),
        "logs": load_conversations(log),
    }
