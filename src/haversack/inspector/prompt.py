"""The Prompt page: a query, the whole window as a ledger, and what became of every candidate.

What the page shows is what the library returns for the same question: it calls `context`, or `preview` for a whole
prompt, and adds nothing. The moment is fixed when the page is made, so that text, picture and slider speak of the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from haversack.assemble import LAYOUTS, Context, Format, Outcome, Prompt, Verdict
from haversack.assemble.history import TurnVerdict
from haversack.assemble.picture import draw_ledger
from haversack.assemble.prompt import SessionVerdict
from haversack.budget import Ledger
from haversack.clock import utc_now
from haversack.engine.namespace import Namespace
from haversack.errors import BudgetError, InputError
from haversack.inspector.reasons import in_words
from haversack.inspector.render import defaults_of, drawing, here, one_line, page, saved, visitor_of
from haversack.model.memory import Memory
from haversack.scoring.signals import weightiest

__all__ = ["picture", "show", "text"]

_MOST: Mapping[Outcome, int] = {
    Outcome.KEPT: 100,
    Outcome.SHORTENED: 50,
    Outcome.DROPPED: 25,
    Outcome.FILTERED: 10,
}
"""Rows of each verdict that a section shows."""
_MOST_TURNS = 200
_SESSIONS = 200
_SLIDER = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the form holds; empty fields are the library's defaults."""

    namespace: str
    query: str = ""
    session: str = ""
    model: str = ""
    layout: str = ""
    format: str = ""
    budget: int | None = None
    window: int | None = None
    output: int | None = None
    now: str = ""

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to show yet."""
        return not self.query.strip() and not self.session

    def shape(self) -> dict[str, Any]:
        """Keywords of `context`."""
        said = {"model": self.model, "layout": self.layout, "format": self.format, "now": self.now}
        return {name: value for name, value in said.items() if value} | (
            {} if self.budget is None else {"budget": self.budget}
        )

    def window_shape(self) -> dict[str, Any]:
        """Keywords of `preview`."""
        sizes = {"window": self.window, "output": self.output}
        return self.shape() | {name: value for name, value in sizes.items() if value is not None}

    def fields(self) -> dict[str, object]:
        """As an address holds them."""
        return {
            "namespace": self.namespace, "q": self.query, "session": self.session, "model": self.model,
            "layout": self.layout, "format": self.format, "budget": self.budget, "window": self.window,
            "output": self.output, "now": self.now,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One candidate."""

    verdict: Verdict
    words: str
    reason: str
    parts: Sequence[tuple[str, float]]
    """What each signal added, the weightiest first."""
    alone: bool
    """Whether only this one of two compared contexts carries it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One section."""

    name: str
    tokens: int
    planned: int
    rows: Sequence[tuple[Outcome, Sequence[Row], int]]
    """Verdict, rows that are shown, and how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One packed context or prompt as the page shows it."""

    name: str
    asked: Asked
    tokens: int
    budget: int
    measure: str
    ledger: Ledger
    picture: str
    groups: Sequence[Group]
    turns: Sequence[tuple[TurnVerdict, str, str]]
    """Verdict, first words and reason."""
    sessions: Sequence[SessionVerdict]
    text: str
    value: float | None
    carried: frozenset[str]


def show(request: Request) -> Response:
    """The page, or its answers alone."""
    visitor, asked = visitor_of(request), _asked(request)
    ns = visitor.namespace(asked.namespace)
    answers: list[Answer] = []
    problem, ledger = "", None
    try:
        if not asked.is_blank:
            answers = _answers(ns, asked, _other(request, asked))
            visitor.note("context", ns.name, next(iter(answers)).carried)
    except BudgetError as error:
        problem, ledger = str(error), error.ledger
    except InputError as error:
        problem = str(error)
    is_part = "part" in request.query_params
    return page(
        request,
        "answers.html" if is_part else "prompt.html",
        status=400 if problem and not is_part else 200,
        visitor=visitor,
        asked=asked,
        other=request.query_params.get("other_budget", ""),
        other_layout=request.query_params.get("other_layout", ""),
        answers=answers,
        drawn=[drawing(answer.picture) for answer in answers],
        problem=problem,
        short_ledger=ledger,
        slider=max(_SLIDER, 2 * (asked.budget or 0)),
        layouts=list(LAYOUTS),
        formats=list(Format),
        names=() if is_part else visitor.namespaces(),
        sessions=() if is_part else _sessions(ns),
        given_now=request.query_params.get("now", ""),
        defaults=defaults_of(request),
        in_words=in_words,
    )


def text(request: Request) -> Response:
    """Exactly what would stand in the prompt, byte for byte."""
    asked = _asked(request)
    built = _build(visitor_of(request).namespace(asked.namespace), asked)
    return PlainTextResponse(built.text if isinstance(built, Context) else _messages(built))


def picture(request: Request) -> Response:
    """The ledger as a file."""
    asked = _asked(request)
    built = _build(visitor_of(request).namespace(asked.namespace), asked)
    return saved(draw_ledger(built.ledger, asked.query or asked.session), "ledger")


def _answers(ns: Namespace, asked: Asked, other: Asked | None) -> list[Answer]:
    built = [(one, _build(ns, one)) for one in ([asked] if other is None else [asked, other])]
    carried = [_carried(each) for _, each in built]
    names = [_name(one) for one, _ in built] if other else [""]
    found: list[Answer] = []
    for number, (one, each) in enumerate(built):
        alone = carried[number] - carried[1 - number] if other else frozenset[str]()
        found.append(_answer(ns, names[number], one, each, alone))
    return found


