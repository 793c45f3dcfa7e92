"""Long texts are kept in parts: what is done to the first part, or to any part of a turn, is done to all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from haversack.model.memory import Stage
from haversack.transfer.entries import DocumentEntry

if TYPE_CHECKING:
    from haversack.engine.haversack import Haversack
    from haversack.engine.namespace import Namespace
    from haversack.model.memory import Memory

TEXT = "\n\n".join(f"Paragraph {n} tells of the tide at hour {n} and of the boat." for n in range(60))
LONGER = "\n\n".join(f"Sentence {n} speaks of the wind at noon {n} and of the sail." for n in range(90))


def parts_of(ns: Namespace, text: str = TEXT) -> list[Memory]:
    """All stored parts of a text, in their order."""
    found = [one for one in ns.page(limit=1000).memories if one.content in text]
    return sorted(found, key=lambda one: (one.source.part or (0, 0), one.born))


def keep(ns: Namespace, how: str) -> list[Memory]:
    """The text among others, remembered, said or imported; its parts."""
    ns.remember("the boat is red", kind="passage")
    match how:
        case "remembered":
            ns.remember(TEXT, kind="passage")
        case "told":
            ns.session("s").add("user", TEXT)
        case _:
            ns.bring_in([DocumentEntry(key="k", title="t", text=TEXT, source="tide.md")])
    ns.remember(LONGER, kind="passage")
    found = parts_of(ns)
    assert "".join(one.content for one in found) == TEXT
    assert len(found) > 3
    return found


WAYS = pytest.mark.parametrize("how", ["remembered", "told", "imported"])


@WAYS
def test_an_edit_reaches_every_part(ns: Namespace, how: str) -> None:
    first, *others = keep(ns, how)
    ns.vote(others[0].id, "up")  # it is written later than the parts beside it
    edited = ns.edit(first.id, pinned=True, tags=["sea"])
    assert (edited.id, edited.pinned, edited.tags) == (first.id, True, ("sea",))
    rows = parts_of(ns)
    assert [(one.pinned, one.tags) for one in rows] == [(True, ("sea",))] * len(rows)
    assert {one.id for one in ns.recall("tide boat", tags=["sea"], top_k=100)} == {first.id, *(o.id for o in others)}
    assert ns.earlier(others[0].id)[0].fields == {"pinned": False, "tags": []}
    assert not any(one.pinned for one in parts_of(ns, LONGER))


@WAYS
def test_new_words_take_the_place_of_the_whole_text(ns: Namespace, how: str) -> None:
    first, *others = keep(ns, how)
    assert ns.edit(first.id, content="Low tide.").content == "Low tide."
    assert ns.get(first.id).source.part is None
    assert [ns.get(one.id).superseded_by for one in others] == [first.id] * len(others)
    assert [hit.content for hit in ns.recall("tide", top_k=100)] == ["Low tide."]
    assert ns.earlier(first.id)[0].fields == {"content": first.content}
    ns.edit(first.id, content=TEXT)
    again = [hit.memory for hit in ns.recall("tide", top_k=100)]
    assert "".join(one.content for one in sorted(again, key=lambda one: one.source.part or (0, 0))) == TEXT
    assert "".join(one.content for one in ns.parts(first.id)) == TEXT
    assert set(ns.forget(first.id).memories) == {one.id for one in again}
    assert set(ns.forget(first.id, hard=True).derived) >= {one.id for one in others}


def test_a_longer_text_keeps_the_names_of_its_parts_and_adds_some(ns: Namespace) -> None:
    known = keep(ns, "remembered")
    ns.forget([one.id for one in parts_of(ns, LONGER)][:1], hard=True)
    ns.edit(known[0].id, content=LONGER, importance=0.9)
    rows = parts_of(ns, LONGER)
    assert [one.id for one in rows[: len(known)]] == [one.id for one in known]
    assert len(rows) > len(known)
    assert {one.importance for one in rows} == {0.9}
    assert parts_of(ns) == []
    assert set(ns.forget(known[0].id).memories) == {one.id for one in rows}


def test_the_words_of_a_later_part_are_its_own(ns: Namespace) -> None:
    first, second, *others = keep(ns, "remembered")
    ns.edit(second.id, content="The second part, corrected.")
    assert ns.get(first.id) == first
    assert [ns.get(one.id) for one in others] == others
    assert set(ns.forget(first.id).memories) == {first.id, second.id, *(one.id for one in others)}


def test_the_same_words_are_no_change(ns: Namespace) -> None:
    first, *others = keep(ns, "remembered")
    assert ns.edit(first.id, content=TEXT) == first
    assert ns.edit(first.id, content=first.content) == first
    assert [ns.get(one.id) for one in others] == others


@WAYS
def test_a_successor_takes_the_place_of_all_parts(ns: Namespace, how: str) -> None:
    first, *others = keep(ns, how)
    new = ns.remember("Low tide.", kind="passage", supersedes=first.id)
    assert [ns.get(one.id).superseded_by for one in (first, *others)] == [new.id] * (len(others) + 1)
    assert [hit.id for hit in ns.recall("tide", top_k=100)] == [new.id]
    ns.unfold(first.id)
    assert {hit.id for hit in ns.recall("tide", top_k=100)} == {new.id, first.id, *(one.id for one in others)}


@WAYS
def test_a_correction_ends_all_parts(ns: Namespace, how: str) -> None:
    first, *others = keep(ns, how)
    right = ns.knowledge.correct(first.id, "There is no tide here.")
    assert [ns.get(one.id).superseded_by for one in (first, *others)] == [right.id] * (len(others) + 1)


@WAYS
def test_forgetting_and_restoring_reach_every_part(ns: Namespace, how: str) -> None:
    rows = keep(ns, how)
    ids = [one.id for one in rows]
    named = ids[0] if how != "told" else ids[2]
    assert list(ns.forget(named, preview=True).memories) == ids
    assert list(ns.forget(named).memories) == ids
    assert ns.recall("tide", top_k=100) == []
    assert [one.id for one in ns.restore(named)] == ids
    assert {one.stage for one in parts_of(ns)} == {Stage.ACTIVE}
    gone = ns.forget(named, hard=True)
    assert {*gone.memories, *gone.derived} == set(ids)
    assert parts_of(ns) == []
    assert len(parts_of(ns, LONGER)) > 3


def test_merging_takes_whole_texts(ns: Namespace) -> None:
    rows = keep(ns, "remembered")
    other = ns.remember("The boat is blue.", kind="passage")
    merged = ns.merge([rows[0].id, other.id])
    assert [ns.get(one.id).superseded_by for one in (*rows, other)] == [merged.id] * (len(rows) + 1)
    whole = f"{TEXT}\n{other.content}"
    stored = [one for one in parts_of(ns, whole) if merged.id in (one.id, *one.source.memories)]
    assert "".join(one.content for one in stored) == whole
    more = ns.remember("x", kind="passage")
    assert ns.merge([merged.id, more.id], preview=True).content == f"{whole}\nx"


def test_a_shared_text_is_copied_whole(sack: Haversack) -> None:
    ns = sack.namespace("alice")
    first = keep(ns, "remembered")[0]
    asked = ns.maintenance.propose(first.id, shared="team", author="alice")
    _, copy = sack.namespace("team").maintenance.decide(asked.asked.proposal, accept=True, by="bob")
    assert copy is not None
    assert "".join(one.content for one in parts_of(sack.namespace("team"))) == TEXT
    assert len(sack.namespace("team").forget(copy.id).memories) == len(parts_of(ns))
