"""From a session to the whole prompt of one model call: history as its view shows it, memories, tools, query."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec
from msgspec import structs

from haversack.assemble import (
    Anchor,
    Candidate,
    Format,
    Layout,
    ModelPricer,
    Past,
    Primed,
    Prompt,
    SessionVerdict,
    ToolBudget,
    build_prompt,
    prime,
)
from haversack.assemble.history import turn_starts
from haversack.assemble.priming import complete_turns
from haversack.assemble.relevance import drop_irrelevant
from haversack.assemble.standing import without_repeats
from haversack.assemble.verdict import Outcome
from haversack.budget import Budget
from haversack.compaction import BudgetStatus
from haversack.compaction.view import load_view, shown
from haversack.engine.compacting import coordinator_of
from haversack.engine.core import Core
from haversack.engine.packing import candidates, gather
from haversack.engine.reading import Request, look
from haversack.errors import ConflictError, InputError, StoreError
from haversack.model.memory import Kind
from haversack.model.message import Message, Role
from haversack.model.query import Filter
from haversack.model.text import is_blank
from haversack.recall.view import View
from haversack.scoring.blend import DEFAULT
from haversack.store.port import SEGMENT, Batch, Written
from haversack.wire.pairing import pair_turns

__all__ = ["Window", "preview", "primed", "prompt", "reading"]

_ANCHOR = "prompt/"
_LEAST_PER_MESSAGE = 8
"""Fewer tokens than this per message are so rare that no window holds more messages than its tokens divided by it."""

_LONGEST_EXCHANGE = 1_000
"""Messages among which the question is looked for that tool calls are still answering, however small the window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How one prompt is to be made, checked."""

    query: str | Message | None
    """None: the session's last turn, which must be the user's."""
    system: str
    tools: Sequence[object]
    tool_budget: ToolBudget | None
    pricer: ModelPricer
    window: int
    output: int
    layout: Layout
    format: Format
    budget: int | Budget | None
    """What memories may take; None: the layout's ratio."""
    chosen: Filter
    min_relevance: float | None
    """The least of memories; None: what the setting says."""
    now: datetime


def prompt(core: Core, namespace: str, session: str, wanted: Window) -> Prompt:
    """The prompt; counted whole, never over the window less its output reserve.

    A compaction in progress is awaited first, for at most its time budget. Afterwards the reading of this prompt may
    start the next one in the background.
    """
    if core.memory.compaction is not None:
        coordinator_of(core, namespace).before_prompt(session)
    built = preview(core, namespace, session, wanted)
    if built.anchor is not None:
        _keep_anchor(core, namespace, session, built.anchor)
    _watch(core, namespace, session, built, wanted)
    core.was_read([namespace])
    return built


def preview(core: Core, namespace: str, session: str, wanted: Window) -> Prompt:
    """The prompt as it would be now; nothing is awaited, started or kept."""
    history = _history(core, namespace, session, wanted)
    live, since, past, asked = _live(wanted.query, history)
    prior = _prior(core, namespace, session)
    found, behind = _candidates(core, namespace, live, asked, wanted)
    built = build_prompt(
        query=live,
        since=since,
        pricer=wanted.pricer,
        window=wanted.window,
        output=wanted.output,
        system=wanted.system,
        tools=wanted.tools,
        tool_budget=wanted.tool_budget,
        history=past,
        prior=[one for talk in reversed(prior.values()) for one in talk],
        candidates=found,
        layout=wanted.layout,
        format=wanted.format,
        context_budget=wanted.budget,
        least_evidence=core.memory.min_evidence_per_1000,
        now=wanted.now,
        previous=_anchor(core, namespace, session) if wanted.layout.stable else None,
    )
    if built.context is not None and behind:
        built = replace(built, context=replace(built.context, behind=behind))
    return replace(built, sessions=tuple(_fate(name, talk, built, wanted) for name, talk in prior.items()))


def _anchor(core: Core, namespace: str, session: str) -> Anchor | None:
    """Where the session's last cached prompt stood, whichever process made it; None after any erasure."""
    record = core.store.record(namespace, SEGMENT, f"{_ANCHOR}{session}")
    return None if record is None else msgspec.json.decode(record.value, type=Anchor)