def _build(ns: Namespace, asked: Asked) -> Context | Prompt:
    if asked.session:
        return ns.session(asked.session).preview(asked.query if asked.query.strip() else None, **asked.window_shape())
    return ns.context(asked.query, **asked.shape())


def _carried(built: Context | Prompt) -> frozenset[str]:
    context = built if isinstance(built, Context) else built.context
    return frozenset() if context is None else frozenset(context.items)


def _answer(ns: Namespace, name: str, asked: Asked, built: Context | Prompt, alone: frozenset[str]) -> Answer:
    context = built if isinstance(built, Context) else built.context
    ledger = built.ledger
    return Answer(
        name=name,
        asked=asked,
        tokens=built.tokens,
        budget=ledger.budget,
        measure="exact" if ledger.exact else "upper bound",
        ledger=ledger,
        picture=draw_ledger(ledger, name or asked.query or asked.session),
        groups=[] if context is None else _groups(ns, context, alone),
        turns=() if isinstance(built, Context) else _turns(ns, asked.session, built),
        sessions=() if isinstance(built, Context) else built.sessions,
        text=built.text if isinstance(built, Context) else _messages(built),
        value=None if context is None else context.value,
        carried=_carried(built),
    )


def _groups(ns: Namespace, context: Context, alone: frozenset[str]) -> list[Group]:
    by_section: dict[str, dict[Outcome, list[Verdict]]] = {}
    for row in context.verdicts:
        section = "" if row.verdict is Outcome.FILTERED else row.section
        by_section.setdefault(section, {}).setdefault(row.verdict, []).append(row)
    shown = [
        row for outcomes in by_section.values() for outcome, rows in outcomes.items() for row in rows[: _MOST[outcome]]
    ]
    words = {memory.id: memory for memory in ns.get_many({row.memory_id: None for row in shown})}
    known = {section.name: section for section in context.sections}
    order = [*known, *(name for name in by_section if name not in known)]
    return [
        Group(
            name=name or "Filtered",
            tokens=known[name].tokens if name in known else 0,
            planned=known[name].planned if name in known else 0,
            rows=[
                (outcome, [_row(row, words, alone) for row in rows[: _MOST[outcome]]], len(rows))
                for outcome in Outcome
                if (rows := by_section[name].get(outcome))
            ],
        )
        for name in order
        if name in by_section
    ]


def _row(verdict: Verdict, words: Mapping[str, Memory], alone: frozenset[str]) -> Row:
    memory = words.get(verdict.memory_id)
    parts = [(name, verdict.parts[name]) for name in weightiest(verdict.parts, verdict.formula)]
    said = "" if memory is None else f"{memory.speaker}: {memory.content}" if memory.speaker else memory.content
    return Row(
        verdict=verdict,
        words=one_line(said) or "(nothing to show)",
        reason=in_words(verdict.reason),
        parts=parts,
        alone=verdict.memory_id in alone,
    )


def _turns(ns: Namespace, session: str, prompt: Prompt) -> list[tuple[TurnVerdict, str, str]]:
    """The newest messages of the past: verdict, first words and reason. Words of other sessions are left out."""
    rows = prompt.turns[-_MOST_TURNS:]
    length = next((info.turns for info in ns.sessions() if info.id == session), 0)
    words = {turn.id: turn.message.text for turn in ns.session(session).turns(after=length - 2 * _MOST_TURNS)}
    words |= {memory.id: memory.content for memory in ns.get_many(row.id for row in rows if row.id not in words)}
    return [(row, one_line(words.get(row.id, "")), in_words(row.reason)) for row in rows]


def _messages(prompt: Prompt) -> str:
    return json.dumps(prompt.request("openai"), ensure_ascii=False, indent=2)


def _name(asked: Asked) -> str:
    size = "the default budget" if asked.budget is None else f"{asked.budget:,} tokens"
    return f"{asked.layout or 'default layout'}, {size}"


def _sessions(ns: Namespace) -> list[str]:
    return [info.id for info in ns.sessions()[:_SESSIONS]]


def _asked(request: Request) -> Asked:
    given = request.query_params
    return Asked(
        namespace=here(request),
        query=given.get("q", ""),
        session=given.get("session", ""),
        model=given.get("model", ""),
        layout=given.get("layout", ""),
        format=given.get("format", ""),
        budget=_whole(given.get("budget", ""), "budget"),
        window=_whole(given.get("window", ""), "window"),
        output=_whole(given.get("output", ""), "output"),
        now=given.get("now", "").strip() or utc_now().isoformat(),
    )


def _other(request: Request, asked: Asked) -> Asked | None:
    """What to compare with: the same question under another layout or budget."""
    layout = request.query_params.get("other_layout", "")
    budget = _whole(request.query_params.get("other_budget", ""), "other budget")
    if not layout and budget is None:
        return None
    return replace(asked, layout=layout or asked.layout, budget=asked.budget if budget is None else budget)


def _whole(given: str, what: str) -> int | None:
    if not given.strip():
        return None
    try:
        return int(given.replace(",", "").replace(" ", ""))
    except ValueError:
        raise InputError(f"{what} {given[:40]!r} is not a whole number of tokens") from None
