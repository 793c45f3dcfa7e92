"""The measurement, through the same face that everybody uses: turns in, a context out, evidence counted by turn ids."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import fmean, median

from haversack.assemble import Context
from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace
from haversack.evaluation.conversations import Conversation

__all__ = ["BUDGETS", "Answer", "Score", "Scores", "measure", "summarise"]

BUDGETS = (256, 512, 1000, 2000, 4000)
_MODEL = "cl100k_base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One question at one budget."""

    conversation: str
    question: str
    category: str
    budget: int
    tokens: int
    recall: float
    """Share of the gold turns that stand in the context: a long turn counts when one of its chunks does."""
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """All questions at one budget."""

    budget: int
    recall: float
    """Mean over questions, 0 to 1."""
    tokens: float
    """Mean of what was used."""
    over: int
    """Contexts over their budget: always 0, or the run is void."""
    milliseconds: float
    """Median of one context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """One system on one file."""

    name: str
    questions: int
    by_budget: tuple[Score, ...]
    by_category: dict[str, tuple[float, ...]]
    """Recall at each budget, per category of question."""


def measure(
    open_store: Callable[[], Haversack],
    conversations: Sequence[Conversation],
    budgets: Sequence[int] = BUDGETS,
    watch: Callable[[int, int], None] = lambda _done, _all: None,
) -> Iterator[Answer]:
    """Each question of each conversation at each budget; a new store for each conversation."""
    total, done = sum(len(each.queries) for each in conversations), 0
    for conversation in conversations:
        with open_store() as sack:
            ns = sack.namespace(conversation.name)
            _remember(ns, conversation)
            for answers in _ask_all(ns, conversation, budgets):
                yield from answers
                done += 1
                watch(done, total)


def summarise(name: str, answers: Iterable[Answer]) -> Scores:
    """Means over questions, medians of time."""
    rows = list(answers)
    budgets = sorted({row.budget for row in rows})
    categories = sorted({row.category for row in rows})
    return Scores(
        name=name,
        questions=len(rows) // max(1, len(budgets)),
        by_budget=tuple(_score(budget, [row for row in rows if row.budget == budget]) for budget in budgets),
        by_category={
            category: tuple(
                fmean(row.recall for row in rows if row.budget == budget and row.category == category)
                for budget in budgets
            )
            for category in categories
        },
    )


def _score(budget: int, rows: Sequence[Answer]) -> Score:
    return Score(
        budget=budget,
        recall=fmean(row.recall for row in rows),
        tokens=fmean(row.tokens for row in rows),
        over=sum(row.tokens > row.budget for row in rows),
        milliseconds=median(row.milliseconds for row in rows),
    )


def _remember(ns: Namespace, conversation: Conversation) -> None:
    """Put the conversation's turns into sessions of the namespace, each with its id as metadata."""
    sessions = dict.fromkeys(turn.session for turn in conversation.turns)
    for name in sessions:
        ns.session(name).extend(
            {
                "role": turn.speaker if turn.speaker in {"user", "assistant"} else "user",
                "name": turn.speaker,
                "content": turn.text,
                "at": turn.at,
                "metadata": {"turn": turn.id},
            }
            for turn in conversation.turns
            if turn.session == name
        )


def _ask_all(ns: Namespace, conversation: Conversation, budgets: Sequence[int]) -> Iterator[list[Answer]]:
    now = max(turn.at for turn in conversation.turns) + timedelta(hours=1)
    ns.index()
    for query in conversation.queries:
        answers: list[Answer] = []
        for budget in budgets:
            begun = time.perf_counter()
            context = ns.context(query.text, budget=budget, model=_MODEL, layout="flat", kinds=["passage"], now=now)
            took = (time.perf_counter() - begun) * 1000
            answers.append(
                Answer(
                    conversation=conversation.name,
                    question=query.text,
                    category=query.category,
                    budget=budget,
                    tokens=context.tokens,
                    recall=len(query.gold & _carried(context)) / len(query.gold),
                    milliseconds=took,
                )
            )
        yield answers


def _carried(context: Context) -> set[str]:
    return {str(row.metadata.get("turn")) for row in context.kept}
