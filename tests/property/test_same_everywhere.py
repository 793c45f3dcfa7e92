"""Law: the same store, query, configuration and `now` give the same bytes, on every back-end and after reopening.

It makes no difference either whether one engine does everything or two engines take turns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from haversack import Namespace
from haversack.compaction import CompactionConfig
from haversack.embed.embedder import Embedder
from haversack.embed.own import OwnEmbedder
from haversack.engine.settings import MemorySettings
from haversack.errors import BudgetError, HaversackError
from haversack.model.memory import Kind, Memory, Stage
from haversack.store.port import Batch

from .interleaving_world import Hashing
from .places import SETUPS, START, Setup, everywhere

VOCABULARY = ("the", "tide", "at", "Veere", "turns", "会議", "🚲", "café", "red", "boat", "4", "µ")
WORDS = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=9)
LATER = START + timedelta(days=1)
"""Asked of a stated moment, a question notes no uses; those wait in one engine until it writes them down."""
MEMORY = MemorySettings(compaction=CompactionConfig(compaction_recency_window=2, min_turns_to_summarize=2))


def _chosen(ns: Namespace, text: str) -> str:
    """A memory that the words choose; a wrong id where there is none."""
    known = ns.everything()
    return known[len(text) % len(known)].id if known else "nothing"


def _restored(ns: Namespace, _: str) -> object:
    return ns.restore([one.id for one in ns.page(limit=1000).memories if one.stage is Stage.DELETED])


def _asked(ns: Namespace, text: str) -> object:
    return [(hit.id, hit.score, dict(hit.parts)) for hit in ns.recall(text, now=LATER)]


def _prompted(ns: Namespace, text: str) -> object:
    return ns.session("s").prompt(text, window=700, output=100, layout="cached", now=LATER).to_dict()


STEPS: Mapping[str, Callable[[Namespace, str], object]] = {
    "fact": lambda ns, text: ns.remember(text, kind="fact"),
    "decision": lambda ns, text: ns.remember(text, kind="decision"),
    "passage": lambda ns, text: ns.remember(text, kind="passage"),
    "subject": lambda ns, text: ns.remember(text, subject="tide/place"),
    "pin": lambda ns, text: ns.remember(text, pinned=True),
    "user": lambda ns, text: ns.session("s").add("user", text),
    "assistant": lambda ns, text: ns.session("s").add("assistant", text),
    "forget": lambda ns, text: ns.forget(_chosen(ns, text), hard=len(text) % 2 == 0),
    "restore": _restored,
    "edit": lambda ns, text: ns.edit(_chosen(ns, text), importance=0.9, content=f"{text} then"),
    "correct": lambda ns, text: ns.knowledge.correct(_chosen(ns, text), text),
    "vote": lambda ns, text: ns.vote(_chosen(ns, text), "up"),
    "merge": lambda ns, text: ns.merge({_chosen(ns, text), _chosen(ns, f"{text} ")}),
    "extract": lambda ns, _: ns.session("s").extract(),
    "compact": lambda ns, _: replace(ns.session("s").compact(), duration_ms=0),
    "reorganize": lambda ns, _: ns.maintenance.reorganize(steps=["dedupe", "synthesize"], execute=True).decision,
    "age": lambda ns, _: ns.maintenance.lifecycle(execute=True).transitions,
    "recall": _asked,
    "context": lambda ns, text: ns.context(text, budget=60, now=LATER).to_dict(),
    "prompt": _prompted,
}
NAMES = [*STEPS, *["user", "edit", "prompt"] * 2]


def life(seed: int, length: int) -> list[tuple[str, list[str]]]:
    """Steps drawn from a seed: more different than drawn ones, and a shorter life is the beginning of a longer one."""
    random = Random(seed)
    return [(random.choice(NAMES), random.choices(VOCABULARY, k=random.randint(1, 9))) for _ in range(length)]


def live_through(ns: Namespace, steps: Sequence[tuple[str, list[str]]]) -> str:
    """What each step answered, or the error that it raised."""
    said: list[object] = []
    for step, words in steps:
        try:
            said.append((step, STEPS[step](ns, " ".join(words))))
        except HaversackError as refused:
            said.append((step, type(refused).__name__, str(refused)))
    return "\n".join(map(repr, said))


def answers(ns: Namespace) -> str:
    said: list[object] = [[(hit.id, hit.score, dict(hit.parts)) for hit in ns.recall("the red boat", now=START)]]
    for layout, form in (("flat", "markdown"), ("sections", "json"), ("attention", "xml")):
        for budget in (20, 60, 200):
            try:
                context = ns.context("tide at Veere", budget=budget, layout=layout, format=form, now=START)
            except BudgetError as refused:
                said.append(str(refused))
            else:
                said.append(context.to_dict())
    prompt = ns.session("s").prompt("café 会議", window=900, output=100, now=START, layout="sections")
    return json.dumps([said, prompt.to_dict()], default=str)


def lived(setup: Setup, steps: Sequence[tuple[str, list[str]]], embedder: Embedder | None) -> tuple[str, str, str]:
    """What the steps answered, what the engines answer then, and what new ones answer."""
    with setup.place() as place:
        with place.open(memory=MEMORY, embedder=embedder) as sack:
            told = live_through(sack.namespace("n"), steps)
            after = answers(sack.namespace("n"))
        with place.open(memory=MEMORY, embedder=embedder) as sack:
            return told, after, answers(sack.namespace("n"))


@given(st.builds(life, st.integers(0, 10**6), st.integers(1, 24)), st.sampled_from([None, OwnEmbedder(Hashing())]))
@settings(max_examples=25)
def test_every_back_end_and_any_number_of_engines_give_the_same_bytes(
    steps: list[tuple[str, list[str]]], embedder: Embedder | None
) -> None:
    first, *others = (lived(setup, steps, embedder) for setup in SETUPS)
    assert first[1] == first[2]
    for other in others:
        assert other == first


def twins(order: Sequence[int]) -> list[Memory]:
    """Memories that differ in their ids and in a word that nobody asks for, written in this order."""
    return [
        Memory(
            id=f"{number:026d}",
            kind=Kind.FACT,
            content=f"The tide turns at Veere, {('one', 'two', 'six', 'ten', 'red', 'sun')[number]}.",
            created_at=START,
            event_time=START,
        )
        for number in order
    ]


@everywhere
@given(st.permutations(range(6)), st.sampled_from(["flat", "sections"]))
@settings(max_examples=10)
def test_of_equal_scores_and_times_the_id_decides_in_a_context_and_the_order_of_birth_in_recall(
    setup: Setup, order: list[int], layout: str
) -> None:
    rows = twins(order)
    with setup.place() as place:
        place.store().apply("n", Batch(memories=tuple(rows)))
        ns = place.open().namespace("n")
        hits = ns.recall("When does the tide turn?", top_k=10, now=START)
        assert len({hit.score for hit in hits}) == 1
        assert [hit.id for hit in hits] == [one.id for one in rows]
        whole = ns.context("When does the tide turn?", budget=1000, layout=layout, now=START)
        assert len(whole.kept) == 6
        budget, kept = whole.tokens, 6
        while kept > 2:
            budget -= 1
            context = ns.context("When does the tide turn?", budget=budget, layout=layout, now=START)
            kept = len(context.kept)
            newest = sorted((one.id for one in rows), reverse=True)[:kept]
            assert sorted(row.memory_id for row in context.kept) == sorted(newest)
