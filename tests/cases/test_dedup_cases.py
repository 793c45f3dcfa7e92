"""The handed cases of deduplication and of applying an extractor's output, by their ids."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from haversack.compaction.dedup import Relation, admit, fields_identity
from haversack.compaction.extraction.action import read_actions
from haversack.compaction.extraction.resolve import Scene, resolve
from haversack.lifecycle.policy import DedupPolicy, Policy
from haversack.model.memory import Kind, Memory, Turn
from haversack.model.message import Message, Role, Text
from haversack.model.query import Filter

NOW = datetime(2026, 6, 1, tzinfo=UTC)


class Shelf:
    """Live memories, admitted one by one, with a fixed similarity to all others."""

    def __init__(self, similarity: float) -> None:
        self.rows: dict[str, Memory] = {}
        self.similarity = similarity

    def add(self, content: str, day: int = 0) -> Relation:
        at = NOW + timedelta(days=day)
        memory = Memory(id=str(len(self.rows)), kind=Kind.FACT, content=content, created_at=at, event_time=at)
        others = list(self.rows.values())
        admitted = admit(memory, others, [self.similarity] * len(others), DedupPolicy())
        self.rows |= {row.id: row for row in admitted.memories}
        return admitted.relation

    def live(self, at: datetime, as_of: datetime | None = None) -> list[str]:
        answers = Filter(as_of=as_of)
        return [row.content for row in self.rows.values() if answers.reason_against(row, at) is None]


@pytest.mark.parametrize("similarity", [0.0, 0.95, 1.0])
def test_mem_01_content_hash_dedup_over_unicode(similarity: float) -> None:
    shelf = Shelf(similarity)
    first = ["会議は木曜日", "予算は五十万円", "Встреча в среду", "الاجتماع يوم الأحد", "build 9 は青", "build 9 は赤"]
    assert [shelf.add(text) for text in first] == [Relation.NEW] * 6
    cafe = "café opens at nine"
    then = [cafe, unicodedata.normalize("NFD", cafe), "  Café   opens at NINE ", "会議は木曜日"]
    assert [shelf.add(text) for text in then] == [Relation.NEW, Relation.SAME, Relation.SAME, Relation.SAME]
    assert shelf.live(NOW) == [*first, cafe]


FRIDAY, MONDAY = "The team ships on Fridays", "The team does not ship on Fridays any more, it ships on Mondays"


def test_mem_02_a_contradiction_called_a_duplicate_supersedes() -> None:
    shelf = Shelf(0.9)
    assert shelf.add(FRIDAY) is Relation.NEW
    assert shelf.add(MONDAY, day=10) is Relation.ENDS
    assert shelf.live(NOW + timedelta(days=20)) == [MONDAY]
    assert shelf.live(NOW + timedelta(days=20), as_of=NOW + timedelta(days=5)) == [FRIDAY]
    assert shelf.rows["0"].valid_to == NOW + timedelta(days=10)


def test_mem_02_a_bare_delete_never_leaves_the_store_empty() -> None:
    friday = Memory(id="0", kind=Kind.FACT, content=FRIDAY, created_at=NOW, event_time=NOW)
    later = NOW + timedelta(days=10)
    said = Turn(id="t", session="s", message=Message(role=Role.USER, parts=(Text(MONDAY),)), at=later, position=0)
    actions, skipped = read_actions([{"event": "DELETE", "id": "0"}], {"0": "0"})
    found = resolve(
        actions,
        Scene(session="s", turns=[said], existing=[friday], policy=Policy(), now=later, new_id=lambda: "1"),
    )
    assert skipped == []
    assert [(row.id, row.content, row.superseded_by) for row in found.memories] == [
        ("1", MONDAY, None),
        ("0", FRIDAY, "1"),
    ]


@pytest.mark.parametrize(
    "pair",
    [
        ("Pump North runs at 40 percent", "Pump South runs at 40 percent"),
        ("The lamp is on", "The lamp is not on (kitchen)"),
        ("Invoice 1041 is paid", "Invoice 1014 is paid"),
        ("srv01 is down", "srv02 is down"),
        ("v1.2 fixes the crash", "v1.3 fixes the crash"),
        ("alice paid bob", "bob paid alice"),
        ("from rome to paris", "from paris to rome"),
        ("my brother lives in rome", "his brother lives in rome"),
        ("the left door is open", "the right door is open"),
        ("the user is vegetarian", "the user is vegan"),
        ("the door is locked", "the door is unlocked"),
        ("x > 5", "x < 5"),
        ("c is fast", "c++ is fast"),
        ("it costs 5€", "it costs 5$"),
        ("likes 🍎", "likes 🍌"),
        ("die tür ist offen", "die tür ist zu"),
        ("кошка чёрная", "кошка белая"),
        ("prefers dark mode on mobile", "prefers dark mode"),
    ],
)
def test_mem_04_distinct_facts_that_look_alike_are_two(pair: tuple[str, str]) -> None:
    shelf = Shelf(0.99)
    assert [shelf.add(text) for text in pair] == [Relation.NEW, Relation.NEW]
    assert shelf.live(NOW) == list(pair)


def test_mem_04_fields_are_delimited() -> None:
    assert fields_identity(["note-xy", "zeta log", ""]) != fields_identity(["note-x", "yzeta log", ""])


def test_mem_05_one_bad_action_blocks_no_other() -> None:
    rows = [
        Memory(id=f"row-{n}", kind=Kind.FACT, content=f"Number {n}", created_at=NOW, event_time=NOW) for n in range(4)
    ]
    shown = {str(n): row.id for n, row in enumerate(rows)}
    raw = [
        {"event": "ADD", "text": "prefers metric units"},
        {"id": "17", "event": "UPDATE", "text": "likes window seats"},
        {"id": "2", "event": "DELETE"},
        {"id": "1", "text": "no event key"},
        {"id": "3", "event": "PURGE"},
        "not an object",
    ]
    said = Message(role=Role.USER, parts=(Text("She prefers metric units."),))
    turn = Turn(id="t", session="s", message=said, at=NOW + timedelta(days=1), position=0)
    actions, skipped = read_actions(raw, shown)
    ids = (f"new-{n}" for n in count())
    found = resolve(
        actions,
        Scene(session="s", turns=[turn], existing=rows, policy=Policy(), now=NOW, new_id=lambda: next(ids)),
    )
    assert [row.content for row in found.memories] == ["prefers metric units", "Number 2"]
    assert (found.added, found.ended, found.skipped) == (("new-0",), ("row-2",), ())
    assert [(each.index, each.id, each.reason.split(";")[0]) for each in skipped] == [
        (1, "17", "unknown id"),
        (3, "1", "no event"),
        (4, "3", "unknown event 'PURGE'"),
        (5, None, "not an object"),
    ]
