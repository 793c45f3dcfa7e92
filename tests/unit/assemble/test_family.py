from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from msgspec import structs

from haversack.assemble import Candidate, Context, Outcome, assemble, layout_named
from haversack.model.memory import Kind
from haversack.tokens import Counter

Make = Callable[..., Candidate]


@pytest.fixture
def make(make_candidate: Make) -> Make:
    def child_of(content: str, score: float, parent: Candidate | None = None, **details: object) -> Candidate:
        one = make_candidate(content, score, **details)
        metadata = {} if parent is None else {"parent": parent.memory.id}
        return structs.replace(one, memory=replace(one.memory, metadata=metadata))

    return child_of


@pytest.fixture
def acme(make: Make) -> Mapping[str, Candidate]:
    """An entity with two facts, one of which has a fact of its own, and a stranger: six words each."""
    entity = make("Acme is a company here", 0.1, number=1, kind=Kind.ENTITY)
    pumps = make("Acme makes pumps since long", 0.3, entity, number=2)
    return {
        "entity": entity,
        "pumps": pumps,
        "blue": make("the pumps are all blue", 0.9, pumps, number=3),
        "people": make("Acme has forty good people", 0.8, entity, number=4),
        "tea": make("Bob likes tea at four", 0.5, number=5),
    }


def held(context: Context, family: Mapping[str, Candidate]) -> set[str]:
    return {name for name, one in family.items() if one.memory.id in context.items}


@pytest.mark.parametrize(
    ("budget", "names"),
    [
        (11, {"tea"}),  # no fact without the company
        (12, {"entity", "people"}),  # 12 words for .8, before the 18 of the blue pumps would fit
        (18, {"entity", "pumps", "blue"}),
        (24, {"entity", "pumps", "blue", "people"}),
        (30, {"entity", "pumps", "blue", "people", "tea"}),
    ],
)
def test_no_child_without_its_parent(
    acme: Mapping[str, Candidate], words: Counter, budget: int, names: set[str]
) -> None:
    context = assemble(list(acme.values()), budget=budget, counter=words)
    assert held(context, acme) == names
    assert sum(row.tokens for row in context.kept) == context.tokens == 6 * len(names)


def test_children_stand_behind_their_parent_in_its_section(acme: Mapping[str, Candidate], words: Counter) -> None:
    context = assemble(list(acme.values()), budget=100, counter=words, layout="sections")
    assert context.text == (
        "# Facts\n"
        "- Bob likes tea at four\n\n"
        "# Entities\n"
        "- Acme is a company here\n\n"
        "- Acme has forty good people\n\n"
        "- Acme makes pumps since long\n\n"
        "- the pumps are all blue\n\n"
    )
    assert {row.section for row in context.verdicts} == {"user_facts", "entities"}


def test_a_parent_counts_among_the_items_of_its_section(acme: Mapping[str, Candidate], words: Counter) -> None:
    layout = layout_named("sections").with_max_items({"entities": 2})
    context = assemble(list(acme.values()), budget=100, counter=words, layout=layout)
    assert held(context, acme) == {"entity", "people", "tea"}
    one = assemble(list(acme.values()), budget=100, counter=words, layout=layout.with_max_items({"entities": 1}))
    assert held(one, acme) == {"entity", "tea"}
    full = context.verdicts.of(acme["blue"].memory.id)
    assert full is not None
    assert (full.verdict, full.reason) == (Outcome.DROPPED, "section_full")


def test_who_has_no_parent_here_stands_alone(make: Make, words: Counter) -> None:
    gone = make("an old company", 0.9, number=1, kind=Kind.ENTITY)
    orphan = make("it has forty people", 0.8, gone, number=2)
    alone = make("my own parent", 0.7, number=3)
    alone = structs.replace(alone, memory=replace(alone.memory, metadata={"parent": alone.memory.id}))
    novel = make("word " * 300, 0.6, number=4)
    note = make("a note on the novel", 0.5, novel, number=5)
    said = make("a turn of a talk", 0.4, alone, number=6, kind=Kind.PASSAGE)
    odd = structs.replace(said, memory=replace(make("odd", 0.3, number=7).memory, metadata={"parent": 7}))
    found = [structs.replace(gone, filtered="superseded"), orphan, alone, novel, note, said, odd]
    context = assemble(found, budget=25, counter=words)
    kept = {row.memory_id for row in context.verdicts if row.verdict is Outcome.KEPT}
    assert kept == {one.memory.id for one in (orphan, alone, note, said, odd)}


def test_a_long_line_of_parents_is_no_stack_of_calls(make: Make, words: Counter) -> None:
    line = [make("x", 0.5, number=0)]
    for number in range(1, 1500):
        line.append(make(f"x{number}", 0.5, line[-1], number=number))
    context = assemble(line[::-1], budget=100_000, counter=words)
    assert context.items == tuple(one.memory.id for one in line)


def test_a_pinned_child_brings_its_parent(acme: Mapping[str, Candidate], words: Counter) -> None:
    blue = structs.replace(acme["blue"], memory=replace(acme["blue"].memory, pinned=True))
    context = assemble([*(acme[name] for name in ("entity", "pumps", "people", "tea")), blue], budget=18, counter=words)
    assert held(context, acme) == {"entity", "pumps", "blue"}
