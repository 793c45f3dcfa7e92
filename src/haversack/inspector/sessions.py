"""The Sessions pages: the transcript with compacted spans that open, and how full the window was over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from starlette.requests import Request
from starlette.responses import Response

from haversack.compaction.view import Fold
from haversack.engine.session import Session
from haversack.errors import NotFoundError
from haversack.inspector.pictures import Reading, draw_utilisation
from haversack.inspector.render import defaults_of, drawing, here, number_in, page, saved, visitor_of
from haversack.model.memory import Memory, Turn
from haversack.model.message import Role
from haversack.tokens import counter_for

__all__ = ["one", "picture", "show"]

_SESSIONS = 50
_TURNS = 100
_DRAWN = 5_000
"""The newest turns that the picture counts."""
_CALLS = "haversack.chat"
"""The metadata field in which a chat keeps what an answer cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Turns that stand together: one by itself, or those on this page that a summary stands for."""

    turns: Sequence[Turn]
    fold: Fold | None = None
    summary: Memory | None = None


def show(request: Request) -> Response:
    """The list."""
    visitor = visitor_of(request)
    ns = visitor.namespace(here(request))
    number, everything = max(1, number_in(request, "page", 1)), ns.sessions()
    start = _SESSIONS * (number - 1)
    return page(
        request,
        "sessions.html",
        visitor=visitor,
        here=ns.name,
        names=visitor.namespaces(),
        sessions=everything[start : start + _SESSIONS],
        total=len(everything),
        number=number,
        more=start + _SESSIONS < len(everything),
    )


def one(request: Request) -> Response:
    """One conversation."""
    visitor = visitor_of(request)
    ns = visitor.namespace(here(request))
    session = ns.session(request.query_params.get("id", "") or "-")
    start = number_in(request, "start", 0) // _TURNS * _TURNS
    info = next((each for each in ns.sessions() if each.id == session.id), None)
    if info is None:
        raise NotFoundError(f"no session {session.id!r} in namespace {ns.name!r}")
    folds = session.folds()
    summaries = {memory.id: memory for memory in ns.get_many(fold.summary for fold in folds)}
    turns = session.turns(after=start - 1, limit=_TURNS)
    newest = _newest(session)
    visitor.note("look", ns.name)
    return page(
        request,
        "session.html",
        visitor=visitor,
        here=ns.name,
        info=info,
        start=start,
        size=_TURNS,
        spans=list(_spans(turns, folds, summaries)),
        last=newest[-1].position + 1 if newest else 0,
        waits=bool(newest) and newest[-1].message.role in {Role.USER, Role.TOOL},
        folds=folds,
        calls=_calls(newest),
        drawn=drawing(_draw(request, session, newest, summaries)),
        window=_window(request),
        drawn_turns=min(_DRAWN, len(newest)),
    )


def picture(request: Request) -> Response:
    """The chart as a file."""
    ns = visitor_of(request).namespace(here(request))
    session = ns.session(request.query_params.get("id", "") or "-")
    summaries = {memory.id: memory for memory in ns.get_many(fold.summary for fold in session.folds())}
    return saved(_draw(request, session, _newest(session), summaries), "session")


def readings(
    turns: Sequence[Turn], prices: Sequence[int], folds: Iterable[tuple[Fold, datetime, int]], window: int
) -> list[Reading]:
    """How full a window the conversation took after each turn: what a summary stands for counts until it was made.

    `folds` come with the time of their summaries and what those cost. What was compacted after the last turn gives
    one reading more.
    """
    landing = sorted(folds, key=lambda each: each[1])
    by_position = {turn.position: price for turn, price in zip(turns, prices, strict=True)}
    total, found = 0, list[Reading]()
    for turn, price in zip(turns, prices, strict=True):
        landed = [each for each in landing if each[1] <= turn.at]
        landing = landing[len(landed) :]
        total += price - sum(_freed(each, by_position) for each in landed)
        found.append(Reading(position=turn.position, percent=100 * max(0, total) / window, compacted=bool(landed)))
    if landing and found:
        total -= sum(_freed(each, by_position) for each in landing)
        last = found[-1].position + 1
        found.append(Reading(position=last, percent=100 * max(0, total) / window, compacted=True))
    return found


def _freed(fold: tuple[Fold, datetime, int], by_position: Mapping[int, int]) -> int:
    covered, _, cost = fold
    return sum(by_position.get(position, 0) for position in range(covered.start, covered.stop)) - cost


def _draw(request: Request, session: Session, turns: Sequence[Turn], summaries: Mapping[str, Memory]) -> str:
    window, counter = _window(request), counter_for(defaults_of(request).model)
    prices = counter.count_many([turn.message.text for turn in turns])
    folds = [
        (fold, summaries[fold.summary].created_at, counter.count(summaries[fold.summary].content))
        for fold in session.folds()
        if fold.summary in summaries
    ]
    return draw_utilisation(
        readings(turns, prices, folds, window), f"Words of the conversation in a window of {window:,} tokens"
    )


def _newest(session: Session) -> list[Turn]:
    return session.turns()[-_DRAWN:]


def _window(request: Request) -> int:
    return max(1, number_in(request, "window", defaults_of(request).window))


def _spans(turns: Sequence[Turn], folds: Sequence[Fold], summaries: Mapping[str, Memory]) -> Iterator[Span]:
    waiting: list[Turn] = []
    current: Fold | None = None
    for turn in turns:
        fold = next((each for each in folds if each.start <= turn.position < each.stop), None)
        if waiting and fold is not current:
            yield _folded(waiting, current, summaries)
            waiting = []
        current = fold
        if fold is None:
            yield Span(turns=(turn,))
        else:
            waiting.append(turn)
    if waiting:
        yield _folded(waiting, current, summaries)


def _folded(turns: Sequence[Turn], fold: Fold | None, summaries: Mapping[str, Memory]) -> Span:
    return Span(turns=tuple(turns), fold=fold, summary=None if fold is None else summaries.get(fold.summary))


def _calls(turns: Iterable[Turn]) -> list[tuple[str, int, int, int]]:
    """By model: calls, tokens in, tokens out, where a chat recorded them."""
    found: dict[str, tuple[int, int, int]] = {}
    for turn in turns:
        kept = turn.metadata.get(_CALLS)
        if isinstance(kept, dict) and isinstance(kept.get("model"), str):
            model = cast("str", kept["model"])
            calls, given, made = found.get(model, (0, 0, 0))
            found[model] = (
                calls + 1,
                given + _count(kept.get("input_tokens")),
                made + _count(kept.get("output_tokens")),
            )
    return [(model, *sums) for model, sums in sorted(found.items())]


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
