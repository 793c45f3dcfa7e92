from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from haversack.assemble import LAYOUTS, SHAPES, Outcome, PrimingConfig, ToolBudget
from haversack.budget import Budget, Ledger
from haversack.compaction import CompactionConfig
from haversack.compaction.result import Outcome as Run
from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace
from haversack.engine.session import Session
from haversack.engine.settings import MemorySettings
from haversack.errors import BudgetError, ConfigError, InputError, NotFoundError
from haversack.model.memory import Kind
from haversack.recall import Recall
from haversack.store.memory import MemoryStore
from haversack.tokens import counter_for
from haversack.tokens.chat import count_messages
from haversack.tokens.models import Family
from haversack.wire import openai

CALL = {"id": "c1", "type": "function", "function": {"name": "tide", "arguments": '{"port":"Veere"}'}}


def talk(session: Session, rounds: int) -> None:
    session.extend(
        message
        for n in range(rounds)
        for message in (
            {"role": "user", "content": f"Please book hotel number {n} for {n * 10} euros"},
            {"role": "assistant", "content": f"Booked hotel number {n}; the door code is {4000 + n}."},
        )
    )


def counted(messages: list[Any], model: str) -> int:
    return count_messages(counter_for(model), openai.load_all(messages), Family.OPENAI, model=model).total


def with_memory(memory: MemorySettings, engine: Callable[..., Haversack]) -> Haversack:
    sack = engine(MemoryStore())
    return Haversack(replace(sack._core, memory=memory))


def test_a_prompt_fits_its_window_by_a_fresh_count_of_what_is_sent(ns: Namespace) -> None:
    ns.remember("Alice prefers metric units")
    session = ns.session("s")
    talk(session, 40)
    for window in (400, 900, 2000):
        prompt = session.prompt("Which units?", system="Be brief.", model="gpt-4o", window=window, output=100)
        assert counted(list(prompt.messages("openai")), "gpt-4o") == prompt.ledger.total <= window - 100
        roles = [message["role"] for message in prompt.messages("openai")]
        assert (roles[0], roles[1], roles[-1]) == ("system", "user", "user")
        assert "Alice prefers metric units" in str(prompt.messages("openai"))


def test_the_last_turn_is_the_query_when_none_is_given(ns: Namespace) -> None:
    session = ns.session("s")
    with pytest.raises(InputError, match="give a query"):
        session.prompt(window=500)
    session.add("user", "Which units?")
    prompt = session.prompt(window=500, output=50)
    assert [message["content"] for message in prompt.messages("openai")] == ["Which units?"]
    session.add("assistant", "Metric.")
    with pytest.raises(InputError, match="give a query"):
        session.prompt(window=500)


def test_what_stands_in_the_history_is_not_recalled_as_well(ns: Namespace) -> None:
    session = ns.session("s")
    session.add("user", "The boat is called Petrel")
    session.add("assistant", "Noted.")
    ns.session("earlier").add("user", "The boat has an electric engine", name="Mira")
    prompt = session.prompt("What is the boat called?", window=2000, output=100)
    text = str(prompt.messages("openai"))
    assert text.count("called Petrel") == 1
    assert "electric engine" in text
    reasons = {row.reason for row in prompt.verdicts if row.verdict is Outcome.FILTERED}
    assert reasons == {"in_history"}


def test_a_memory_budget_of_zero_asks_for_no_memories(ns: Namespace, monkeypatch: pytest.MonkeyPatch) -> None:
    ns.remember("Alice prefers metric units", pinned=True)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("memories were asked for")

    monkeypatch.setattr(Recall, "view", refuse)
    for budget in (0, Budget(ratio=0.5, tokens=0)):
        prompt = ns.session("s").prompt("Which units?", window=2000, output=100, budget=budget)
        assert [message["content"] for message in prompt.messages()] == ["Which units?"]
        assert prompt.context is None


def test_a_budget_of_its_own_decides_how_many_memories_are_considered(ns: Namespace) -> None:
    ns.remember_many([{"content": f"fact number {n} about boats"} for n in range(120)])
    few = ns.session("s").prompt("boats", window=2000, output=100)
    many = ns.session("s").prompt("boats", window=2000, output=100, budget=1500)
    assert (len(few.verdicts), len(many.verdicts)) == (64, 120)


