import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from msgspec import structs

from haversack.assemble import (
    LAYOUTS,
    Budget,
    Candidate,
    Format,
    Layout,
    Outcome,
    Prefer,
    Rendition,
    Section,
    Sharing,
    assemble,
    line,
)
from haversack.errors import BudgetError, InputError
from haversack.model.memory import Kind, Stage
from haversack.tokens import Counter

Make = Callable[..., Candidate]


def turn(make: Make, text: str, number: int, score: float, **details: object) -> Candidate:
    return make(text, score, number=number, kind=Kind.PASSAGE, **({"speaker": "Al", "session": "s"} | details))


def test_turns_stand_under_one_date_header_in_the_order_they_were_said(make_candidate: Make, exact: Counter) -> None:
    found = [
        turn(make_candidate, "third", 3, 0.9, hours=30, session="s2", speaker="Bo"),
        turn(make_candidate, "second", 2, 0.8, hours=1),
        turn(make_candidate, "first", 1, 0.7),
        make_candidate("a fact", 0.6, number=4),
    ]
    context = assemble(found, budget=100, counter=exact)
    assert context.text == "- a fact\n\n## 8 May 2023\n(Al) first\n\n(Al) second\n\n## 9 May 2023\n(Bo) third\n\n"
    assert context.items == tuple(found[place].memory.id for place in (3, 2, 1, 0))
    assert context.tokens == exact.count(context.text)
    assert [row.memory_id for row in context.verdicts] == [one.memory.id for one in found]


def test_a_session_of_two_days_has_two_headers(make_candidate: Make, words: Counter) -> None:
    found = [turn(make_candidate, "a", 1, 0.9), turn(make_candidate, "b", 2, 0.9, hours=24)]
    assert assemble(found, budget=50, counter=words).text.count("## ") == 2


def test_document_chunks_stand_under_their_title(make_candidate: Make, words: Counter) -> None:
    chunk = make_candidate("x y", kind=Kind.PASSAGE, document="Guide\nto all")
    assert assemble([chunk], budget=50, counter=words).text == '## "Guide to all"\n- x y\n\n'


def test_what_was_said_at_one_moment_stands_in_the_order_of_arrival_and_of_its_chunks(
    make_candidate: Make, words: Counter
) -> None:
    def chunk(number: int, born: int, part: tuple[int, int] | None) -> Candidate:
        made = make_candidate(f"{number}", number=number, kind=Kind.PASSAGE, document="Guide")
        source = replace(made.memory.source, part=part)
        return structs.replace(made, memory=replace(made.memory, born=born, source=source))

    found = [chunk(1, 2, None), chunk(2, 1, None), chunk(3, 3, (1, 2)), chunk(4, 3, (0, 2)), chunk(6, 4, None)]
    context = assemble([*found, chunk(5, 4, None)], budget=100, counter=words)
    assert context.text == '## "Guide"\n- 2\n\n- 1\n\n- 4\n\n- 3\n\n- 5\n\n- 6\n\n'


def test_best_first_with_skip(make_candidate: Make, words: Counter) -> None:
    found = [
        make_candidate("one two three", 0.9, number=1),
        make_candidate("a b c d e f g h", 0.8, number=2),
        make_candidate("x", 0.1, number=3),
    ]
    context = assemble(found, budget=6, counter=words)
    assert context.text == "- one two three\n\n- x\n\n"
    out = context.verdicts[2]
    assert (out.verdict, out.reason, out.tokens, out.rendition) == (Outcome.DROPPED, "no_room", 9, None)


def test_a_long_item_does_not_displace_shorter_ones_of_nearly_its_score(make_candidate: Make, words: Counter) -> None:
    long = make_candidate(" ".join(["word"] * 140), 0.5, number=1)
    short = [make_candidate(f"{n} is short", 0.45, number=n) for n in range(2, 12)]
    context = assemble([long, *short], budget=145, counter=words)
    row = context.verdicts.of(long.memory.id)
    assert row is not None
    assert row.rendition is not Rendition.FULL
    assert {one.memory.id for one in short} <= set(context.items)


def test_stored_prices_are_used_and_missing_ones_counted(make_candidate: Make, exact: Counter) -> None:
    class Spy:
        encoding, kind, additive = exact.encoding, exact.kind, True

        def __init__(self) -> None:
            self.seen: list[str] = []

        def count(self, text: str) -> int:
            return exact.count(text)

        def count_many(self, texts: Sequence[str]) -> list[int]:
            self.seen += texts
            return exact.count_many(texts)

        def fits(self, text: str, budget: int) -> bool:
            return exact.fits(text, budget)

        def truncate(self, text: str, budget: int) -> str:
            return exact.truncate(text, budget)

    priced = make_candidate("known", 0.5, number=1)
    priced = Candidate(memory=priced.memory, score=0.5, price=exact.count(line(priced.memory)))
    fresh = make_candidate("fresh", 0.5, number=2)
    spy = Spy()
    context = assemble([priced, fresh], budget=50, counter=spy)
    assert spy.seen == ["- fresh\n\n"]
    assert context.text == "- known\n\n- fresh\n\n"


