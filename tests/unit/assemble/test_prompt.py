import json
from collections.abc import Callable, Sequence
from typing import cast

import pytest
from anthropic.types import MessageParam, ToolParam
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

from haversack.assemble import Candidate, ModelPricer, Past, Prompt, ToolBudget, build_prompt
from haversack.budget import Budget, Ledger
from haversack.errors import BudgetError, InputError
from haversack.model.memory import Kind
from haversack.model.message import Image, Message, Role
from haversack.testing.words import WordCounter
from haversack.tokens import CountKind, counter_for
from haversack.tokens.models import Family
from haversack.wire.toolshape import shape_tool

Say = Callable[..., Message]
AsPast = Callable[..., list[Past]]
Make = Callable[..., Candidate]

SEARCH = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Find a place",
        "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
    },
}


@pytest.fixture
def whole(say: Say, as_past: AsPast, make_candidate: Make, pricer: ModelPricer) -> Prompt:
    history = as_past(
        say(Role.USER, "find a bike shop", Image(url="https://example.org/a.png", width=64, height=64)),
        say(Role.ASSISTANT, calls=["c1", "c2"]),
        say(Role.TOOL, "open till six", answers="c1"),
        say(Role.TOOL, "closed", answers="c2"),
        say(Role.ASSISTANT, "The first one is open."),
    )
    return build_prompt(
        query="And a cafe?",
        pricer=pricer,
        window=8000,
        output=500,
        system="Be kind.",
        tools=[SEARCH],
        history=history,
        prior=as_past(say(Role.USER, "hello"), say(Role.ASSISTANT, "hi")),
        candidates=[
            make_candidate("Alice likes tea", number=1),
            make_candidate("We agreed on Rome", number=2, kind=Kind.SUMMARY),
        ],
        layout="attention",
    )


def test_the_order_and_the_ledger_of_the_whole_window(whole: Prompt, pricer: ModelPricer) -> None:
    assert [message.role.value for message in whole.parts] == [
        *("system", "user", "assistant"),
        *("user", "assistant", "tool", "tool", "assistant"),
        *("user", "user"),
    ]
    assert whole.parts[-1].text == "And a cafe?"
    assert [line.name for line in whole.ledger.lines] == [
        *("system", "prior sessions", "history", "tool results", "query"),
        *("memories/known_facts", "memories/summaries", "tools/search", "tools/preamble", "framing"),
    ]
    fresh = sum(cost.total for cost in pricer.messages(whole.parts)) + pricer.reply + pricer.tools(whole.tools).total
    assert whole.tokens == whole.ledger.total == fresh
    assert whole.ledger.spare == 7500 - fresh
    assert "output reserve" in str(whole)
    assert len(whole.verdicts) == 2
    assert len(whole.turns) == 7


def test_providers_accept_the_messages(whole: Prompt) -> None:
    TypeAdapter(list[ChatCompletionMessageParam]).validate_python(whole.messages("openai"), strict=False)
    TypeAdapter(list[MessageParam]).validate_python(whole.messages("anthropic"), strict=False)
    TypeAdapter(list[ResponseInputItemParam]).validate_python(whole.messages("responses"), strict=False)
    with pytest.raises(InputError, match="did you mean 'openai'"):
        whole.messages("opanai")


def test_requests_for_each_provider(whole: Prompt) -> None:
    anthropic = whole.request("anthropic")
    assert anthropic["system"] == "Be kind."
    TypeAdapter(list[ToolParam]).validate_python(anthropic["tools"])
    assert set(whole.request("openai")) == {"messages", "tools"}
    responses = whole.request("responses")
    assert set(responses) == {"input", "tools"}
    assert cast("list[dict[str, object]]", responses["tools"])[0]["name"] == "search"
    json.dumps(whole.to_dict())