def _keep_anchor(core: Core, namespace: str, session: str, anchor: Anchor) -> None:
    """Keep it for the next prompt, unless one of the memories in it was erased meanwhile.

    It stands among what an erasure drops, for it holds words. A store that cannot take it loses the prefix alone.
    """
    record = Written(collection=SEGMENT, key=f"{_ANCHOR}{session}", value=msgspec.json.encode(anchor))
    with suppress(StoreError, ConflictError):
        core.store.apply(namespace, Batch(records=(record,), made_of=tuple(sorted(anchor.shown))))


def primed(core: Core, namespace: str, session: str, wanted: Window) -> Primed:
    """What a session starts with: known facts, entities, insights, summaries, the last turns of earlier sessions."""
    others = _others(core, namespace, session, core.memory.priming.previous_sessions)
    talks = [_past(core, namespace, other) for other in others]
    return _primed(core, core.recall.view([namespace]), talks, wanted)


def _primed(core: Core, view: View, sessions: Sequence[Sequence[Past]], wanted: Window) -> Primed:
    config = core.memory.priming
    found = [
        hit
        for section in config.layout().sections
        for hit in view.listing(_of_kinds(wanted.chosen, section.kinds), now=wanted.now, top_k=section.max_items or 0)
    ]
    memories = candidates(core, found, wanted.pricer.counter)
    return prime(memories, sessions, config, pricer=wanted.pricer, format=wanted.format, now=wanted.now)


def _of_kinds(chosen: Filter, kinds: frozenset[Kind]) -> Filter:
    return replace(chosen, kinds=kinds if chosen.kinds is None else kinds & chosen.kinds)


def _history(core: Core, namespace: str, session: str, wanted: Window) -> list[Past]:
    most = core.memory.max_history_turns
    limit = wanted.window // _LEAST_PER_MESSAGE
    if wanted.query is None:
        limit = max(limit, _LONGEST_EXCHANGE)
    past = _past(core, namespace, session, limit)
    if most is None:
        return past
    summaries = [one for one in past if one.stands_for]
    turns = [one for one in past if not one.stands_for]
    if wanted.query is None:  # the question and the tools' answers to it are no history
        most += 1
    starts = [*turn_starts(turns), len(turns)]
    return [*summaries, *turns[starts[-1 - most] :]] if most < len(starts) else past


def _past(core: Core, namespace: str, session: str, limit: int = 1_000) -> list[Past]:
    """The session's newest messages as its view shows them; softly forgotten turns are left out."""
    turns = pair_turns(core.store.turns(namespace, session, limit=limit, newest=True, shown=True))
    view, _ = load_view(core.store, namespace, session)
    folds = [fold.summary for fold in view.folds]
    words = {summary.id: summary.content for summary in core.store.memories(namespace, folds)} if folds else {}
    return [Past(message=one.message, id=one.id, stands_for=one.stands_for) for one in shown(view, turns, words)]


def _live(
    query: str | Message | None, history: Sequence[Past]
) -> tuple[str | Message, Sequence[Past], Sequence[Past], frozenset[str]]:
    """The query, the tool calls and results since, the history before it, and the turn ids of query and since."""
    if query is not None:
        return query, (), history, frozenset()
    asked = (n for n in reversed(range(len(history))) if history[n].message.role is Role.USER)
    place = next((n for n in asked if history[n].message.shows), None)
    if place is None or not _waits(history[place:]):
        raise InputError("give a query: the session ends neither with the user's turn nor with a tool's result")
    tail = history[place:]
    return tail[0].message, tail[1:], history[:place], frozenset(one.id for one in tail)


def _waits(tail: Sequence[Past]) -> bool:
    """Whether a user's turn and what follows it wait for an answer: every call has its result, or there is none."""
    called = [call.id for one in tail[1:] for call in one.message.tool_calls]
    answered = [one.message.tool_call_id for one in tail[1:] if one.message.role is Role.TOOL]
    said = [one for one in tail[1:] if one.message.role is not Role.TOOL and not one.message.tool_calls]
    return not said and sorted(called) == sorted(map(str, answered)) and (bool(called) or not tail[0].stands_for)