def test_a_share_that_is_just_large_enough_takes_what_others_had_left(make_candidate: Make, words: Counter) -> None:
    """Why `value` counts shares alone: 20 tokens leave the facts to fill the rest, 22 give the decision its share."""
    decision = make_candidate("one two three four five six seven eight nine ten", 0.1, number=1, kind=Kind.DECISION)
    facts = [make_candidate(f"fact number {n} here", 1.0, number=n) for n in range(2, 6)]
    layout = Layout(
        name="halves",
        sections=(Section(name="a", kinds=frozenset({Kind.DECISION})), Section(name="b", kinds=frozenset({Kind.FACT}))),
        sharing=Sharing.WEIGHT,
    )
    smaller = assemble([decision, *facts], budget=20, counter=words, layout=layout)
    larger = assemble([decision, *facts], budget=22, counter=words, layout=layout)
    assert sorted(smaller.items) == [fact.memory.id for fact in facts]
    assert len(larger.items) == 3
    assert decision.memory.id in larger.items
    assert (smaller.value, larger.value) == (pytest.approx(10.0), pytest.approx(10 + 11 * 0.1))


def test_pins_come_first_and_must_fit(make_candidate: Make, words: Counter) -> None:
    pin = make_candidate("must stay here", 0.0, number=1, pinned=True)
    other = make_candidate("best of all", 1.0, number=2)
    context = assemble([other, pin], budget=5, counter=words)
    assert context.text == "- must stay here\n\n"
    assert context.verdicts[0].reason == "pinned"
    with pytest.raises(BudgetError, match="pinned memories need 4 tokens") as refused:
        assemble([pin], budget=3, counter=words)
    assert refused.value.ledger is not None
    assert assemble([pin], budget=0, counter=words).text == ""


def test_equal_words_stand_once(make_candidate: Make, words: Counter) -> None:
    found = [make_candidate("Likes  TEA", 0.9, number=1), make_candidate("likes tea", 0.5, number=2, kind=Kind.INSIGHT)]
    context = assemble(found, budget=100, counter=words)
    assert context.text == "- Likes  TEA\n\n"
    assert context.verdicts[1].reason == "duplicate"
    said_twice = [turn(make_candidate, "ok", 1, 0.5), turn(make_candidate, "ok", 2, 0.5, hours=1)]
    assert len(assemble(said_twice, budget=100, counter=words).items) == 2


def test_what_a_filter_decided_is_reported(make_candidate: Make, words: Counter) -> None:
    one = make_candidate("x")
    gone = Candidate(memory=one.memory, score=0.5, filtered="superseded", parts={"lexical": 0.5})
    row = assemble([gone], budget=10, counter=words).verdicts[0]
    assert (row.verdict, row.reason, row.stage, row.parts) == (
        Outcome.FILTERED,
        "superseded",
        "filter",
        {"lexical": 0.5},
    )


def test_a_long_item_is_shortened_to_its_best_sentences(make_candidate: Make, words: Counter) -> None:
    text = " ".join(f"Sentence number {n} says nothing." for n in range(60)) + " The pottery class is on Monday."
    context = assemble([make_candidate(text)], budget=100, counter=words, query="pottery")
    assert "The pottery class is on Monday." in context.text
    row = context.verdicts[0]
    assert (row.verdict, row.reason, row.rendition) == (Outcome.SHORTENED, "shortened_to_fit", Rendition.SHORTENED)
    assert 64 <= context.tokens <= 100


def test_a_larger_budget_never_puts_a_cut_text_in_the_place_of_the_answer(make_candidate: Make, exact: Counter) -> None:
    steps = " ".join(
        f"Take the shape number {n} and the mould before removing anything of which you know." for n in range(40)
    )
    found = [
        make_candidate(steps, 0.06, number=1),
        make_candidate("Mira wants metric units", 0.02, number=2),
        make_candidate("Mira gives every time in UTC", 0.02, number=3),
        make_candidate("The zone of the yard is closed on Monday", 0.02, number=4),
    ]
    for budget in range(30, 500):
        context = assemble(found, budget=budget, counter=exact, query="Which units and which time zone?")
        assert context.items[-3:] == tuple(one.memory.id for one in found[1:]), budget


