"""The laws of a whole prompt, over generated windows, histories, tools, memories, layouts and formats."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from haversack.assemble import (
    LAYOUTS,
    Anchor,
    Candidate,
    ContextAssembler,
    Format,
    ModelPricer,
    Past,
    Prompt,
    ToolBudget,
    assemble,
    build_prompt,
    trim,
)
from haversack.assemble.fit import fit_history
from haversack.errors import BudgetError, InputError
from haversack.model.identity import make_id
from haversack.model.memory import Kind, Memory, Source, Stage
from haversack.model.message import Image, Message, Opaque, Role, Text, ToolCall
from haversack.tokens import counter_for
from haversack.tokens.models import Family

PRICERS = [
    ModelPricer(counter=counter_for("cl100k_base"), family=Family.OPENAI),
    ModelPricer(counter=counter_for("o200k_base"), family=Family.OPENAI),
    ModelPricer(counter=counter_for("an-unknown-model"), family=Family.OTHER),
    ModelPricer(counter=counter_for("an-unknown-model"), family=Family.ANTHROPIC),
]
START = datetime(2025, 5, 1, tzinfo=UTC)
_WORDS = ("we", "the", "museum", "pottery.", "会議をする", "🚲", "plan", "</memories>", "\nSYSTEM: x", "42")


def words(random: Random, most: int) -> str:
    return " ".join(random.choice(_WORDS) for _ in range(random.randint(1, most)))


def history_of(seed: int, length: int) -> list[Past]:
    """A conversation as logs have it: calls, parallel calls, orphans, lost results, pictures, one huge message."""
    random = Random(seed)
    past: list[Message] = []
    while len(past) < length:
        match random.randrange(10):
            case 0:
                ids = [f"c{len(past)}-{n}" for n in range(random.randint(1, 3))]
                calls = tuple(ToolCall(id=name, name="look", arguments='{"q": "x"}') for name in ids)
                past.append(Message(role=Role.ASSISTANT, parts=(Text("let me see"),), tool_calls=calls))
                random.shuffle(ids)
                answered = ids[: -1 if random.randrange(2) == 0 else None]
                past += [
                    Message(role=Role.TOOL, parts=(Text(words(random, 60)),), tool_call_id=name) for name in answered
                ]
            case 1 if random.randrange(3) == 0:
                past.append(Message(role=Role.TOOL, parts=(Text("lost"),), tool_call_id="nobody"))
            case 2:
                picture = Image(url="https://example.org/a.png", width=900, height=600, caption="a vase")
                past.append(Message(role=Role.USER, parts=(Text("look"), picture)))
            case 3 if random.randrange(3) == 0:
                past.append(Message(role=random.choice([Role.USER, Role.ASSISTANT]), parts=(Text(words(random, 900)),)))
            case 4:
                past.append(Message(role=Role.USER, parts=(Opaque(kind="odd", json='{"a": 1}'),)))
            case _:
                role = Role.USER if len(past) % 2 == 0 else Role.ASSISTANT
                past.append(Message(role=role, parts=(Text(words(random, 40)),)))
    return [
        Past(message=message, id=f"t{n}", stands_for=8 if n == 0 and seed % 4 == 0 else 0)
        for n, message in enumerate(past)
    ]


def candidates_of(seed: int, number: int) -> list[Candidate]:
    random = Random(seed)
    found: list[Candidate] = []
    for born in range(number):
        kind = random.choice([Kind.PASSAGE, *Kind])
        at = START + timedelta(hours=random.randrange(400))
        memory = Memory(
            id=make_id(at, born.to_bytes(10, "big")),
            kind=kind,
            content=words(random, 50),
            created_at=at,
            event_time=at,
            speaker="Ann" if kind is Kind.PASSAGE else "",
            source=Source(session="s") if kind is Kind.PASSAGE else Source(),
            stage=random.choice([Stage.ACTIVE, Stage.LONG_TERM]),
            pinned=random.randrange(40) == 0,
        )
        found.append(Candidate(memory=memory, score=random.random()))
    return found


def tools_of(number: int) -> list[object]:
    schema = {"type": "object", "properties": {"q": {"type": "string", "description": "what to look for"}}}
    return [{"type": "function", "function": {"name": f"tool_{n}", "parameters": schema}} for n in range(number)]


@st.composite
def built(draw: st.DrawFn) -> tuple[Prompt, ModelPricer, int] | None:
    """A prompt, how it was priced and what it may take; None when its fixed parts do not fit."""
    pricer = draw(st.sampled_from(PRICERS))
    window = draw(st.sampled_from([60, 200, 400, 900, 2000, 4000, 8000]))
    output = draw(st.sampled_from([0, 50, 300]))
    seed = draw(st.integers(0, 5000))
    try:
        prompt = build_prompt(
            query="What did we plan? 会議",
            pricer=pricer,
            window=window,
            output=output,
            system=draw(st.sampled_from(["", "Be kind. " * 5])),
            tools=tools_of(draw(st.sampled_from([0, 1, 9]))),
            tool_budget=draw(st.sampled_from([None, ToolBudget(most=3)])),
            history=history_of(seed, draw(st.sampled_from([0, 1, 7, 30]))),
            prior=history_of(seed + 1, draw(st.sampled_from([0, 4]))),
            candidates=candidates_of(seed, draw(st.sampled_from([0, 3, 40]))),
            layout=draw(st.sampled_from(sorted(LAYOUTS))),
            format=draw(st.sampled_from(list(Format))),
            least_evidence=draw(st.sampled_from([0.0, 0.06])),
        )
    except BudgetError as refused:
        if refused.ledger is None:
            raise
        return None
    except InputError:
        if output < window:
            raise
        return None
    return prompt, pricer, window - output


@given(built())
def test_cap_and_sum(drawn: tuple[Prompt, ModelPricer, int] | None) -> None:
    if drawn is None:
        return
    prompt, pricer, limit = drawn
    fresh = sum(cost.total for cost in pricer.messages(prompt.parts)) + pricer.reply + pricer.tools(prompt.tools).total
    assert prompt.ledger.total == fresh == sum(line.tokens for line in prompt.ledger.lines)
    assert fresh <= limit
    assert prompt.ledger.spare == limit - fresh
    assert prompt.ledger.exact == (pricer.measure == "exact")


@given(
    st.sampled_from(PRICERS),
    st.sampled_from(sorted(LAYOUTS)),
    st.sampled_from(list(Format)),
    st.sampled_from([0, 50]),
    st.integers(0, 5000),
    st.sampled_from([(0, 0), (1, 0), (7, 0), (0, 3), (7, 5)]),
)
def test_the_cap_holds_one_by_one_around_what_everything_takes(
    pricer: ModelPricer, layout: str, form: Format, output: int, seed: int, sizes: tuple[int, int]
) -> None:
    def build(room: int) -> Prompt:
        return build_prompt(
            query="What did we plan? 会議",
            pricer=pricer,
            window=room + output,
            output=output,
            system="Be kind.",
            tools=tools_of(seed % 2),
            history=history_of(seed, sizes[0]),
            candidates=candidates_of(seed, sizes[1]),
            context_budget=100_000,
            layout=layout,
            format=form,
        )

    need = build(100_000).ledger.total
    for room in range(need - 3, need + 4):
        try:
            prompt = build(room)
        except BudgetError:
            assert room < need, "everything fits"
        else:
            assert prompt.ledger.total <= room
            assert sizes != (0, 0) or room >= need, "what is fixed does not fit"


@given(built())
def test_pairs_and_a_legal_start(drawn: tuple[Prompt, ModelPricer, int] | None) -> None:
    if drawn is not None:
        check_legal(drawn[0].parts)


def check_legal(messages: Sequence[Message]) -> None:
    """What providers demand: system first, then the user; every call answered at once, no answer without a call."""
    talk = [message for message in messages if message.role is not Role.SYSTEM]
    assert all(message.role is Role.SYSTEM for message in messages[: len(messages) - len(talk)])
    assert not talk or talk[0].role is Role.USER
    open_calls: set[str] = set()
    for message in talk:
        if message.role is Role.TOOL:
            assert message.tool_call_id in open_calls
            open_calls.discard(message.tool_call_id or "")
        else:
            assert not open_calls, "a call without all its results"
            open_calls = {call.id for call in message.tool_calls}
    assert not open_calls


@given(st.sampled_from(PRICERS), st.integers(0, 5000), st.integers(1, 6), st.sampled_from(["flat", "cached"]))
def test_an_open_exchange_is_cut_from_its_oldest_results_on(
    pricer: ModelPricer, seed: int, rounds: int, layout: str
) -> None:
    random = Random(seed)
    since = [
        Past(message=message, id=f"s{number}")
        for number in range(rounds)
        for message in (
            Message(role=Role.ASSISTANT, tool_calls=(ToolCall(id=f"c{number}", name="look", arguments="{}"),)),
            Message(role=Role.TOOL, parts=(Text(words(random, 200)),), tool_call_id=f"c{number}"),
        )
    ]

    def build(window: int) -> Prompt:
        return build_prompt(query="What of it?", since=since, pricer=pricer, window=window, layout=layout)

    whole = build(100_000)
    assert [past.message for past in since] == list(whole.parts[1:])
    refused = False
    for window in sorted(random.sample(range(1, whole.tokens), 12), reverse=True):
        try:
            prompt = build(window)
        except BudgetError:
            refused = True
            continue
        assert not refused, "a smaller window holds what a larger one did not"
        check_legal(prompt.parts)
        assert prompt.parts[0].text == "What of it?"
        assert prompt.tokens <= window
        left_out = sum(row.verdict == "dropped" for row in prompt.turns)
        assert len(prompt.parts) == 1 + len(since) - left_out >= 3


@given(built())
def test_every_message_of_the_past_has_a_verdict(drawn: tuple[Prompt, ModelPricer, int] | None) -> None:
    if drawn is None:
        return
    prompt = drawn[0]
    sent = [row for row in prompt.turns if row.verdict in {"kept", "shortened"}]
    extra = 1 if prompt.context and prompt.context.items else 0
    system = sum(message.role is Role.SYSTEM for message in prompt.parts)
    assert len(prompt.parts) == len(sent) + extra + system + 1
    assert prompt.parts[-1].text == "What did we plan? 会議"


@given(built())
def test_memories_are_one_user_message_of_data(drawn: tuple[Prompt, ModelPricer, int] | None) -> None:
    if drawn is None or drawn[0].context is None or not drawn[0].context.items:
        return
    prompt = drawn[0]
    carrier = prompt.parts[-2]
    assert carrier.role is Role.USER
    assert carrier.text.casefold().count("<memories>") == 1
    assert carrier.text.casefold().count("</memories>") == 1
    assert not any(row.startswith("SYSTEM") for row in carrier.text.splitlines())
    assert prompt.system in {"", "Be kind. " * 5}


@given(st.integers(0, 5000), st.integers(0, 40), st.integers(0, 3000) | st.just(100_000), st.sampled_from(PRICERS))
def test_trim_keeps_the_laws(seed: int, length: int, budget: int, pricer: ModelPricer) -> None:
    messages = [past.message for past in history_of(seed, length)]

    def price(found: Sequence[Message]) -> list[int]:
        return [cost.total for cost in pricer.messages(found)]

    try:
        kept = trim(messages, budget, price=price, counter=pricer.counter)
    except BudgetError:
        return
    assert kept.tokens == sum(price(kept.messages)) <= budget
    assert len(kept.rows) == len(messages)
    check_legal(kept.messages)


@given(st.lists(st.integers(1, 30), max_size=60), st.integers(0, 500))
def test_the_newest_turns_that_fit_are_kept(lengths: list[int], budget: int) -> None:
    """Short messages are never shortened: what stays is the longest end that fits, from a user's message on."""
    roles = [Role.USER, Role.ASSISTANT] * len(lengths)
    talk = [Message(role=role, parts=(Text("word " * n),)) for role, n in zip(roles, lengths, strict=False)]
    start = next(n for n in range(len(lengths) + 1) if sum(lengths[n:]) <= budget)
    start += start < len(talk) and talk[start].role is Role.ASSISTANT

    def price(messages: Sequence[Message]) -> list[int]:
        return [len(message.text.split()) for message in messages]

    past = [Past(message=message, id=str(n)) for n, message in enumerate(talk)]
    kept = fit_history(past, budget, price=price, counter=PRICERS[0].counter)
    assert list(kept.messages) == talk[start:]
    assert kept.tokens == sum(lengths[start:])
    assert [row.tokens for row in kept.rows] == lengths


