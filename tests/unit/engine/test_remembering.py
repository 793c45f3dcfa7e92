from __future__ import annotations

import unicodedata
from datetime import UTC, date, datetime
from typing import Any

import pytest

from haversack.engine.namespace import Namespace
from haversack.errors import InputError, NotFoundError
from haversack.model.memory import Kind, Source, Stage, Trust

from .conftest import START


def test_what_is_remembered_comes_back_as_it_was_given(ns: Namespace) -> None:
    kept = ns.remember(
        "Alice prefers metric units",
        kind="fact",
        importance=0.8,
        confidence=0.9,
        trust="verified",
        entities=["Alice"],
        tags=["units", "units", "ui"],
        metadata={"from": {"page": 3}},
        event_time="2026-02-01T10:00:00+02:00",
        valid_from=1_770_000_000,
    )
    assert ns.get(kept.id) == kept
    assert (kept.kind, kept.importance, kept.confidence, kept.trust) == (Kind.FACT, 0.8, 0.9, Trust.VERIFIED)
    assert (kept.entities, kept.tags, dict(kept.metadata)) == (("Alice",), ("units", "ui"), {"from": {"page": 3}})
    assert kept.event_time == datetime(2026, 2, 1, 8, 0, tzinfo=UTC)
    assert kept.valid_from == datetime(2026, 2, 2, 2, 40, tzinfo=UTC)
    assert kept.created_at.date() == START.date()
    assert kept.born == kept.changed == 1


def test_ids_sort_in_the_order_of_remembering(ns: Namespace) -> None:
    ids = [memory.id for memory in ns.remember_many([f"fact number {n}" for n in range(50)])]
    later = ns.remember("one more fact").id
    assert ids == sorted(ids)
    assert later > ids[-1]


def test_the_same_statement_is_one_memory_in_its_first_wording(ns: Namespace) -> None:
    first = ns.remember("Café opens at nine")
    again = ns.remember_many([unicodedata.normalize("NFD", "Café opens at nine"), "  café   opens at NINE "])
    assert [memory.id for memory in again] == [first.id, first.id]
    assert ns.get(first.id).content == "Café opens at nine"
    assert ns.remember("Café opens at nine", kind="decision").id != first.id


def test_statements_that_differ_only_in_other_scripts_stay_apart(ns: Namespace) -> None:
    texts = ["会議は木曜日", "予算は五十万円", "Встреча в среду", "الاجتماع يوم الأحد", "build 9 は青", "build 9 は赤"]
    assert len({memory.id for memory in ns.remember_many(texts)}) == len(texts)


def test_passages_are_kept_each_time(ns: Namespace) -> None:
    first, second = ns.remember_many([{"content": "ok", "kind": "passage"}] * 2)
    assert first.id != second.id


def test_a_long_passage_is_kept_in_chunks_that_know_their_place(ns: Namespace) -> None:
    words = "\n\n".join(f"Paragraph {n} tells of the tide at hour {n} and of the boat." for n in range(60))
    first = ns.remember(words, kind="passage", metadata={"book": "tides"})
    count = first.source.part[1] if first.source.part else 0
    chunks = [hit.memory for hit in ns.recall("tide boat", kinds=["passage"], top_k=100)]
    chunks.sort(key=lambda memory: memory.born)
    assert count > 1
    assert [chunk.source.part for chunk in chunks] == [(n, count) for n in range(count)]
    assert "".join(chunk.content for chunk in chunks) == words
    assert all(dict(chunk.metadata) == {"book": "tides"} for chunk in chunks)


def test_a_successor_retires_what_it_replaces_and_both_are_kept(ns: Namespace) -> None:
    friday = ns.remember("The team ships on Fridays", event_time="2026-01-01")
    monday = ns.remember("The team ships on Mondays", supersedes=friday.id, event_time="2026-02-01")
    old = ns.get(friday.id)
    assert (old.superseded_by, old.valid_to, old.stage) == (
        monday.id,
        datetime(2026, 2, 1, tzinfo=UTC),
        Stage.ACTIVE,
    )
    assert [hit.id for hit in ns.recall("when does the team ship?")] == [monday.id]
    assert [hit.id for hit in ns.recall("when does the team ship?", as_of="2026-01-15", until="2026-01-20")] == [
        friday.id
    ]


def test_what_is_told_again_adds_to_what_is_known(ns: Namespace) -> None:
    first = ns.remember("Alice likes tea", tags=["a"], importance=0.6, metadata={"n": 1, "m": 1})
    assert ns.remember("alice likes TEA") == first
    again = ns.remember("Alice likes tea", tags=["b"], importance=0.2, pinned=True, metadata={"n": 2, "k": 3})
    assert (again.id, again.tags, again.importance, again.pinned) == (first.id, ("a", "b"), 0.6, True)
    assert again.metadata == {"n": 1, "m": 1, "k": 3}
    assert [one.fields["metadata"] for one in ns.earlier(first.id)] == [{"n": 1, "m": 1}]
    assert [hit.id for hit in ns.recall("tea", tags=["a", "b"], where={"k": 3})] == [first.id]
    both = ns.remember_many([{"content": "new", "tags": ["x"]}, {"content": "NEW", "entities": ["Y"]}])
    assert {(one.id, one.tags, one.entities) for one in both} == {(both[0].id, ("x",), ("Y",))}
    assert ns.stats().memories == {"fact": 2}