def test_tool_shapes() -> None:
    schema = {"type": "object"}
    claude = {"name": "f", "description": "d", "input_schema": schema}
    nested = {"type": "function", "function": {"name": "f", "description": "d", "parameters": schema}}
    flat = {"type": "function", "name": "f", "description": "d", "parameters": schema}
    for tool in (claude, nested, flat):
        assert shape_tool(tool, "anthropic") == claude
        assert shape_tool(tool, "openai") == nested
        assert shape_tool(tool, "responses") == flat
    assert shape_tool({"type": "web_search"}, "openai") == {"type": "web_search"}
    assert shape_tool("odd", "openai") == "odd"
    strict = {"type": "function", "function": {"name": "f", "parameters": schema, "strict": True}}
    assert shape_tool(strict, "openai") == strict


def test_a_window_smaller_than_its_fixed_parts(pricer: ModelPricer) -> None:
    with pytest.raises(BudgetError, match="the largest part is system with") as refused:
        build_prompt(query="hi", pricer=pricer, window=300, output=100, system="word " * 400)
    ledger = refused.value.ledger
    assert isinstance(ledger, Ledger)
    assert ledger.tokens("system") >= 400
    assert ledger.spare < 0
    with pytest.raises(InputError, match="output=300 leaves no room"):
        build_prompt(query="hi", pricer=pricer, window=300, output=300)


def test_a_huge_tool_schema_stands_in_the_same_ledger(pricer: ModelPricer) -> None:
    huge = {"type": "function", "function": {"name": "huge", "description": "word " * 20_000, "parameters": {}}}
    with pytest.raises(BudgetError, match="the largest part is tools/huge"):
        build_prompt(query="hi", pricer=pricer, window=8000, tools=[huge])
    chosen = build_prompt(
        query="find a place", pricer=pricer, window=8000, tools=[huge, SEARCH], tool_budget=ToolBudget()
    )
    assert chosen.tools == (SEARCH,)
    assert chosen.tool_report is not None
    assert {row.name: str(row.reason) for row in chosen.tool_report.rows} == {
        "huge": "irrelevant",
        "search": "relevant",
    }


def test_supporting_context_is_bounded_by_its_ratio(make_candidate: Make, pricer: ModelPricer) -> None:
    many = [make_candidate(f"memory number {n} is about pottery", number=n) for n in range(200)]
    prompt = build_prompt(query="pottery", pricer=pricer, window=2000, output=200, candidates=many, layout="flat")
    assert prompt.context is not None
    carrier = pricer.messages(prompt.parts[-2:-1])[0].total
    assert 0.28 * 1800 < carrier <= 0.30 * 1800
    small = build_prompt(query="p", pricer=pricer, window=2000, candidates=many, layout="flat", context_budget=100)
    assert pricer.messages(small.parts[-2:-1])[0].total <= 100
    quarter = build_prompt(
        query="p", pricer=pricer, window=2000, candidates=many, layout="flat", context_budget=Budget(ratio=0.25)
    )
    assert 400 < pricer.messages(quarter.parts[-2:-1])[0].total <= 500
    none = build_prompt(query="p", pricer=pricer, window=2000, candidates=many, context_budget=0)
    assert {row.reason for row in none.verdicts} == {"no_room"}
    assert len(none.parts) == 1


def test_pins_that_do_not_fit_the_context_part(make_candidate: Make, pricer: ModelPricer) -> None:
    pin = make_candidate("word " * 300, pinned=True)
    for budget in (None, 5):
        with pytest.raises(BudgetError, match="pinned memories need more than") as refused:
            build_prompt(query="x", pricer=pricer, window=700, candidates=[pin], context_budget=budget)
        ledger = refused.value.ledger
        assert isinstance(ledger, Ledger)
        assert ledger.tokens("pinned") == pricer.counter.count(f"- {pin.memory.content}\n")
        assert (ledger.tokens("query"), ledger.budget) == (pricer.counter.count("x"), 700)


def test_other_sessions_are_the_first_to_leave(say: Say, as_past: AsPast, pricer: ModelPricer) -> None:
    prior = as_past(say(Role.USER, "before"), say(Role.ASSISTANT, "indeed"))
    history = as_past(*(say(Role.USER, f"turn {n} " + "word " * 30) for n in range(10)))
    roomy = build_prompt(query="x", pricer=pricer, window=4000, history=history, prior=prior)
    assert roomy.ledger.tokens("prior sessions") > 0
    tight = build_prompt(query="x", pricer=pricer, window=200, history=history, prior=prior)
    assert tight.ledger.tokens("prior sessions") == 0
    assert [str(row.reason) for row in tight.turns[:2]] == ["prior_session"] * 2


