from collections.abc import Callable

import pytest

from haversack.assemble import (
    LAYOUTS,
    STAGES,
    Assembled,
    Candidate,
    ContextAssembler,
    Format,
    ModelPricer,
    Past,
    QueryRelevance,
    SupportingContextConfig,
)
from haversack.assemble.attention import Cascade
from haversack.assemble.priming import complete_turns, prime
from haversack.assemble.relevance import drop_irrelevant, topic_words
from haversack.assemble.settings import PrimingConfig
from haversack.errors import InputError
from haversack.model.memory import Kind, Stage
from haversack.model.message import Message, Role
from haversack.tokens import Counter

Say = Callable[..., Message]
AsPast = Callable[..., list[Past]]
Make = Callable[..., Candidate]


def crowd(make: Make) -> list[Candidate]:
    """Ten of everything, twenty words each, scores .05 to .95; every other passage is of long standing."""
    kinds = [Kind.PASSAGE, Kind.INSIGHT, Kind.SUMMARY, Kind.ENTITY, Kind.FACT]
    return [
        make(
            f"{kind} {n} " + "word " * 18,
            n / 10 + 0.05,
            number=place * 10 + n,
            kind=kind,
            stage=Stage.LONG_TERM if n % 2 else Stage.ACTIVE,
        )
        for place, kind in enumerate(kinds)
        for n in range(10)
    ]


def test_stages_run_in_order_until_it_fits(
    make_candidate: Make, say: Say, as_past: AsPast, pricer: ModelPricer
) -> None:
    assembler = ContextAssembler(pricer=pricer)
    history = as_past(*(say(Role.USER, f"turn {n} " + "word " * 20) for n in range(20)))
    prior = as_past(say(Role.USER, "old " * 50))
    found = crowd(make_candidate)
    everything = assembler.assemble_context("q", found, budget_limit=100_000, history=history, prior=prior)
    assert everything.stages == ()
    assert len(everything.history.messages) == 20
    assert len(everything.prior.messages) == 1
    reached: list[int] = []
    for budget in range(1800, 100, -100):
        result = assembler.assemble_context("q", found, budget_limit=budget, history=history, prior=prior)
        assert result.tokens <= budget
        assert [stage.name for stage in result.stages] == [name for name, _ in STAGES[: len(result.stages)]]
        reached.append(len(result.stages))
    assert reached == sorted(reached)
    assert set(reached) >= {0, 2, 9}


def test_what_each_stage_takes_out(make_candidate: Make, say: Say, as_past: AsPast, pricer: ModelPricer) -> None:
    history = as_past(*(say(Role.USER, f"turn {n}") for n in range(20)))
    found = crowd(make_candidate)
    stages = ContextAssembler(pricer=pricer).assemble_context("q", found, budget_limit=20, history=history).stages
    names = {one.memory.id: f"{one.memory.kind} {one.score:.2f}" for one in found}
    removed = [[names[name] for name in stage.removed] for stage in stages]
    assert removed[2] == ["passage 0.15"]
    assert removed[3] == ["passage 0.05", "passage 0.25", "passage 0.35", "passage 0.45"]
    assert removed[5] == ["passage 0.55"]
    assert [len(one) for one in removed] == [0, 0, 1, 4, 0, 1, 14, 10, 18]
    assert [stage.turns for stage in stages] == [20, 10, 10, 10, 5, 5, 5, 5, 2]
    assert len(stages) == 9


def test_what_a_stage_took_out_comes_back_behind_the_rest(make_candidate: Make, pricer: ModelPricer) -> None:
    found = crowd(make_candidate)
    result = ContextAssembler(pricer=pricer).assemble_context("q", found, budget_limit=900)
    assert result.stages
    assert result.context.ledger.spare < 25


def test_nothing_is_pruned_while_what_the_layout_takes_fits(
    make_candidate: Make, say: Say, as_past: AsPast, pricer: ModelPricer
) -> None:
    limits = {"known_facts": 2, "passages": 1, "insights": 1, "summaries": 1}
    assembler = ContextAssembler(pricer=pricer, config=SupportingContextConfig(max_items=limits))
    history = as_past(*(say(Role.USER, f"turn {n} " + "word " * 20) for n in range(20)))
    prior = as_past(say(Role.USER, "old " * 20))

    def at(budget: int) -> Assembled:
        return assembler.assemble_context("q", crowd(make_candidate), budget, history=history, prior=prior)

    need = at(100_000).tokens
    enough, short = at(need), at(need - 1)
    assert (enough.stages, enough.tokens, len(enough.history.messages)) == ((), need, 20)
    assert [stage.name for stage in short.stages] == ["prior_sessions"]
    assert len(short.history.messages) == 20
    tight = at(need - 60)
    assert [stage.name for stage in tight.stages] == ["prior_sessions", "ten_turns"]
    assert len(tight.history.messages) == 18
    assert len(tight.context.items) == len(enough.context.items) == 5


def test_a_stage_counts_turns_with_their_answers(
    make_candidate: Make, say: Say, as_past: AsPast, pricer: ModelPricer
) -> None:
    history = as_past(*(say(role, f"turn {n}") for n in range(12) for role in (Role.USER, Role.ASSISTANT)))
    assembler = ContextAssembler(pricer=pricer)
    stages = assembler.assemble_context("q", crowd(make_candidate), budget_limit=1, history=history).stages
    assert [stage.turns for stage in stages] == [12, 10, 10, 10, 5, 5, 5, 5, 2]
    cascade = Cascade(history, (), layout=LAYOUTS["attention"], format=Format.MARKDOWN, pricer=pricer)
    assert [past.message.text for past in cascade.newest(2)] == ["turn 10", "turn 10", "turn 11", "turn 11"]


