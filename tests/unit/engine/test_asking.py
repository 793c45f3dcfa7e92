from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from haversack.assemble import LINE_FORM, Outcome
from haversack.budget import Budget
from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace
from haversack.errors import BudgetError, InputError, NotFoundError, QueryError
from haversack.recall import shelf
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch, Price
from haversack.tokens import counter_for


def test_a_context_is_counted_whole_and_says_what_it_holds(ns: Namespace) -> None:
    session = ns.session("s")
    session.add("user", "Let's fly to Lisbon in May", name="Alice", at="2026-02-01")
    session.add("assistant", "Booked for the third of May.", at="2026-02-01")
    context = ns.context("When do we fly to Lisbon?", budget=60, model="cl100k_base")
    assert "(Alice) Let's fly to Lisbon in May\n" in context.text
    assert context.tokens == context.ledger.total == counter_for("cl100k_base").count(context.text)
    assert {row.verdict for row in context.verdicts} == {Outcome.KEPT}


@pytest.mark.parametrize("budget", [0, Budget(tokens=0), Budget(ratio=0.1, window=9)])
def test_nothing_fits_into_nothing(ns: Namespace, budget: Any) -> None:
    ns.remember("Alice prefers metric units")
    context = ns.context("which units", budget=budget)
    assert (context.text, context.tokens) == ("", 0)
    assert [row.verdict for row in context.verdicts] == [Outcome.DROPPED]


@pytest.mark.parametrize("budget", [-1, 1.5, True, "100", float("nan")])
def test_a_budget_is_a_whole_number(ns: Namespace, budget: Any) -> None:
    with pytest.raises(InputError, match="budget"):
        ns.context("units", budget=budget)


def test_pinned_memories_are_carried_whatever_is_asked(ns: Namespace) -> None:
    pinned = ns.remember("Never call before ten", pinned=True)
    ns.remember("Alice prefers metric units")
    context = ns.context("which units does Alice prefer", budget=40)
    assert context.items[0] == pinned.id or pinned.id in context.items
    with pytest.raises(BudgetError) as refused:
        ns.context("which units", budget=3)
    assert refused.value.ledger is not None


def test_prices_of_lines_in_an_earlier_form_are_counted_anew(ns: Namespace, store: MemoryStore) -> None:
    kept = ns.remember("Alice prefers metric units")
    store.apply("alice", Batch(prices=(Price(memory=kept.id, encoding="cl100k_base", tokens=1),)))
    context = ns.context("units", model="cl100k_base", budget=50)
    assert [row.tokens for row in context.verdicts] == [
        counter_for("cl100k_base").count("- Alice prefers metric units\n\n")
    ]


def test_prices_of_a_new_encoding_are_kept_with_the_next_write(ns: Namespace, store: MemoryStore) -> None:
    kept = ns.remember("Alice prefers metric units")
    assert list(store.prices("alice", f"o200k_base/{LINE_FORM}", [kept.id])) == [kept.id]
    ns.context("units", model="cl100k_base", budget=50)
    assert store.prices("alice", f"cl100k_base/{LINE_FORM}", [kept.id]) == {}
    ns.remember("something else")
    assert store.prices("alice", f"cl100k_base/{LINE_FORM}", [kept.id]) == {
        kept.id: counter_for("cl100k_base").count("- Alice prefers metric units\n\n")
    }


def test_prices_that_no_write_took_along_are_kept_at_close(sack: Haversack, store: MemoryStore) -> None:
    kept = sack.namespace("alice").remember("Alice prefers metric units")
    sack.namespace("alice").context("units", model="cl100k_base", budget=50)
    waiting = sack._core.prices.take("alice")
    assert [(price.memory, price.encoding) for price in waiting] == [(kept.id, f"cl100k_base/{LINE_FORM}")]


@pytest.mark.parametrize("query", ["", "   ", "\t\n", "\u200b"])
def test_a_blank_query_expresses_no_topic(ns: Namespace, query: str) -> None:
    ns.remember("x")
    for ask in (ns.recall, ns.context):
        with pytest.raises(QueryError):
            ask(query)


@pytest.mark.parametrize("query", [None, 7, b"units"])
def test_a_query_is_text(ns: Namespace, query: Any) -> None:
    with pytest.raises(InputError, match="query must be a string"):
        ns.recall(query)