def test_turns_that_do_not_fit_any_more_are_recalled(ns: Namespace) -> None:
    session = ns.session("s")
    session.add("user", "The lucky number of the boat is 8731")
    talk(session, 60)
    prompt = session.prompt("What is the lucky number of the boat?", window=700, output=100)
    assert "8731" in str(prompt.messages("openai"))


def test_fixed_parts_that_do_not_fit_carry_their_ledger(ns: Namespace) -> None:
    with pytest.raises(BudgetError) as refused:
        ns.session("s").prompt("hi", system="word " * 500, window=300, output=100)
    assert "system" in str(refused.value)
    assert refused.value.ledger is not None


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({"window": 0}, "leaves no room in window=0"),
        ({"window": -5}, "window=-5"),
        ({"window": 500, "output": -1}, "output=-1"),
        ({"model": "unheard-of-9b", "output": 5}, "context window of 'unheard-of-9b'"),
        ({"window": 500, "layout": "attenton"}, "attention"),
        ({"window": 500, "windw": 3}, "windw"),
        ({"window": 500, "tools": [5]}, "tools must be a list of schemas"),
        ({"window": 500, "tools": "x"}, "tools must be a list of schemas"),
        ({"window": 500, "kinds": ["fakt"]}, "fact"),
    ],
)
def test_a_window_that_makes_no_sense_is_refused(ns: Namespace, wanted: dict[str, Any], says: str) -> None:
    with pytest.raises((InputError, BudgetError), match=says):
        ns.session("s").prompt("hi", **wanted)


def test_tools_stand_in_the_ledger_and_may_be_chosen(ns: Namespace) -> None:
    tools = [
        {"type": "function", "function": {"name": name, "description": f"{name} things", "parameters": {}}}
        for name in ("book_hotel", "paint_boat")
    ]
    prompt = ns.session("s").prompt("book a hotel", tools=tools, window=2000, output=100)
    assert prompt.ledger.tokens("tools/book_hotel") > 0
    assert prompt.ledger.tokens("tools/paint_boat") > 0


def test_a_softly_forgotten_turn_leaves_the_prompt_until_it_is_restored(ns: Namespace) -> None:
    session = ns.session("s")
    session.add("user", "my code is 4711")
    session.add("user", "good morning")
    hit = ns.recall("code 4711")[0]
    ns.forget(hit.id)
    assert "4711" not in str(session.prompt("hello", window=500, output=50).messages())
    ns.restore(hit.id)
    assert "4711" in str(session.prompt("hello", window=500, output=50).messages())


def test_compaction_shortens_the_prompt_and_loses_nothing(ns: Namespace) -> None:
    session = ns.session("s")
    talk(session, 30)
    said = session.turns()
    before = session.prompt("Which hotel?", window=8000, output=100)
    result = session.compact()
    after = session.prompt("Which hotel?", window=8000, output=100)
    assert result.outcome is Run.DONE
    assert after.ledger.tokens("history") < before.ledger.tokens("history")
    assert session.turns() == said
    assert result.summary is not None
    behind = session.expand(result.summary)
    assert behind == said[: len(behind)]
    assert len(behind) == result.turns_summarized
    summary = ns.get(result.summary)
    assert (summary.kind, summary.source.turns) == (Kind.SUMMARY, tuple(turn.id for turn in behind))
    assert [hit.content for hit in ns.recall("door code 4003", kinds=["passage"], top_k=1)] == [
        "Booked hotel number 3; the door code is 4003."
    ]


def test_a_summary_can_be_opened_again(ns: Namespace) -> None:
    session = ns.session("s")
    talk(session, 30)
    verbatim = session.prompt("Which hotel?", window=8000, output=100, kinds=["fact"]).messages()
    result = session.compact()
    assert result.summary is not None
    assert session.prompt("Which hotel?", window=8000, output=100, kinds=["fact"]).messages() != verbatim
    session.expand(result.summary, reopen=True)
    assert session.prompt("Which hotel?", window=8000, output=100, kinds=["fact"]).messages() == verbatim
    with pytest.raises(NotFoundError):
        session.expand("01ARZ3NDEKTSV4RRFFQ69G5FAV")


def test_nothing_to_compact_changes_nothing(ns: Namespace) -> None:
    session = ns.session("s")
    for rounds in (0, 1):
        talk(session, rounds)
        result = session.compact()
        assert (result.outcome, result.reasons) == (Run.SKIPPED, ("nothing to compact",))
    assert ns.stats().memories == {"passage": 2}