def _candidates(
    core: Core, namespace: str, live: str | Message, asked: frozenset[str], wanted: Window
) -> tuple[Sequence[Candidate], int]:
    """What recall finds, and how many changes it did not know yet.

    What a setting keeps out is marked, and what says the same as the query's own turns.
    """
    words = live.text if isinstance(live, Message) else live
    supporting = _supporting(wanted, max(0, wanted.window - wanted.output))
    if is_blank(words) or not supporting:
        return (), 0
    request = Request(
        namespaces=(namespace,),
        query=words,
        chosen=wanted.chosen,
        now=wanted.now,
        weights=DEFAULT,
        min_relevance=wanted.min_relevance,
    )
    seen = look(core, request)
    found = gather(core, request, wanted.layout, supporting, wanted.pricer.counter, seen)
    left = drop_irrelevant(without_repeats(found, asked), words, core.memory.query_relevance_filter)
    return _as_primed(core, seen.view, left, wanted), seen.view.behind


def _as_primed(core: Core, view: View, found: Sequence[Candidate], wanted: Window) -> Sequence[Candidate]:
    """The candidates; of those that only belong in their section, priming says which may stand there."""
    kinds = frozenset[Kind]().union(*(section.kinds for section in core.memory.priming.layout().sections))
    asked = [_is_background(one) and one.memory.kind in kinds for one in found]
    if not any(asked):
        return found
    known = frozenset(_primed(core, view, (), wanted).context.items)
    return [
        structs.replace(one, filtered="not_primed") if judged and one.memory.id not in known else one
        for one, judged in zip(found, asked, strict=True)
    ]


def _is_background(one: Candidate) -> bool:
    """Whether it stands for itself without answering, which a parent of what answers does not."""
    return one.filtered is None and not one.answers and one.score > 0


def _supporting(wanted: Window, room: int) -> int:
    """The most that memories may take."""
    match wanted.budget:
        case None:
            return int(room * wanted.layout.ratio)
        case Budget():
            return min(room, wanted.budget.resolve(wanted.window))
        case _:
            return min(room, wanted.budget)


def _prior(core: Core, namespace: str, session: str) -> dict[str, list[Past]]:
    """The last complete turns of the newest other sessions, newest first."""
    config = core.memory.priming
    if not config.enabled or not config.previous_sessions:
        return {}
    others = _others(core, namespace, session, config.previous_sessions)
    return {other: complete_turns(_past(core, namespace, other), config.previous_session_turns) for other in others}


def _fate(name: str, talk: Sequence[Past], built: Prompt, wanted: Window) -> SessionVerdict:
    sent = {row.id for row in built.turns if row.verdict is not Outcome.DROPPED}
    kept = sum(one.id in sent for one in talk)
    if kept:
        reason = "fits"
    elif not talk:
        reason = "no_complete_turn"
    else:
        reason = "stable_prefix" if wanted.layout.stable else "no_room"
    return SessionVerdict(id=name, messages=len(talk), kept=kept, reason=reason)


def _others(core: Core, namespace: str, session: str, most: int) -> list[str]:
    """Ids of the newest other sessions."""
    names = (info.id for info in core.store.sessions(namespace))
    return [name for name in names if name != session][:most]


def _watch(core: Core, namespace: str, session: str, built: Prompt, wanted: Window) -> None:
    """Tell the session's monitor how much the whole conversation would take; a run may start in the background."""
    core.runs.available[namespace, session] = _available(built)
    if core.memory.compaction is not None:
        coordinator_of(core, namespace).after_turn(session, reading(built, wanted.now))


def reading(built: Prompt, now: datetime | None = None) -> BudgetStatus:
    """How full the window is, with what had to be left out of the conversation counted in."""
    left_out = sum(row.tokens for row in built.turns if row.verdict is Outcome.DROPPED)
    return BudgetStatus.of(built.tokens + left_out, _available(built), timestamp=now)


def _available(built: Prompt) -> int:
    return max(0, built.ledger.budget - built.ledger.reserved)