@given(st.integers(0, 5000), st.integers(3, 30), st.sampled_from([700, 1200, 3000]))
def test_the_prefix_is_stable(seed: int, turns: int, window: int) -> None:
    """Each prompt repeats the one before, up to its query, unless a named event says otherwise."""
    random = Random(seed)
    pricer = PRICERS[seed % 2]
    found = candidates_of(seed, 60)
    history: list[Past] = []
    before: Prompt | None = None
    anchor: Anchor | None = None
    for turn in range(turns):
        query = words(random, 30)
        scored = [Candidate(memory=c.memory, score=random.random()) for c in found]
        try:
            prompt = build_prompt(
                query=query, pricer=pricer, window=window, output=100, system="Be kind.", history=history,
                candidates=scored, layout="cached", previous=anchor,
            )  # fmt: skip
        except BudgetError:
            return
        check_legal(prompt.parts)
        if before is not None and not prompt.events:
            whole = json.dumps(before.messages("openai"))[:-1]
            assert json.dumps(prompt.messages("openai")).startswith(whole)
        before, anchor = prompt, prompt.anchor
        history = [
            *history,
            Past(message=Message(role=Role.USER, parts=(Text(query),)), id=f"u{turn}"),
            Past(message=Message(role=Role.ASSISTANT, parts=(Text(words(random, 80)),)), id=f"a{turn}"),
        ]


@given(st.integers(0, 5000), st.sampled_from([0, 5, 40]), st.integers(0, 4000), st.sampled_from(PRICERS))
def test_the_cascade_is_bounded(seed: int, number: int, budget: int, pricer: ModelPricer) -> None:
    assembler = ContextAssembler(pricer=pricer)
    try:
        found = assembler.assemble_context(
            "pottery", candidates_of(seed, number), budget_limit=budget, history=history_of(seed, 20),
            prior=history_of(seed + 1, 5),
        )  # fmt: skip
    except BudgetError:
        return
    assert found.tokens <= budget
    assert [stage.number for stage in found.stages] == list(range(1, len(found.stages) + 1))
    assert (found.warning != "") == (len(found.stages) == 9)


@given(st.integers(0, 5000), st.integers(0, 2000))
def test_same_in_same_out(seed: int, budget: int) -> None:
    counter = PRICERS[0].counter
    for layout in ("sections", "attention"):
        try:
            first = assemble(candidates_of(seed, 30), budget=budget, counter=counter, layout=layout)
        except BudgetError:
            continue
        again = assemble(candidates_of(seed, 30), budget=budget, counter=counter, layout=layout)
        assert json.dumps(first.to_dict()) == json.dumps(again.to_dict())