def test_forgetting_a_turn_behind_a_summary_takes_the_summary_along(ns: Namespace) -> None:
    session = ns.session("s")
    talk(session, 30)
    result = session.compact()
    assert result.summary is not None
    (hit, *_) = ns.recall("door code 4003", kinds=["passage"], top_k=1)
    ns.forget(hit.id, hard=True)
    assert "4003" not in str(session.prompt("Which hotel?", window=8000, output=100).messages())
    with pytest.raises(NotFoundError):
        ns.get(result.summary)


def test_an_explicit_off_switches_compaction_off(engine: Callable[..., Haversack]) -> None:
    sack = with_memory(MemorySettings(compaction=CompactionConfig(enabled=False)), engine)
    with pytest.raises(ConfigError, match="switched off"):
        sack.namespace("a").session("s").compact()


def test_a_full_window_is_compacted_in_the_background_before_the_next_prompt(
    engine: Callable[..., Haversack],
) -> None:
    settings = MemorySettings(compaction=CompactionConfig(cooldown_turns=0), context_window=1200, output_buffer=100)
    sack = with_memory(settings, engine)
    session = sack.namespace("a").session("s")
    talk(session, 40)
    session.prompt("Which hotel?")
    prompt = session.prompt("Which hotel?")
    assert "[Summary of earlier turns" in str(prompt.messages())
    sack.close()


def test_the_newest_turns_alone_are_shown_where_a_limit_says_so(engine: Callable[..., Haversack]) -> None:
    for most, messages in ((0, 0), (3, 6), (10, 20), (50, 20)):
        sack = with_memory(MemorySettings(max_history_turns=most), engine)
        session = sack.namespace("a").session("s")
        talk(session, 10)
        prompt = session.prompt("Which?", window=4000, output=100, kinds=["fact"])
        assert [row.verdict for row in prompt.turns].count(Outcome.KEPT) == messages


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_and_shape_gives_a_prompt_within_its_window(ns: Namespace, layout: str) -> None:
    session = ns.session("s")
    talk(session, 20)
    session.extend(
        [
            {"role": "user", "content": "When is high water?"},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "14:20"},
            {"role": "assistant", "content": "At 14:20."},
        ]
    )
    prompt = session.prompt("hotel?", layout=layout, window=1500, output=100)
    assert prompt.tokens <= 1400
    for shape in SHAPES:
        assert prompt.messages(shape)


@pytest.mark.parametrize("layout", ["attention", "cached"])
def test_a_megabyte_and_a_huge_schema_take_no_more_than_their_part(ns: Namespace, layout: str) -> None:
    session = ns.session("s")
    session.add("user", "The harbour of Veere has a crane. " * 30_000)
    session.add("assistant", "x" * 1_000_000)
    session.add("user", "Thanks.")
    tools = [{"name": "crane", "description": "d " * 50_000}]
    wanted: dict[str, Any] = {"window": 4000, "output": 100, "layout": layout, "tools": tools}
    with pytest.raises(BudgetError, match=r"the largest part is tools/crane with \d{5}") as refused:
        session.prompt("Which crane?", **wanted)
    assert isinstance(refused.value.ledger, Ledger)
    assert refused.value.ledger.tokens("tools/crane") > 50_000
    prompt = session.prompt("Which crane?", tool_budget=ToolBudget(), **wanted)
    assert prompt.tool_report is not None
    assert [row.reason for row in prompt.tool_report.rows] == ["no_room"]
    assert [row.verdict for row in prompt.turns] == [Outcome.SHORTENED, Outcome.SHORTENED, Outcome.KEPT]
    assert prompt.tokens <= 3900


def test_what_became_of_earlier_sessions_is_said(engine: Callable[..., Haversack]) -> None:
    sack = with_memory(MemorySettings(priming=PrimingConfig(previous_sessions=3, previous_session_turns=2)), engine)
    ns = sack.namespace("a")
    for name in ("first", "second", "third"):
        talk(ns.session(name), 4)
    ns.session("asked").add("user", "Is anybody there?")
    session = ns.session("now")

    def said(window: int, **wanted: Any) -> list[tuple[str, int, int, str]]:
        prompt = session.prompt("Which hotel?", window=window, output=10, kinds=["fact"], **wanted)
        return [(row.id, row.messages, row.kept, row.reason) for row in prompt.sessions]

    assert said(2000) == [("asked", 0, 0, "no_complete_turn"), ("third", 4, 4, "fits"), ("second", 4, 4, "fits")]
    assert said(35) == [("asked", 0, 0, "no_complete_turn"), ("third", 4, 0, "no_room"), ("second", 4, 0, "no_room")]
    assert said(2000, layout="cached")[1] == ("third", 4, 0, "stable_prefix")
    assert ns.session("now").prompt("Hm?", window=2000).to_dict()["sessions"]