def test_old_superseded_and_redundant_memories(
    make_candidate: Make, say: Say, as_past: AsPast, pricer: ModelPricer
) -> None:
    found = [
        make_candidate("a", number=1, stage=Stage.DECAYED),
        make_candidate("b", number=2, superseded_by="x"),
        make_candidate("c", number=3, kind=Kind.SUMMARY, turns=("t0", "t1")),
        make_candidate("d", number=4, kind=Kind.SUMMARY, turns=("t0", "gone")),
        make_candidate("e", number=5, stage=Stage.DECAYED, pinned=True),
    ]
    history = as_past(say(Role.USER, "x"), say(Role.ASSISTANT, "y"))
    result = ContextAssembler(pricer=pricer).assemble_context("q", found, budget_limit=500, history=history)
    assert {row.memory_id[-1]: row.reason for row in result.context.verdicts} == {
        "1": "decayed",
        "2": "superseded",
        "3": "redundant_summary",
        "4": "fits",
        "5": "pinned",
    }


def test_the_budget_formula(pricer: ModelPricer, exact: Counter) -> None:
    assembler = ContextAssembler(pricer=pricer, max_tokens=32_000, output_buffer=2500)
    system = "word " * 1499 + "word"
    tools = [{"name": "look", "description": "Look it up. " * 40}]
    schemas = pricer.tools(tools).total
    assert assembler.calculate_budget_limit(system) == 32_000 - 2500 - (exact.count(system) + 3 + exact.count("system"))
    assert assembler.calculate_budget_limit("") - assembler.calculate_budget_limit("", tools) == schemas > 100
    assert ContextAssembler(pricer=pricer, max_tokens=1025).calculate_budget_limit(system, tools) == 0


def insights(make: Make) -> list[Candidate]:
    texts = ["likes pottery", "lives in Oslo", "会議は図書館で", "owns a dog", "plays chess", "hates rain", "eats fish"]
    return [make(text, number=n, kind=Kind.INSIGHT, hours=n) for n, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("What about the pottery?", ["likes pottery", "eats fish"]),
        ("図書館はどこ", ["会議は図書館で", "eats fish"]),
        ("What is it about?", [text.memory.content for text in []]),
        ("", []),
    ],
)
def test_the_relevance_filter_copes_with_stop_words_and_scripts(
    make_candidate: Make, query: str, left: list[str]
) -> None:
    rules = QueryRelevance(enabled=True, keep_recent={Kind.INSIGHT: 1})
    found = drop_irrelevant(insights(make_candidate), query, rules)
    kept = [one.memory.content for one in found if one.filtered is None]
    assert kept == (left or [one.memory.content for one in insights(make_candidate)])


def test_the_relevance_filter_is_off_by_default(make_candidate: Make) -> None:
    found = insights(make_candidate)
    assert drop_irrelevant(found, "pottery", QueryRelevance()) == found
    pin = make_candidate("unrelated", number=9, kind=Kind.INSIGHT, pinned=True)
    assert drop_irrelevant([pin], "pottery", QueryRelevance(enabled=True, keep_recent={})) == [pin]
    assert topic_words("What is the") == frozenset()
    with pytest.raises(InputError, match=r"keep_recent\.insight=-1"):
        QueryRelevance(keep_recent={Kind.INSIGHT: -1})


def test_priming_by_its_limits(make_candidate: Make, say: Say, as_past: AsPast, pricer: ModelPricer) -> None:
    sessions = [
        as_past(say(Role.USER, f"q{n}"), say(Role.ASSISTANT, f"a{n}"), say(Role.USER, "unanswered")) for n in range(3)
    ]
    config = PrimingConfig(
        top_entities=2,
        max_insights=3,
        max_summaries=1,
        max_known_facts=4,
        previous_sessions=2,
        previous_session_turns=1,
    )
    primed = prime(crowd(make_candidate), sessions, config, pricer=pricer)
    assert {section.name: section.kept for section in primed.context.sections} == {
        "known_facts": 4,
        "entities": 2,
        "insights": 3,
        "summaries": 1,
    }
    assert [message.text for message in primed.prior.messages] == ["q1", "a1", "q0", "a0"]
    assert primed.tokens <= config.token_budget
    tight = prime(crowd(make_candidate), sessions, PrimingConfig(token_budget=60), pricer=pricer)
    assert 0 < tight.tokens <= 60
    assert prime(crowd(make_candidate), sessions, PrimingConfig(enabled=False), pricer=pricer).tokens == 0
    with pytest.raises(InputError, match=r"priming\.top_entities=-1"):
        PrimingConfig(top_entities=-1)


def test_priming_defaults() -> None:
    config = PrimingConfig()
    assert (config.top_entities, config.max_insights, config.max_summaries, config.max_known_facts) == (10, 10, 10, 50)
    assert (config.previous_sessions, config.previous_session_turns) == (0, 5)


def test_a_turn_counts_with_its_tool_calls(say: Say, as_past: AsPast) -> None:
    session = as_past(
        say(Role.ASSISTANT, "hello"),
        say(Role.USER, "one"),
        say(Role.ASSISTANT, calls=["c"]),
        say(Role.TOOL, "r", answers="c"),
        say(Role.ASSISTANT, "done"),
        say(Role.USER, "two"),
    )
    assert [past.id for past in complete_turns(session, 5)] == ["t1", "t2", "t3", "t4"]
    assert complete_turns(session, 0) == []