def test_as_many_hits_as_asked_and_there_are(ns: Namespace) -> None:
    ns.remember_many([f"note {n} about tea" for n in range(3)])
    assert [len(ns.recall("tea", top_k=k)) for k in (10, 3, 1, 0)] == [3, 3, 1, 0]
    with pytest.raises(InputError, match="top_k"):
        ns.recall("tea", top_k=-1)


def test_other_namespaces_are_read_only_when_they_are_listed(sack: Haversack) -> None:
    alice, bob = sack.namespace("alice"), sack.namespace("bob")
    hers, his = alice.remember("tea at four"), bob.remember("tea at five")
    assert [hit.id for hit in alice.recall("tea")] == [hers.id]
    assert {(hit.namespace, hit.id) for hit in alice.recall("tea", namespaces=["bob"])} == {
        ("alice", hers.id),
        ("bob", his.id),
    }
    context = alice.context("tea", budget=50, namespaces=["bob"])
    assert set(context.items) == {hers.id, his.id}
    with pytest.raises(InputError, match="list of names"):
        alice.recall("tea", namespaces="bob")


def test_unknown_words_name_their_nearest(ns: Namespace) -> None:
    for call, says in (
        ({"layout": "flatt"}, "flat"),
        ({"format": "markdwon"}, "markdown"),
        ({"kinds": ["fakt"]}, "fact"),
        ({"weights": "balance"}, "balanced"),
        ({"weights": {"recensy": 1}}, "recency"),
        ({"sesion": "s"}, "session"),
        ({"budgt": 5}, "budget"),
        ({"model": ""}, "model"),
    ):
        with pytest.raises(InputError, match=says):
            ns.context("tea", **call)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="top_k"):
        ns.recall("tea", topk=5)  # pyright: ignore[reportCallIssue]


def test_a_budget_may_share_itself_out(ns: Namespace) -> None:
    for number in range(9):
        ns.remember(f"fact {number} about the tea house", kind="fact")
        ns.remember(f"entity {number} in the tea house", kind="entity")
    even = Budget(tokens=120, shares={"userFacts": 1, "entities": 1})
    off = Budget(ratio=0.25, window=480, shares={"entities": 0})
    planned = {each.name: each.planned for each in ns.context("tea house", budget=even).sections}
    assert planned["user_facts"] == planned["entities"] == 60
    assert {row.kind for row in ns.context("tea house", budget=off).kept} == {"fact"}
    assert {row.kind for row in ns.context("tea house", budget=off, layout="sections-audit").kept} == {"fact"}
    with pytest.raises(InputError, match="layout 'flat' has no section 'entities'"):
        ns.context("tea house", budget=off, layout="flat")
    with pytest.raises(InputError, match="shares='x'"):
        Budget(tokens=1, shares="x")  # pyright: ignore[reportArgumentType]
    nothing = ns.session("s").prompt("tea house", window=4000, budget=Budget(tokens=200, shares={"known_facts": 0}))
    assert nothing.context is None or not nothing.context.kept


def test_weights_may_be_ones_own(ns: Namespace) -> None:
    old = ns.remember("tea is served", importance=1.0, event_time="2026-01-01")
    new = ns.remember("tea is drunk", importance=0.0, event_time="2026-02-01")
    for weights, first in (({"relevance": 0, "recency": 0}, old), ({"relevance": 0, "importance": 0}, new)):
        assert ns.recall("tea", weights=weights, now="2026-02-02")[0].id == first.id


def test_each_section_gets_its_kinds_even_when_passages_outnumber_them(ns: Namespace) -> None:
    ns.session("s").extend([{"role": "user", "content": f"tea number {n}"} for n in range(200)])
    profile = ns.remember("Name: Alice", kind="profile")
    decision = ns.remember("We drink tea at four", kind="decision")
    context = ns.context("tea", budget=600, layout="sections")
    assert {profile.id, decision.id} <= set(context.items)
    assert any(section.name == "passages" and section.kept for section in context.sections)


@pytest.mark.parametrize("layout", ["flat", "sections"])
def test_a_child_that_answers_brings_the_parents_that_do_not(ns: Namespace, layout: str) -> None:
    company = ns.remember("Acme, from Rotterdam", kind="entity")
    pumps = ns.remember("They make machines", metadata={"parent": company.id})
    blue = ns.remember("The paint is always blue", metadata={"parent": pumps.id})
    gone = ns.remember("An old sign", kind="entity")
    sign = ns.remember("It was blue paint too", metadata={"parent": gone.id})
    ns.forget(gone.id)
    context = ns.context("blue paint", budget=200, layout=layout)
    family = [name for name in context.items if name in {company.id, pumps.id, blue.id}]
    assert family == [company.id, pumps.id, blue.id]
    assert sign.id in context.items
    assert gone.id not in context.items
    assert company.id not in ns.context("blue paint", budget=200, layout=layout, kinds=["fact"]).items