def test_earlier_sessions_stand_once(engine: Callable[..., Haversack]) -> None:
    sack = with_memory(MemorySettings(priming=PrimingConfig(previous_sessions=1, previous_session_turns=2)), engine)
    ns = sack.namespace("a")
    talk(ns.session("before"), 4)
    prompt = ns.session("now").prompt("Which hotel has the door code 4003?", window=4000, output=100)
    text = str(prompt.messages())
    assert [text.count(f"the door code is {4000 + n}.") for n in range(4)] == [1, 1, 1, 1]
    assert prompt.ledger.tokens("prior sessions") > 0


def test_a_prompt_uses_its_window(ns: Namespace) -> None:
    """No count of items ends what answers; the layout named attention has the counts that its users know."""
    talk(ns.session("before"), 30)
    question = "Which hotels were booked, and what are their door codes?"
    kept: dict[str | None, int] = {}
    for layout in (None, "flat", "attention"):
        context = ns.session("now").prompt(question, window=16_000, output=100, layout=layout).context
        kept[layout] = len(context.items) if context else 0
    assert kept[None] == kept["flat"] > 20
    assert kept["attention"] == 10


def test_priming_limits_what_does_not_answer(engine: Callable[..., Haversack]) -> None:
    priming = PrimingConfig(max_known_facts=1, max_insights=0)
    ns = with_memory(MemorySettings(priming=priming), engine).namespace("a")
    ns.remember("The boat is called Petrel", importance=0.9)
    ns.remember("The mast is of spruce", importance=0.5)
    ns.remember("Sails tear at the seams", kind="insight")
    ns.remember("Scrape before painting", kind="procedure")
    prompt = ns.session("s").prompt("qwertz", layout="attention", window=4000, output=100)
    assert {row.reason for row in prompt.verdicts} == {"fits", "not_primed"}
    text = str(prompt.messages())
    assert [words in text for words in ("Petrel", "spruce", "seams", "Scrape")] == [True, False, False, True]


def test_the_newest_state_stands_in_its_section(ns: Namespace) -> None:
    ns.remember("The boat lies in Veere, where the boat is painted", kind="state", event_time="2026-01-01T00:00Z")
    ns.remember("The boat lies in Goes", kind="state", event_time="2026-02-01T00:00Z")
    prompt = ns.session("s").prompt("Where is the boat painted?", layout="attention", window=4000, now="2026-03-01")
    assert "Goes" in str(prompt.messages())


def test_a_setting_never_raises_the_window_above_what_is_published(engine: Callable[..., Haversack]) -> None:
    for size, window in ((10_000_000, 128_000), (32_000, 32_000)):
        session = with_memory(MemorySettings(context_window=size), engine).namespace("a").session("s")
        assert session.prompt("hi", model="gpt-4o").ledger.budget == window
    assert session.prompt("hi", model="gpt-4o", window=200_000).ledger.budget == 200_000


def test_priming_starts_a_session_with_what_is_known(engine: Callable[..., Haversack]) -> None:
    sack = with_memory(MemorySettings(), engine)
    ns = sack.namespace("a")
    ns.remember("Name: Mira", kind="profile")
    ns.remember("The boat is called Petrel", kind="fact")
    primed = ns.session("new").prime(window=4000)
    assert "Name: Mira" in primed.context.text
    assert "Petrel" in primed.context.text
    assert 0 < primed.tokens <= 4000


def test_what_no_verdict_is_about_is_counted(engine: Callable[..., Haversack]) -> None:
    ns = engine(MemoryStore(), widest=70).namespace("a")
    ns.remember_many([{"content": f"fact number {n} about boats"} for n in range(120)])
    for budget, beyond in ((500, 0), (100_000, 50)):
        context = ns.context("boats", budget=budget)
        assert (context.beyond, context.to_dict()["beyond"]) == (beyond, beyond)
    assert "50 more were not looked at (engine.widest)" in str(context)