def test_shorter_forms_that_show_the_question_come_first(make_candidate: Make, words: Counter) -> None:
    chatter = "Nobody knows the way. " * 20
    found = [
        make_candidate(f"The ferry is late. {chatter} The pottery is old. {chatter} The kiln is cold.", 0.9, number=1),
        make_candidate(f"{chatter} The pottery class and its kiln open on Monday. {chatter}", 0.8, number=2),
    ]
    context = assemble(found, budget=42, counter=words, query="When do the ferry, the pottery class and the kiln open?")
    first, second = context.verdicts
    assert (first.memory_id, first.verdict) == (found[1].memory.id, Outcome.SHORTENED)
    assert first.tokens <= 14
    assert "The pottery class and its kiln" in context.text
    assert second.verdict is Outcome.SHORTENED


def test_a_form_without_a_word_of_the_question_is_none(make_candidate: Make, words: Counter) -> None:
    text = f"{'Nobody knows the way. ' * 9}The pottery class opens on the first Monday of the month at nine."
    assert assemble([make_candidate(text)], budget=9, counter=words, query="pottery?").text == ""
    assert assemble([make_candidate(text)], budget=9, counter=words, query="ceramics?").items


@pytest.mark.parametrize(
    "text", ["A sentence of some words is here. " * 30_000, "a" * 1_000_000, "会議" * 300_000, "line\n" * 99_999]
)
def test_a_megabyte_is_shortened_to_nearly_the_whole_budget(make_candidate: Make, exact: Counter, text: str) -> None:
    context = assemble([make_candidate(text)], budget=500, counter=exact, query="words")
    assert 300 < context.tokens <= 500


def test_crumbs_go_to_a_line_of_the_best_that_was_left_out(make_candidate: Make, words: Counter) -> None:
    found = [make_candidate("a b c", 0.9, number=1), make_candidate("One sentence. " * 20, 0.8, number=2)]
    context = assemble(found, budget=15, counter=words)
    assert len(context.items) == 2
    assert context.verdicts[1].verdict is Outcome.SHORTENED


