"""`python -m bench nonsense`: how much of the budget questions fill that nothing answers, in stores of five sorts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from statistics import fmean, median

from bench.lived.bank import HALVES, half_of, load, select
from bench.lived.facts import Fact, draw, facts_of, keep
from bench.lived.figures import Outcome, tabulate
from bench.lived.pairs import keep as keep_notes
from bench.lived.stores import MODEL, embedders, evidence, now_of, stands, tell
from bench.options import Options
from bench.table import Cell, Table
from haversack.engine.namespace import Namespace
from haversack.evaluation.conversations import Conversation, Said

__all__ = ["nobody", "run"]

_BUDGET = 1000
_FEW, _BESIDE = 12, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class _Full:
    """A store with what can really be asked of it."""

    name: str
    conversation: Conversation
    """Its turns are stored where `turns` says so, its questions asked then; its time is the facts' time anyway."""
    turns: bool
    facts: tuple[Fact, ...]
    notes: bool = False
    """Also the notes of the bank of numbers."""


def run(options: Options) -> Iterator[Table]:
    """For each embedder: tokens of memories for nonsense, and what is found of what is really asked."""
    stores = list(_stores(options))
    for name, fresh in embedders(options).items():
        filled, real = list[tuple[str, Outcome]](), list[Outcome]()
        for store in stores:
            with fresh() as sack:
                ns, now = sack.namespace(), now_of(store.conversation)
                ids = _fill(ns, store)
                filled += _nonsense(ns, store.name, now, options.half)
                real += _real(ns, store, ids, now, options.half)
        yield _filled(name, [each for _, each in filled])
        yield tabulate(
            f"nonsense-sorts-{name}",
            f"The same by sort of question, all stores, embedder {name}",
            (("sort",), ("mean tokens",)),
            [Outcome(labels=(sort,), half=each.half, figures=each.figures) for sort, each in filled],
        )
        yield tabulate(
            f"nonsense-real-{name}",
            f"What the same stores are really asked, {_BUDGET:,} tokens, embedder {name}: in %",
            (("store",), ("evidence recall", "questions without any")),
            real,
            "what keeps nonsense out must not keep out this",
        )


def _stores(options: Options) -> Iterator[_Full]:
    real = options.real()
    for label, name in (("chats", "a chat"), ("logs", "a log")):
        if label in real:
            yield _Full(name=name, conversation=real[label][0], turns=True, facts=())
    alone = nobody()
    bank = facts_of(alone)
    yield _Full(name=f"{_FEW} facts", conversation=alone, turns=False, facts=tuple(draw(bank, _FEW, "few")))
    many = len(bank) + sum(len(block.marked("=")) for block in load("numbers"))
    yield _Full(name=f"{many} facts", conversation=alone, turns=False, facts=tuple(bank), notes=True)
    if "chats" in real:
        chat = real["chats"][0]
        facts = tuple(draw(facts_of(chat), _BESIDE, "mixed"))
        yield _Full(name="chat and facts", conversation=chat, turns=True, facts=facts)


def nobody() -> Conversation:
    """Return a log of two turns, for its user and its time: a year in which facts were told."""
    ends = (datetime.fromisoformat("2025-01-01T09:00Z"), datetime.fromisoformat("2026-01-01T09:00Z"))
    said = (("user", "Good morning."), ("assistant", "Good morning to you."))
    turns = tuple(
        Said(id=str(place), session="log", speaker=speaker, text=text, at=at)
        for place, ((speaker, text), at) in enumerate(zip(said, ends, strict=True))
    )
    return Conversation(name="nobody", turns=turns, queries=())


def _fill(ns: Namespace, store: _Full) -> list[str]:
    if store.turns:
        tell(ns, store.conversation.turns)
    if store.notes:
        keep_notes(ns, load("numbers"))
    return keep(ns, store.facts, store.conversation)


def _nonsense(ns: Namespace, store: str, now: datetime, half: str) -> Iterator[tuple[str, Outcome]]:
    entries = [(block.heading, question) for block in load("nonsense") for question in block.marked("?")]
    for own, (sort, question) in select(entries, half):
        tokens = float(ns.context(question, budget=_BUDGET, model=MODEL, now=now).tokens)
        yield sort, Outcome(labels=(store,), half=own, figures=(tokens,))


def _filled(name: str, found: Sequence[Outcome]) -> Table:
    labels = dict.fromkeys(each.labels for each in found)
    halves = ("all", *HALVES) if len({each.half for each in found}) > 1 else (found[0].half,)
    rows: list[tuple[Cell, ...]] = []
    for label in labels:
        for half in halves:
            used = [each.figures[0] for each in found if each.labels == label and half in ("all", each.half)]
            share = 100 * fmean(used) / _BUDGET
            rows.append((*label, half, len(used), median(used), fmean(used), share, sum(not one for one in used)))
    return Table(
        name=f"nonsense-{name}",
        title=f"Questions that nothing answers, budget {_BUDGET:,}, embedder {name}: tokens of memories",
        columns=("store", "half", "questions", "median", "mean", "% of the budget", "empty contexts"),
        rows=tuple(rows),
    )


def _real(ns: Namespace, store: _Full, ids: Sequence[str], now: datetime, half: str) -> Iterator[Outcome]:
    return chain(
        _turns(ns, store.name, store.conversation, now, half),
        _facts(ns, store.name, list(zip(store.facts, ids, strict=True)), now, half),
    )


def _turns(ns: Namespace, store: str, conversation: Conversation, now: datetime, half: str) -> Iterator[Outcome]:
    for place, query in enumerate(conversation.queries):
        if half in ("all", half_of(place)):
            context = ns.context(query.text, budget=_BUDGET, model=MODEL, now=now)
            yield _outcome(store, half_of(place), evidence(ns, context, context.text, query.gold))


def _facts(ns: Namespace, store: str, facts: Sequence[tuple[Fact, str]], now: datetime, half: str) -> Iterator[Outcome]:
    for fact, own in facts:
        for question in fact.questions if half in ("all", fact.half) else ():
            context = ns.context(question, budget=_BUDGET, model=MODEL, now=now)
            yield _outcome(store, fact.half, float(own in context.items and stands(fact.text, context.text)))


def _outcome(store: str, half: str, recall: float) -> Outcome:
    return Outcome(labels=(store,), half=half, figures=(100 * recall, 100.0 * (not recall)))