def test_what_is_sent_of_history_and_other_sessions_stands_once(
    make_candidate: Make, say: Say, as_past: AsPast, pricer: ModelPricer
) -> None:
    prior = [Past(message=say(role, "the berth is in Veere"), id=f"p{role}") for role in (Role.USER, Role.ASSISTANT)]
    history = as_past(say(Role.USER, "hello"), say(Role.ASSISTANT, "hi"))
    found = [
        make_candidate("the berth is in Veere", number=1, kind=Kind.PASSAGE, turns=("puser",)),
        make_candidate("hello", number=2, kind=Kind.PASSAGE, turns=("t0",)),
        make_candidate("they greet", number=3, kind=Kind.SUMMARY, turns=("t0", "t1")),
        make_candidate("they greet again", number=4, kind=Kind.SUMMARY, turns=("t0", "elsewhere")),
        make_candidate("a fact from a turn", number=5, turns=("t0",)),
        make_candidate("said elsewhere", number=6, kind=Kind.PASSAGE, turns=("elsewhere",)),
    ]

    def reasons(window: int) -> list[str]:
        prompt = build_prompt(
            query="x", pricer=pricer, window=window, history=history, prior=prior, candidates=found, context_budget=90
        )
        return [row.reason for one in found if (row := prompt.context and prompt.context.verdicts.of(one.memory.id))]

    assert reasons(1000) == ["in_history", "in_history", "redundant_summary", "fits", "fits", "fits"]
    assert reasons(120)[0] != "in_history"


def test_an_exchange_that_does_not_fit_keeps_its_question_and_its_newest_calls(
    say: Say, as_past: AsPast, pricer: ModelPricer
) -> None:
    rounds = [
        message
        for n in range(9)
        for message in (
            say(Role.ASSISTANT, calls=[f"c{n}"]),
            say(Role.TOOL, f"result {n} " + "word " * 20, answers=f"c{n}"),
        )
    ]
    history = as_past(
        *(say(Role.USER, "hello"), say(Role.ASSISTANT, "hi"), say(Role.USER, "Where is the berth?"), *rounds),
        say(Role.ASSISTANT, "In Veere."),
    )
    whole = build_prompt(query="x", pricer=pricer, window=1000, history=history)
    assert len(whole.parts) == len(history) + 1
    results: list[int] = []
    for window in range(60, whole.tokens):
        prompt = build_prompt(query="x", pricer=pricer, window=window, history=history)
        said = [message.text for message in prompt.parts[:-1]]
        assert said[-1:] == ["In Veere."], window
        first = said.index("Where is the berth?")
        assert first == 0 or said[:first] == ["hello", "hi"]
        results = [int(text.split()[1]) for text in said if text.startswith("result")]
        assert results == list(range(9 - len(results), 9))
    assert len(results) == 9


def test_a_turn_for_which_the_fixed_parts_leave_no_room_can_be_recalled(
    make_candidate: Make, say: Say, as_past: AsPast, pricer: ModelPricer
) -> None:
    history = as_past(say(Role.USER, "The number is 8731. " * 10), say(Role.ASSISTANT, "Noted. " * 30))
    found = [make_candidate("The number is 8731.", kind=Kind.PASSAGE, turns=("t0",))]
    prompt = build_prompt(
        query="number?", pricer=pricer, window=500, system="Be kind. " * 90, history=history, candidates=found
    )
    assert "8731" in str(prompt.messages())


