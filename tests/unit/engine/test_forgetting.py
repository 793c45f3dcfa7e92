from __future__ import annotations

from dataclasses import replace

import pytest

from haversack.engine.namespace import Namespace
from haversack.errors import InputError, NotFoundError
from haversack.model.memory import Source, Stage


def test_a_soft_forget_hides_and_can_be_undone(ns: Namespace) -> None:
    kept = ns.remember("the key is under the mat")
    done = ns.forget(kept.id)
    assert (done.memories, done.hard, done.preview) == ((kept.id,), False, False)
    assert ns.recall("key mat") == []
    assert ns.stats().deleted == 1
    (back,) = ns.restore(kept.id)
    assert back.stage is Stage.ACTIVE
    assert [hit.id for hit in ns.recall("key mat")] == [kept.id]


def test_a_hard_forget_takes_the_turn_and_all_that_came_from_it(ns: Namespace) -> None:
    session = ns.session("s")
    turn = session.add("user", "my code is 4711")
    session.add("assistant", "noted")
    passage = ns.recall("code")[0]
    fact = ns.remember("The code is 4711", source=Source(session="s", turns=(turn.id,)))
    insight = ns.remember("Alice uses short codes", source=Source(memories=(fact.id,)))
    other = ns.remember("Alice likes tea")

    planned = ns.forget(passage.id, hard=True, preview=True)
    assert (planned.memories, planned.turns) == ((passage.id,), (turn.id,))
    assert set(planned.derived) == {fact.id, insight.id}
    assert ns.get(fact.id)

    done = ns.forget(passage.id, hard=True)
    assert replace(done, preview=True, at=None, certificate="") == planned
    assert len(done.certificate) == 64
    assert [turn.message.text for turn in session.turns()] == ["noted"]
    assert [hit.id for hit in ns.recall("code 4711 tea", top_k=10)] == [other.id]
    for gone in (passage.id, fact.id, insight.id):
        with pytest.raises(NotFoundError):
            ns.get(gone)


def test_forgetting_one_chunk_forgets_the_turn_that_holds_its_words(ns: Namespace) -> None:
    words = "\n\n".join(f"Paragraph {n} tells of the tide at hour {n} and of the boat." for n in range(60))
    turn = ns.session("s").add("user", words)
    chunks = [hit.id for hit in ns.recall("tide boat", top_k=100)]
    done = ns.forget(chunks[0], hard=True)
    assert done.turns == (turn.id,)
    assert {*done.memories, *done.derived} == set(chunks)
    assert ns.session("s").turns() == []


def test_a_long_passage_is_forgotten_as_it_was_remembered(ns: Namespace) -> None:
    words = "\n\n".join(f"Paragraph {n} tells of the tide at hour {n} and of the boat." for n in range(60))
    first, other = ns.remember(words, kind="passage"), ns.remember("the boat is red", kind="passage")
    count = ns.stats().memories["passage"]
    hidden = ns.forget(first.id).memories
    assert (hidden[0], len(hidden), count > 3) == (first.id, count - 1, True)
    assert [hit.id for hit in ns.recall("tide boat")] == [other.id]
    assert {memory.id for memory in ns.restore(first.id)} == set(hidden)
    one = next(hit for hit in ns.recall("tide at hour 40") if hit.id != first.id)
    assert ns.forget(one.id, preview=True).memories == (one.id,)
    done = ns.forget(first.id, hard=True)
    assert (set(done.memories), done.derived) == (set(hidden), ())
    assert ns.stats().memories == {"passage": 1}


def test_forgetting_a_conclusion_leaves_what_was_said(ns: Namespace) -> None:
    turn = ns.session("s").add("user", "I moved to Oslo")
    fact = ns.remember("Alice lives in Oslo", source=Source(session="s", turns=(turn.id,)))
    assert ns.forget(fact.id, hard=True).turns == ()
    assert [kept.id for kept in ns.session("s").turns()] == [turn.id]


def test_forgetting_by_filter_takes_exactly_what_passes_it(ns: Namespace) -> None:
    old = ns.remember("old note", tags=["x"], event_time="2020-01-01")
    new = ns.remember("new note", tags=["x"])
    ns.remember("untagged note")
    assert ns.forget(tags=["x"], until="2021-01-01", preview=True).memories == (old.id,)
    assert set(ns.forget(tags=["x"]).memories) == {old.id, new.id}
    assert [hit.content for hit in ns.recall("note", top_k=10)] == ["untagged note"]


def test_a_whole_session_goes_with_its_silent_turns(ns: Namespace) -> None:
    session = ns.session("s")
    session.add("system", "You are terse.")
    session.add("user", "hello there")
    ns.session("t").add("user", "hello again")
    done = ns.forget(session="s", hard=True)
    assert len(done.turns) == 2
    assert [info.id for info in ns.sessions()] == ["t"]


def test_a_whole_namespace_goes_and_no_other(ns: Namespace, sack: object) -> None:
    ns.remember("mine")
    ns.session("s").add("user", "said")
    bob = sack.namespace("bob")  # pyright: ignore[reportAttributeAccessIssue]
    kept = bob.remember("his")
    done = ns.forget(everything=True, hard=True)
    assert len(done.memories) == 2
    assert len(done.turns) == 1
    assert ns.stats().memories == {}
    assert ns.sessions() == []
    assert bob.get(kept.id) == kept


def test_what_to_forget_must_be_said_once(ns: Namespace) -> None:
    kept = ns.remember("x")
    for request in (
        {},
        {"where": {}},
        {"tags": [], "session": None},
        {"memory_id": kept.id, "everything": True},
        {"memory_id": kept.id, "kinds": ["fact"]},
    ):
        with pytest.raises(InputError, match="say what to forget"):
            ns.forget(**request)  # pyright: ignore[reportArgumentType]
    for request in (kept, [kept], 7):
        with pytest.raises(InputError, match="memory_id must be the id"):
            ns.forget(request)  # pyright: ignore[reportArgumentType]
    with pytest.raises(NotFoundError, match="01ARZ3NDEKTSV4RRFFQ69G5FAV"):
        ns.forget([kept.id, "01ARZ3NDEKTSV4RRFFQ69G5FAV"])
    assert ns.get(kept.id) == kept
