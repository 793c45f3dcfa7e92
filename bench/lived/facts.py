"""`python -m bench facts`: one-line facts beside real turns, and what the turns lose by them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.lived.bank import Block, half_of, load
from bench.lived.figures import Outcome, tabulate
from bench.lived.stores import MODEL, embedders, evidence, now_of, stands, tell
from bench.options import Options
from bench.table import Table
from haversack.engine.namespace import Namespace
from haversack.evaluation.conversations import Conversation

__all__ = ["SIZES", "Fact", "draw", "facts_of", "keep", "run"]

SIZES = {5: 4, 12: 2, 40: 1, 120: 1}
"""How many facts stand beside the turns, and how many draws of them are measured for each conversation."""
_BUDGET = 200
_TURN_BUDGETS = (256, 1000)
_COLUMNS = ("first", "in first 5", f"stands in {_BUDGET} tokens")
_TOGETHER = 2
"""Facts on both speakers stand side by side in the bank: a pair is drawn, and asked, together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact as it is stored beside a conversation, with its questions."""

    kind: str
    subject: str | None
    text: str
    questions: tuple[str, ...]
    about: str
    """`speakers` of the conversation, or `others`."""
    half: str


def facts_of(conversation: Conversation) -> list[Fact]:
    """Return the facts that fit the conversation: on its two speakers for a chat, on the user for a log."""
    speakers = sorted({turn.speaker for turn in conversation.turns})
    where = "log" if "assistant" in speakers else "chat"
    names = dict(zip("ab", speakers, strict=False))
    fitting = [block for block in load("facts") if block.heading.split()[0] in (where, "both")]
    return [_fact(block, names, half_of(place, _TOGETHER)) for place, block in enumerate(fitting)]


def _fact(block: Block, names: Mapping[str, str], half: str) -> Fact:
    where, _, rest = block.heading.format(**names).partition(" ")
    kind, _, subject = rest.partition(" ")
    (text,) = block.marked("=")
    return Fact(
        kind=kind,
        subject=subject or None,
        text=text.format(**names),
        questions=tuple(question.format(**names) for question in block.marked("?")),
        about="others" if where == "both" else "speakers",
        half=half,
    )


def draw(facts: Sequence[Fact], size: int, seed: str) -> list[Fact]:
    """Return so many of the facts, neighbouring pairs together where the size is even."""
    pairs = [facts[place : place + _TOGETHER] for place in range(0, len(facts), _TOGETHER)]
    random.Random(seed).shuffle(pairs)
    return [fact for pair in pairs for fact in pair][:size]


def keep(ns: Namespace, facts: Sequence[Fact], conversation: Conversation) -> list[str]:
    """Remember the facts one by one, spread evenly over the conversation's time; returns their ids."""
    start = conversation.turns[0].at
    step = (conversation.turns[-1].at - start) / (len(facts) + 1)
    return [
        ns.remember(fact.text, kind=fact.kind, subject=fact.subject, event_time=start + place * step).id
        for place, fact in enumerate(facts, 1)
    ]


def run(options: Options) -> Iterator[Table]:
    """For each embedder: how well facts are found, and the evidence of the conversations' own questions."""
    sets = options.real()
    if not sets:
        return
    for name, fresh in embedders(options).items():
        found, turns = list[tuple[str, Outcome]](), list[Outcome]()
        for label, conversations in sets.items():
            for conversation in conversations:
                for facts, ask_turns in _loads(conversation):
                    with fresh() as sack:
                        ns = sack.namespace()
                        tell(ns, conversation.turns)
                        ids = keep(ns, facts, conversation)
                        found += _asked(ns, facts, ids, conversation, label, options.half)
                        turns += _turns(ns, conversation, (label, len(facts)), options.half) if ask_turns else ()
        yield tabulate(
            f"facts-{name}",
            f"Facts beside real turns, embedder {name}: % of questions",
            (("", "facts"), _COLUMNS),
            _sorted([outcome for _, outcome in found]),
        )
        yield tabulate(
            f"facts-about-{name}",
            f"The same by whom the facts are about, embedder {name}: % of questions",
            (("", "about"), _COLUMNS),
            [Outcome(labels=(each.labels[0], about), half=each.half, figures=each.figures) for about, each in found],
        )
        yield tabulate(
            f"facts-turns-{name}",
            f"The conversations' own questions beside facts, embedder {name}: evidence recall in %",
            (("", "facts"), [f"B{budget}" for budget in _TURN_BUDGETS]),
            _sorted(turns),
            "contexts of all kinds of memories; 0 facts: the turns alone",
        )


def _loads(conversation: Conversation) -> Iterator[tuple[list[Fact], bool]]:
    """Yield the facts of each store, and whether the conversation's own questions are asked there as well."""
    yield [], True
    facts = facts_of(conversation)
    for size, draws in SIZES.items():
        for number in range(draws):
            yield draw(facts, size, f"{conversation.name} {number}"), number == 0


def _sorted(found: Sequence[Outcome]) -> list[Outcome]:
    return sorted(found, key=lambda each: (str(each.labels[0]), int(str(each.labels[1]))))


def _asked(
    ns: Namespace, facts: Sequence[Fact], ids: Sequence[str], conversation: Conversation, label: str, half: str
) -> Iterator[tuple[str, Outcome]]:
    now = now_of(conversation)
    for fact, own in zip(facts, ids, strict=True):
        for question in fact.questions if half in ("all", fact.half) else ():
            hits = [hit.id for hit in ns.recall(question, top_k=5, now=now)]
            context = ns.context(question, budget=_BUDGET, model=MODEL, now=now)
            there = own in context.items and stands(fact.text, context.text)
            figures = (100.0 * (hits[:1] == [own]), 100.0 * (own in hits), 100.0 * there)
            yield fact.about, Outcome(labels=(label, len(facts)), half=fact.half, figures=figures)


def _turns(ns: Namespace, conversation: Conversation, labels: tuple[str, int], half: str) -> Iterator[Outcome]:
    now = now_of(conversation)
    for place, query in enumerate(conversation.queries):
        if half not in ("all", half_of(place)):
            continue
        packed = [ns.context(query.text, budget=budget, model=MODEL, now=now) for budget in _TURN_BUDGETS]
        figures = tuple(100 * evidence(ns, context, context.text, query.gold) for context in packed)
        yield Outcome(labels=labels, half=half_of(place), figures=figures)