def test_the_cascade_says_what_enters_first_in_a_prompt_of_its_layout(
    make_candidate: Make, say: Say, as_past: AsPast, pricer: ModelPricer
) -> None:
    passages = [
        make_candidate(f"passage {n} " + "word " * 8, 0.2, number=n, kind=Kind.PASSAGE, session="s") for n in range(9)
    ]
    insight = make_candidate("insight " + "word " * 8, 0.1, number=20, kind=Kind.INSIGHT)
    history = as_past(*(say(Role.USER, f"turn {n} " + "word " * 30) for n in range(60)))

    def kept(layout: str, turns: int) -> tuple[list[str], set[str]]:
        prompt = build_prompt(
            query="x", pricer=pricer, window=300, history=history[:turns], candidates=[*passages, insight],
            layout=layout, context_budget=100,
        )  # fmt: skip
        context = prompt.context
        return [stage.name for stage in prompt.stages], {str(row.kind) for row in context.kept} if context else set()

    stages = ["prior_sessions", "ten_turns", "weak_long_term_passages", "weak_passages", "five_turns"]
    assert kept("attention", 60) == (stages, {"insight", "passage"})
    assert kept("attention", 2) == ([], {"passage"})
    assert kept("flat", 60)[0] == []


def test_unknown_models_are_bounded_and_marked(make_candidate: Make, pricer: ModelPricer) -> None:
    rough = ModelPricer(counter=counter_for("somebody-elses-model"), family=Family.OTHER)
    prompt = build_prompt(query="hi", pricer=rough, window=500, candidates=[make_candidate("明日は図書館で会議をする")])
    assert not prompt.ledger.exact
    exact = sum(cost.total for cost in pricer.messages(prompt.parts)) + pricer.reply
    assert prompt.ledger.total >= exact


def test_a_message_may_be_the_query(say: Say, pricer: ModelPricer) -> None:
    picture = Image(url="data:image/png;base64,AAAA", width=10, height=10)
    prompt = build_prompt(query=say(Role.USER, "what is it?", picture), pricer=pricer, window=4000)
    assert prompt.parts[-1].parts[1] == picture
    assert prompt.ledger.tokens("query") > 10


def test_a_bare_question_has_a_bare_request(pricer: ModelPricer) -> None:
    prompt = build_prompt(query="hi", pricer=pricer, window=100)
    assert prompt.request("anthropic") == {"messages": [{"role": "user", "content": "hi"}]}


def test_pins_of_a_counter_that_overcounts_the_whole(make_candidate: Make) -> None:
    """Where the whole counts more than its parts, memories are packed again, smaller."""

    class Heavy(WordCounter):
        encoding, kind, additive = "heavy", CountKind.ESTIMATE, False

        def count(self, text: str) -> int:
            return super().count(text) * (2 if "<memories>" in text else 1)

        def count_many(self, texts: Sequence[str]) -> list[int]:
            return [self.count(text) for text in texts]

    heavy = ModelPricer(counter=Heavy(), family=Family.OPENAI)
    found = [make_candidate(f"memory {n} says little", number=n) for n in range(40)]
    prompt = build_prompt(query="hi", pricer=heavy, window=400, candidates=found, layout="flat")
    assert prompt.context is not None
    assert prompt.context.items
    assert heavy.messages(prompt.parts[-2:-1])[0].total <= 0.30 * 400


@pytest.mark.parametrize("more", [1, 2, 3])
def test_memories_keep_their_budget_where_the_whole_counts_a_little_more(make_candidate: Make, more: int) -> None:
    class Heavy(WordCounter):
        encoding, kind, additive = "heavy", CountKind.ESTIMATE, False

        def count_many(self, texts: Sequence[str]) -> list[int]:
            return [self.count(text) + more * ("</memories>" in text and "says" in text) for text in texts]

    heavy = ModelPricer(counter=Heavy(), family=Family.OPENAI)
    found = [make_candidate(f"memory {n} says little", number=n) for n in range(4)]
    taken: set[int] = set()
    for budget in range(80):
        prompt = build_prompt(query="hi", pricer=heavy, window=400, candidates=found, context_budget=budget)
        carriers = heavy.messages(prompt.parts[:-1])
        taken.add(len(prompt.context.items) if prompt.context else 0)
        assert sum(cost.total for cost in carriers) <= budget
    assert taken == {0, 1, 2, 3, 4}