def example(make_candidate: Make) -> list[Candidate]:
    sizes = {
        Kind.SUMMARY: 1200,
        Kind.PROFILE: 300,
        Kind.FACT: 400,
        Kind.ENTITY: 800,
        Kind.RELATION: 600,
        Kind.DECISION: 500,
        Kind.INSIGHT: 350,
        Kind.PROCEDURE: 250,
    }
    return [
        make_candidate(f"{kind} {n} c d", 0.5, number=n, kind=kind, hours=n)
        for kind, size in sizes.items()
        for n in range(size // 5)
    ]


def test_the_worked_example_fills_its_shares(make_candidate: Make, words: Counter) -> None:
    """Items of five words with their bullet; section headers take the two or so tokens that fall to the fill pass."""
    layout = Layout(
        name="bare",
        sections=tuple(
            Section(name=s.name, kinds=s.kinds, weight=s.weight)
            for s in LAYOUTS["sections"].sections
            if s.name not in {"corrections", "passages"}
        ),
        sharing=Sharing.WEIGHT,
    )
    context = assemble(example(make_candidate), budget=2000, counter=words, layout=layout)
    assert [(s.planned, s.tokens) for s in context.sections] == [
        (share, share) for share in (500, 300, 300, 300, 200, 200, 100, 100)
    ]
    assert context.tokens == 2000


def test_a_hungry_section_gets_its_share_up_to_an_item(make_candidate: Make, words: Counter) -> None:
    context = assemble(example(make_candidate), budget=1000, counter=words, layout="sections")
    for section in context.sections:
        if section.candidates:
            assert section.tokens > section.planned - 6


def test_decisions_keep_the_newest_and_facts_the_most_important(make_candidate: Make, words: Counter) -> None:
    found = [
        make_candidate(f"decision number {n}", 1 - n / 10, number=n, kind=Kind.DECISION, hours=n) for n in range(6)
    ] + [
        make_candidate(f"fact number {n}", 1 - n / 10, number=n + 10, importance=n / 10) for n in range(6)
    ]  # fmt: skip
    layout = LAYOUTS["sections"].with_max_items({"decisions": 2, "userFacts": 2})
    context = assemble(found, budget=200, counter=words, layout=layout)
    assert context.text == (
        "# Facts\n- fact number 4\n\n- fact number 5\n\n# Decisions\n- decision number 4\n\n- decision number 5\n\n"
    )
    assert [row.reason for row in context.verdicts if row.verdict is Outcome.DROPPED] == ["section_full"] * 8


def test_sections_that_are_off_or_missing_are_named(make_candidate: Make, words: Counter) -> None:
    layout = Layout(
        name="two",
        sections=(
            Section(name="facts", kinds=frozenset({Kind.FACT})),
            Section(name="off", kinds=frozenset({Kind.ENTITY}), weight=0),
        ),
        sharing=Sharing.WEIGHT,
    )
    found = [
        make_candidate("f", number=1),
        make_candidate("e", number=2, kind=Kind.ENTITY),
        make_candidate("s", number=3, kind=Kind.STATE),
    ]
    context = assemble(found, budget=50, counter=words, layout=layout)
    assert context.text == "- f\n\n"
    assert {row.memory_id[-1]: row.reason for row in context.verdicts} == {
        "1": "fits",
        "2": "section_off",
        "3": "no_section",
    }


def test_a_maximum_share_holds_while_budget_is_spare(make_candidate: Make, words: Counter) -> None:
    layout = Layout(
        name="capped",
        sections=(Section(name="facts", kinds=frozenset({Kind.FACT}), maximum=0.5),),
        sharing=Sharing.WEIGHT,
    )
    found = [make_candidate(f"f {n}", number=n) for n in range(20)]
    context = assemble(found, budget=20, counter=words, layout=layout)
    assert context.tokens == 9
    assert {row.reason for row in context.verdicts} == {"fits", "section_maximum"}


def test_priorities_serve_an_earlier_section_first(make_candidate: Make, words: Counter) -> None:
    found = [
        make_candidate("known one", 0.1, number=1),
        make_candidate("an insight", 0.9, number=2, kind=Kind.INSIGHT),
    ]
    context = assemble(found, budget=6, counter=words, layout="attention")
    assert context.text == "# Known facts\n- known one\n\n"


def test_the_layout_is_the_same_with_and_without_pressure(make_candidate: Make, words: Counter) -> None:
    found = example(make_candidate)
    headers = [
        [
            row
            for row in assemble(found, budget=size, counter=words, layout="sections").text.splitlines()
            if row.startswith("#")
        ]
        for size in (600, 100_000)
    ]
    assert headers[0] == headers[1]


def test_a_budget_may_be_a_share_of_a_window(make_candidate: Make, words: Counter) -> None:
    found = [make_candidate(f"f {n}", number=n) for n in range(20)]
    context = assemble(found, budget=Budget(ratio=0.1), window=95, counter=words)
    assert (context.budget, context.tokens) == (9, 9)


def test_bad_input_is_named(make_candidate: Make, words: Counter) -> None:
    one = make_candidate("x")
    with pytest.raises(InputError, match=r"format='markdwon' is not known; did you mean 'markdown'\?"):
        assemble([one], budget=5, counter=words, format="markdwon")
    with pytest.raises(InputError, match="did you mean 'flat'"):
        assemble([one], budget=5, counter=words, layout="flatt")
    for wrong in (math.nan, math.inf):
        with pytest.raises(InputError, match=f"score={wrong} of memory {one.memory.id}"):
            assemble([Candidate(memory=one.memory, score=wrong)], budget=5, counter=words)


def test_prices_that_lie_never_break_the_cap(make_candidate: Make, words: Counter) -> None:
    found = [
        Candidate(memory=make_candidate(f"a b c {n}", number=n).memory, score=1 - n / 10, price=1) for n in range(9)
    ]
    context = assemble(found, budget=7, counter=words)
    assert context.text == "- a b c 0\n\n"
    assert {row.reason for row in context.verdicts} == {"fits", "recount", "no_room"}
    assert context.ledger.total == context.tokens == 5


def test_the_count_of_the_whole_keeps_every_budget_however_prices_lie(make_candidate: Make, words: Counter) -> None:
    found = [
        Candidate(memory=make_candidate(f"a b c {n}", number=n).memory, score=1 - n / 10, price=1 + n % 4)
        for n in range(9)
    ]
    contexts = [assemble(found, budget=budget, counter=words) for budget in range(46)]
    assert [context.budget for context in contexts if words.count(context.text) > context.budget] == []
    assert [context.tokens for context in contexts] == [words.count(context.text) for context in contexts]


def test_it_prints_and_exports(make_candidate: Make, exact: Counter) -> None:
    context = assemble([make_candidate("x", stage=Stage.ACTIVE)], budget=20, counter=exact, format=Format.PLAIN)
    assert str(context).splitlines()[0] == "3 of 20 tokens (exact), 1 memories"
    assert "kept" in str(context.verdicts)
    head, row = str(context.sections).splitlines()
    assert head.split() == ["section", "planned", "tokens", "candidates", "kept", "shortened", "dropped"]
    assert row.split() == ["memories", "20", "3", "1", "1", "0", "0"]
    record = json.loads(json.dumps(context.to_dict()))
    assert record["text"] == "- x\n\n"
    assert record["verdicts"][0]["reason"] == "fits"
    assert record["ledger"]["total"] == record["tokens"] == 3
    assert len(context.kept) == 1
    assert context.verdicts[:1] == [context.verdicts[0]]
    assert context.verdicts.of("nobody") is None
    assert context.verdicts.of(context.items[0]) == context.verdicts[0]
    assert context.verdicts != [context.verdicts[0]]


def test_prefer_is_a_closed_choice() -> None:
    assert {prefer.value for prefer in Prefer} == {"score", "importance", "newest"}