def test_what_two_people_say_is_two(ns: Namespace) -> None:
    said = [ns.remember("I like tea", speaker=name) for name in ("Alice", "Bob", "Alice", "Bob")]
    assert len({one.id for one in said}) == 2
    assert [one.speaker for one in said] == ["Alice", "Bob", "Alice", "Bob"]
    together = ns.remember_many([{"content": "I like cake", "speaker": name} for name in ("Alice", "Bob")])
    assert [one.speaker for one in together] == ["Alice", "Bob"]


def test_a_known_statement_may_supersede_another(ns: Namespace) -> None:
    tea, coffee = ns.remember("Alice drinks tea"), ns.remember("Alice drinks coffee")
    assert ns.remember("Alice drinks coffee", supersedes=tea.id).id == coffee.id
    assert ns.get(tea.id).superseded_by == coffee.id
    assert ns.remember("Alice drinks coffee", supersedes=coffee.id).superseded_by is None


def test_superseding_what_is_not_there_stores_nothing(ns: Namespace) -> None:
    with pytest.raises(NotFoundError, match="supersedes"):
        ns.remember("new", supersedes="01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert ns.stats().memories == {}


@pytest.mark.parametrize(
    ("details", "says"),
    [
        ({"kind": "fakt"}, "did you mean 'fact'"),
        ({"trust": "verifed"}, "did you mean 'verified'"),
        ({"importance": 1.2}, "importance=1.2"),
        ({"importance": -0.2}, "importance=-0.2"),
        ({"importance": float("nan")}, "importance=nan"),
        ({"importance": True}, "importance=True"),
        ({"confidence": "high"}, "confidence='high'"),
        ({"pinned": "yes"}, "pinned='yes'"),
        ({"metadata": {"when": object()}}, "metadata"),
        ({"metadata": {"x": float("inf")}}, "metadata"),
        ({"metadata": {1: "x"}}, "keys must be strings"),
        ({"metadata": ["x"]}, "metadata"),
        ({"tags": [" "]}, "tags must not be blank"),
        ({"source": "turn"}, "source must be a Source"),
        ({"source": {"sesion": "s"}}, "did you mean 'session'"),
        ({"source": {"turns": 7}}, "source: Expected `array`"),
        ({"event_time": "yesterday"}, "event_time='yesterday'"),
        ({"valid_from": "2026-02-01", "valid_to": "2026-01-01"}, "valid_to"),
        ({"importence": 0.5}, "did you mean 'importance'"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(ns: Namespace, details: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        ns.remember("x", **details)
    assert ns.stats().memories == {}


@pytest.mark.parametrize("content", ["", "  \n", "\u200b", None, 7, b"bytes"])
def test_content_must_say_something(ns: Namespace, content: Any) -> None:
    with pytest.raises(InputError, match="content"):
        ns.remember(content)


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("entities", [str(number) for number in range(1_001)]),
        ("tags", [str(number) for number in range(1_001)]),
        ("source.turns", {"turns": [str(number) for number in range(10_001)]}),
        ("source.memories", Source(memories=tuple(map(str, range(10_001))))),
    ],
)
def test_a_memory_lists_no_more_than_it_may(ns: Namespace, field: str, given: Any) -> None:
    with pytest.raises(InputError, match=rf"^{field} lists 1.?,001; at most 1.?,000 are allowed"):
        ns.remember("x", **{field.partition(".")[0]: given})


def test_a_memory_that_has_gathered_more_names_than_one_call_may_list_is_still_edited(ns: Namespace) -> None:
    for start in (0, 600):
        kept = ns.remember("x", tags=[str(number) for number in range(start, start + 600)])
    assert len(ns.edit(kept.id, importance=0.9).tags) == 1_200


def test_one_bad_item_stores_none_of_them(ns: Namespace) -> None:
    with pytest.raises(InputError, match="item 1: content"):
        ns.remember_many(["good", {"content": ""}])
    with pytest.raises(InputError, match="int"):
        ns.remember_many([7])  # pyright: ignore[reportArgumentType]
    for one in ("tea", {"content": "tea"}, None):
        with pytest.raises(InputError, match="not one"):
            ns.remember_many(one)  # pyright: ignore[reportArgumentType]
    assert ns.stats().memories == {}


def test_a_source_may_be_a_mapping_and_a_time_a_date(ns: Namespace) -> None:
    kept = ns.remember("x", source={"session": "s", "turns": ["t"]}, event_time=date(2026, 3, 1))
    assert kept.source == Source(session="s", turns=("t",))
    assert kept.event_time == datetime(2026, 3, 1, tzinfo=UTC)
    assert [hit.id for hit in ns.recall("x", since=date(2026, 3, 1), until=date(2026, 3, 2))] == [kept.id]


def test_lone_surrogates_are_replaced_and_nul_stays(ns: Namespace) -> None:
    kept = ns.remember("left\x00right tail \ud83d end", tags=["t\udb8d"], metadata={"k\ud83d": "v\ud83d"})
    assert kept.content == "left\x00right tail \ufffd end"
    assert kept.tags == ("t\ufffd",)
    assert dict(kept.metadata) == {"k\ufffd": "v\ufffd"}
    assert [hit.id for hit in ns.recall("tail")] == [kept.id]
