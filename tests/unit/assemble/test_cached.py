from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from haversack.assemble import Candidate, ModelPricer, Past, Prompt, build_prompt
from haversack.assemble.anchor import Anchor
from haversack.model.message import Message, Role

Say = Callable[..., Message]
Make = Callable[..., Candidate]


class Talk:
    """A conversation that goes on, with memory."""

    def __init__(self, pricer: ModelPricer, say: Say, window: int = 2000) -> None:
        self.pricer, self.say, self.window = pricer, say, window
        self.history: list[Past] = []
        self.anchor: Anchor | None = None
        self.system = "Be kind."

    def ask(self, query: str, *found: Candidate) -> Prompt:
        prompt = build_prompt(
            query=query, pricer=self.pricer, window=self.window, output=100, system=self.system,
            history=self.history, candidates=found, layout="cached", previous=self.anchor,
        )  # fmt: skip
        self.anchor = prompt.anchor
        for role, text in ((Role.USER, query), (Role.ASSISTANT, f"answer to {query}")):
            self.history.append(Past(message=self.say(role, text), id=f"t{len(self.history)}"))
        return prompt


def texts(prompt: Prompt) -> list[str]:
    return [message.text for message in prompt.parts]


def test_what_was_shown_stays_and_only_news_is_added(pricer: ModelPricer, say: Say, make_candidate: Make) -> None:
    tea, rome = make_candidate("Alice likes tea", number=1), make_candidate("The trip goes to Rome", number=2)
    talk = Talk(pricer, say)
    first = talk.ask("tea?", tea)
    second = talk.ask("and?", tea)
    third = talk.ask("where?", tea, rome)
    assert first.events == ("first_call",)
    assert (second.events, third.events) == ((), ())
    assert texts(second)[: len(first.parts)] == texts(first)
    assert texts(third)[: len(second.parts)] == texts(second)
    assert sum("likes tea" in text for text in texts(third)) == 1
    assert "Rome" in texts(third)[-2]
    row = third.verdicts[-1]
    assert (row.memory_id, row.reason) == (tea.memory.id, "stands_already")
    assert third.ledger.tokens("notes") > 0


def test_events_have_names(pricer: ModelPricer, say: Say, make_candidate: Make) -> None:
    talk = Talk(pricer, say)
    talk.ask("a", make_candidate("x", number=1))
    talk.system = "Be brief."
    assert talk.ask("b").events == ("system_changed",)
    talk.history = [replace(one, id=f"new{one.id}") for one in talk.history]
    assert talk.ask("c").events == ("history_rewritten",)
    talk.history = talk.history[:1]
    assert talk.ask("d").events == ("history_rewritten",)


def test_a_history_that_outgrows_its_part_is_cut_well_below_it(
    pricer: ModelPricer, say: Say, make_candidate: Make
) -> None:
    talk = Talk(pricer, say, window=700)
    events = [talk.ask(f"question {n} " + "word " * 20, make_candidate("tea", number=1)).events for n in range(40)]
    cuts = [n for n, found in enumerate(events) if found == ("history_cut",)]
    assert len(cuts) >= 2
    assert all(later - earlier >= 4 for earlier, later in pairwise(cuts))
    assert all(found in {(), ("history_cut",), ("first_call",)} for found in events)


def test_notes_that_outgrow_their_part_are_renewed(pricer: ModelPricer, say: Say, make_candidate: Make) -> None:
    talk = Talk(pricer, say, window=3000)
    events: list[str] = []
    for n in range(40):
        prompt = talk.ask("?", *(make_candidate(f"memory {m} speaks of things", number=m) for m in range(n * 3 + 3)))
        events += prompt.events
        assert talk.anchor is not None
        assert talk.anchor.tokens <= 0.30 * 2900
    assert "memory_renewed" in events


def test_a_new_pinned_memory_is_shown_at_once(pricer: ModelPricer, say: Say, make_candidate: Make) -> None:
    talk = Talk(pricer, say)
    talk.ask("a", make_candidate("tea", number=1))
    pin = make_candidate("Never book flights before nine. " * 12, number=2, pinned=True)
    prompt = talk.ask("b", make_candidate("tea", number=1), pin)
    assert prompt.context is not None
    assert pin.memory.id in prompt.context.items
    assert prompt.events == ("memory_renewed",)


def test_a_long_question_is_shortened_later_as_an_event(pricer: ModelPricer, say: Say) -> None:
    talk = Talk(pricer, say, window=1000)
    talk.ask("A sentence of some words. " * 80)
    assert talk.ask("b").events == ("query_shortened",)
    assert talk.ask("c").events == ()


def test_nothing_new_stands_in_front_of_a_query_that_was_sent(
    pricer: ModelPricer, say: Say, make_candidate: Make
) -> None:
    talk = Talk(pricer, say)
    first = talk.ask("tea?", make_candidate("Alice likes tea", number=1))
    rounds = [say(Role.ASSISTANT, calls=["c"]), say(Role.TOOL, "four o'clock", answers="c")]
    second = build_prompt(
        query="tea?",
        since=[Past(message=message) for message in rounds],
        pricer=pricer,
        window=2000,
        output=100,
        system="Be kind.",
        candidates=[make_candidate("The trip goes to Rome", number=2)],
        layout="cached",
        previous=first.anchor,
    )
    assert second.events == ()
    assert list(second.parts) == [*first.parts, *rounds]