def test_why_follows_a_memory_to_where_it_left(ns: Namespace) -> None:
    tea = ns.remember("tea at four o'clock in the kitchen")
    long = ns.remember("tea " + "and a very long story about something else entirely " * 40)
    hidden = ns.remember("tea is forgotten")
    ns.forget(hidden.id)
    unrelated = ns.remember("the moon is far")
    said = {memory.id: ns.why("tea", memory.id, budget=30) for memory in (tea, long, hidden, unrelated)}
    assert (said[tea.id].verdict, said[tea.id].rank) == (Outcome.KEPT, 1)
    assert said[long.id].verdict in {Outcome.DROPPED, Outcome.SHORTENED}
    assert (said[hidden.id].stage, said[hidden.id].reason) == ("filter", "deleted")
    assert (said[unrelated.id].stage, said[unrelated.id].reason) == ("recall", "unrelated")
    assert "rank 1 of" in str(said[tea.id])
    with pytest.raises(NotFoundError):
        ns.why("tea", "01ARZ3NDEKTSV4RRFFQ69G5FAV")


def test_why_also_says_how_alive_a_memory_is(ns: Namespace) -> None:
    tea = ns.remember("tea at four", importance=0.4)
    life = ns.why("tea", tea.id, now=tea.created_at + timedelta(hours=100)).life
    assert (life.stage, life.importance, life.used_at, life.threshold) == ("active", 0.4, tea.created_at, 0.2)
    assert life.strength == pytest.approx(0.4 * 2.718281828 ** (-0.01 * 100))


def test_the_same_question_gives_the_same_bytes(engine: Callable[..., Haversack]) -> None:
    def packed() -> str:
        ns = engine(MemoryStore()).namespace("a")
        ns.session("s").extend([{"role": "user", "content": f"tea number {n % 7}", "at": 1.7e9 + n} for n in range(60)])
        return ns.context("which tea?", budget=200, now="2026-04-01").text

    assert packed() == packed()


def test_important_memories_that_keep_being_left_out_are_reported_with_the_budget_they_need(ns: Namespace) -> None:
    important = ns.remember("tea " + "and the long history of the tea houses of the old town " * 12, importance=0.9)
    ns.remember("tea at four", importance=0.5)
    small = ns.remember("tea at noon", importance=0.8)
    for _ in range(3):
        context = ns.context("tea", budget=14)
        assert important.id not in context.items
    (row,) = ns.trimmed()
    assert (row.memory_id, row.trimmed, row.carried, row.budget) == (important.id, 3, 0, 14)
    assert important.id in ns.context("tea", budget=row.needed).items
    assert small.id not in {each.memory_id for each in ns.trimmed()}
    assert ns.trimmed(least=4) == []
    ns.forget(important.id, hard=True)
    assert ns.trimmed() == []


def test_answers_shortly_after_a_load_say_what_they_did_not_see(
    ns: Namespace, sack: Haversack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "_OWN", 1_000)
    session = ns.session("s")
    for first in range(0, 2_500, 500):
        ns.remember_many({"content": f"boat{n} lies still", "kind": "passage"} for n in range(first, first + 500))
    assert sack._core.recall._whole._builder.build(sack._core.recall._whole._slot(ns.name), asked=True).wait(20)
    assert ns.recall("boat2499").behind == 0
    sack._core.recall.forget(ns.name)
    sack._core.recall._whole._builder.close()  # so that it is never done
    early = ns.recall("boat77")
    assert ([hit.content for hit in early], early.behind) == (["boat77 lies still"], 500)
    sack._core.recall.forget(ns.name)
    context = ns.context("boat77", budget=100)
    assert (context.behind, context.to_dict()["behind"]) == (500, 500)
    sack._core.recall.forget(ns.name)
    built = session.prompt("boat77", model="cl100k_base", window=2_000)
    assert built.context is not None
    assert built.context.behind == 500
    sack._core.recall.forget(ns.name)
    assert ns.why("boat2499", ns.everything()[0].id).rank == 1
    ns.index()
    assert ns.context("boat2499", budget=100).behind == 0
