"""`build_prompt`: shares one window among system, tools, history, memories, query and answer; never over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from msgspec import structs

from haversack.assemble.anchor import Anchor, Note, interleaved
from haversack.assemble.attention import Cascade, tiered
from haversack.assemble.candidate import Candidate
from haversack.assemble.cascade import StageReport
from haversack.assemble.compose import assemble
from haversack.assemble.context import Context
from haversack.assemble.evidence import worth_their_tokens
from haversack.assemble.fit import Kept, fit_history
from haversack.assemble.frame import Format, format_named
from haversack.assemble.history import Past, TurnReason, TurnVerdict, TurnVerdicts
from haversack.assemble.layout import Layout, layout_named
from haversack.assemble.pricing import Pricer
from haversack.assemble.prompt import Prompt
from haversack.assemble.render import memory_message
from haversack.assemble.settings import ToolBudget
from haversack.assemble.standing import standing_turns, without_repeats
from haversack.assemble.tail import Tail, fit_tail
from haversack.assemble.toolbox import ToolReport, choose_tools, tool_name
from haversack.assemble.verdict import Outcome
from haversack.budget import Budget, Ledger, Line, Window, check_tokens, settle
from haversack.errors import BudgetError
from haversack.model.message import Message, Role, Text

__all__ = ["build_prompt"]

_FIRST = 2
"""A cached prompt's first note may take this fraction (one half) of the supporting budget; the rest is for new ones."""
_SLICE = 40
"""Each later note this fraction."""
_SMALLEST_SLICE = 48
_KEEP = 0.6
"""How much of its part a cached history keeps when it has to be cut."""
_LONGEST = 3
"""In a cached prompt a message over this fraction of the window is shortened."""


def build_prompt(  # noqa: PLR0913 - one for each part of a window, by keyword
    *,
    query: str | Message,
    since: Sequence[Past] = (),
    pricer: Pricer,
    window: int,
    output: int = 0,
    system: str = "",
    tools: Sequence[object] = (),
    tool_budget: ToolBudget | None = None,
    tool_scores: Mapping[str, float] | None = None,
    history: Sequence[Past] = (),
    prior: Sequence[Past] = (),
    candidates: Sequence[Candidate] = (),
    layout: str | Layout = "flat",
    format: str | Format = Format.MARKDOWN,  # noqa: A002 - the public word for it
    context_budget: int | Budget | None = None,
    least_evidence: float = 0.0,
    now: datetime | None = None,
    previous: Anchor | None = None,
) -> Prompt:
    """Build the prompt: system, other sessions' turns, history, memories, and the query last.

    `since` is what followed the query already: tool calls with their results, sent whole behind it while they fit.
    `tool_budget` chooses among the tools; without one all are sent. `context_budget` replaces the layout's ratio of the
    dynamic budget. Where scores are probabilities of use, `least_evidence` is the share that each next 1,000 tokens of
    memories must add to what is known by then. `previous` is the last prompt's anchor, for a layout with stable prefix.
    Raises BudgetError with the ledger when system, tools, query and answer reserve alone exceed the window.
    """
    live = query if isinstance(query, Message) else Message(role=Role.USER, parts=(Text(query),))
    job = _Job(pricer=pricer, window=window, output=output, query=live, since=since, system=system, now=now)
    job.layout, job.format, job.least_evidence = layout_named(layout), format_named(format), least_evidence
    job.choose(tools, tool_budget, tool_scores)
    job.check_fixed()
    job.plan_context(context_budget)
    if job.layout.stable:
        return job.stable(history, candidates, previous)
    return job.fresh(history, prior, candidates)


@dataclass(slots=True)
class _Memories:
    """Packed memories as a message."""

    message: Message
    tokens: int
    context: Context


class _Job:
    layout: Layout
    format: Format
    least_evidence: float
    supporting: int

    def __init__(
        self,
        *,
        pricer: Pricer,
        window: int,
        output: int,
        query: Message,
        since: Sequence[Past],
        system: str,
        now: datetime | None,
    ) -> None:
        self.pricer = pricer
        self.window = Window(size=window, output=output)
        self.since = since
        self.tail = Tail(messages=(query, *(past.message for past in since)), rows=())
        self.query = query.text
        self.system_text = system
        self.system = (Message(role=Role.SYSTEM, parts=(Text(system),)),) if system.strip() else ()
        self.now = now
        self.tools: tuple[object, ...] = ()
        self.report: ToolReport | None = None
        self.notes: frozenset[str] = frozenset()
        self.stages: tuple[StageReport, ...] = ()
        self.missed: Context | None = None
        """The verdicts on memories of which none had room."""

    def price(self, messages: Sequence[Message]) -> list[int]:
        return [cost.total for cost in self.pricer.messages(messages)] if messages else []

    def choose(self, tools: Sequence[object], rules: ToolBudget | None, scores: Mapping[str, float] | None) -> None:
        self.tools = tuple(tools)
        if rules is None or not tools:
            return
        room = self.window.size - self.window.output
        cost = self.pricer.tools(tools)
        self.report = choose_tools(tools, cost, rules, query=self.query, room=room, scores=scores)
        self.tools = tuple(tool for tool, row in zip(tools, self.report.rows, strict=True) if row.sent)

    def check_fixed(self) -> None:
        self.tool_cost = self.pricer.tools(self.tools)
        fixed = sum(self.price(self.system)) + self.tool_cost.total + self.pricer.reply
        room = self.window.size - self.window.output - fixed
        if sum(self.price(self.tail.messages)) > room and self.since:
            query, price = self.tail.messages[0], self.price
            self.tail = fit_tail(query, self.since, room, price=price, counter=self.pricer.counter) or self.tail
        need = sum(self.price(self.tail.messages))
        self.room, fixed = room - need, fixed + need
        if self.room < 0:
            ledger = self.ledger((*self.system, *self.tail.messages), None)
            largest = max(ledger.lines, key=lambda line: line.tokens)
            msg = (
                f"system, tools, query and answer reserve need {fixed + self.window.output} tokens, the window has "
                f"{self.window.size}; the largest part is {largest.name} with {largest.tokens}"
            )
            raise BudgetError(msg, ledger)

    def plan_context(self, wanted: int | Budget | None) -> None:
        system = sum(self.price(self.system))
        parts = replace(self.window, system=system, tools=self.tool_cost.total, ratio=self.layout.ratio)
        match wanted:
            case None:
                budget = parts.supporting
            case Budget():
                budget = wanted.resolve(self.window.size)
            case _:
                budget = check_tokens(wanted, "context_budget")
        self.supporting = min(budget, self.room)

    def memories(self, candidates: Sequence[Candidate], budget: int) -> _Memories | None:
        """The memories as a message of at most `budget` tokens, or None when none fit."""
        wrapper = self.price([memory_message("", self.format)])[0]
        room = budget - wrapper
        while candidates and room > 0:
            try:
                context = self.packed(candidates, room)
            except BudgetError as refused:
                raise self.crowded(budget, refused) from None
            message = memory_message(context.text, self.format)
            tokens = self.price([message])[0]
            if not context.items:
                self.missed = context
                return None
            if tokens <= budget:
                return _Memories(message, tokens, context)
            room = min(room - 1, room * budget // tokens)
        if any(candidate.memory.pinned and candidate.filtered is None for candidate in candidates):
            try:
                self.packed(candidates, 1)
            except BudgetError as refused:
                raise self.crowded(budget, refused) from None
        if candidates:
            self.missed = assemble(candidates, budget=0, counter=self.pricer.counter, layout=self.layout)
        return None

    def packed(self, candidates: Sequence[Candidate], room: int) -> Context:
        """The memories' text."""
        return assemble(
            candidates,
            budget=room,
            counter=self.pricer.counter,
            layout=self.layout,
            format=self.format,
            query=self.query,
            now=self.now,
        )

    def crowded(self, budget: int, refused: BudgetError) -> BudgetError:
        """The refusal of pinned memories that leaves no part of the window out."""
        pinned = refused.ledger.lines if isinstance(refused.ledger, Ledger) else ()
        fixed = self.ledger((*self.system, *self.tail.messages), None)
        msg = f"pinned memories need more than the {budget} tokens that are left for memories"
        return BudgetError(msg, replace(fixed, lines=(*fixed.lines, *pinned)))

    def fresh(self, history: Sequence[Past], prior: Sequence[Past], candidates: Sequence[Candidate]) -> Prompt:
        """The attention order: system, other sessions, history, memories, query."""
        kept, before = self.talk(history, prior, self.room - self.supporting)
        standing = standing_turns(history, kept) | standing_turns(prior, before)
        found = self.memories(self.chosen(candidates, standing, history, prior), self.supporting)
        if not (kept.whole and before.whole):
            kept, before = self.talk(history, prior, self.room - (found.tokens if found else 0))
        rows = TurnVerdicts(len(prior) + len(history), lambda: (*(_as_prior(row) for row in before.rows), *kept.rows))
        packed = (found.message,) if found else ()
        talk = (*self.system, *before.messages, *kept.messages)
        return self.prompt((*talk, *packed), found, rows, len(self.system) + len(before.messages))

    def talk(self, history: Sequence[Past], prior: Sequence[Past], room: int) -> tuple[Kept, Kept]:
        """What fits of the history and, where all of it does, of other sessions."""
        kept = self.fit(history, room)
        return kept, self.fit(prior, room - kept.tokens if kept.whole else 0)

    def chosen(
        self,
        candidates: Sequence[Candidate],
        standing: frozenset[str],
        history: Sequence[Past] = (),
        prior: Sequence[Past] = (),
    ) -> Sequence[Candidate]:
        """The candidates, those marked that repeat what stands in the prompt or are not worth their tokens."""
        left = without_repeats(candidates, standing)
        if self.least_evidence:
            left = worth_their_tokens(left, self.pricer.counter, self.least_evidence)
        if self.layout.cascade and left:
            cascade = Cascade(
                history,
                prior,
                layout=self.layout,
                format=self.format,
                pricer=self.pricer,
                most=self.supporting,
                now=self.now,
            )
            kept, self.stages = cascade.run(left, self.room)
            left = tiered(left, kept)
        return left

    def fit(self, history: Sequence[Past], room: int) -> Kept:
        return fit_history(history, room, price=self.price, counter=self.pricer.counter, query=self.query)

    def stable(self, history: Sequence[Past], candidates: Sequence[Candidate], previous: Anchor | None) -> Prompt:
        """The cached order: everything stands where the last prompt had it; what is new stands at the tail."""
        anchor, events = Anchor(), ["first_call"]
        if previous is not None:
            event = previous.holds_for(history, self.system_text)
            anchor, events = (previous, list[str]()) if event is None else (Anchor(), [event])
        candidates = self.chosen(candidates, self.surely(history, anchor)) if candidates else candidates
        # A round of tool calls goes on behind its query, so nothing new may stand in front of that.
        same_query = bool(self.since) and bool(anchor.notes) and anchor.length == len(history)
        found = None if same_query else self.noted(anchor, candidates)
        if not same_query and self.outgrown(anchor, candidates, found):
            anchor, found = replace(anchor, notes=()), self.noted(Anchor(), candidates)
            events.append("memory_renewed")
        tokens = found.tokens if found else 0
        kept = self.settled(history, anchor, self.room - anchor.tokens - tokens)
        if kept is None:
            found = self.noted(Anchor(), candidates)
            kept = self.cached_fit(history, int((self.room - (found.tokens if found else 0)) * _KEEP), 0)
            turns = [place for place in kept.places if not history[place].stands_for]
            anchor = Anchor(start=min(turns, default=len(history)))
            events.append("history_cut")
        elif previous is not None and previous.length in kept.altered:
            events.append("query_shortened")
        notes = anchor.notes
        if found:
            note = Note(before=len(history), text=_text(found), memories=found.context.items, tokens=found.tokens)
            notes = (*notes, note)
        self.notes = frozenset(note.text for note in anchor.notes)
        last = history[-1].id if history else ""
        later = replace(anchor, notes=notes, length=len(history), last=last, system=self.system_text)
        prompt = self.prompt((*self.system, *interleaved(kept, notes)), found, kept.rows, len(self.system))
        return replace(prompt, anchor=later, events=tuple(events))

    @property
    def slot(self) -> int:
        """What a later note may take."""
        return max(_SMALLEST_SLICE, self.supporting // _SLICE)

    def outgrown(self, anchor: Anchor, candidates: Sequence[Candidate], found: _Memories | None) -> bool:
        """Whether the notes have to be packed anew: full without the best there is, or a pinned memory fits nowhere."""
        if not anchor.notes:
            return False
        standing = anchor.shown.union(found.context.items if found else ())
        news = [one.memory for one in candidates if one.filtered is None and one.memory.id not in standing]
        if anchor.tokens > self.supporting or any(memory.pinned for memory in news):
            return True
        if not news or anchor.tokens + self.slot <= self.supporting:
            return False
        best = self.noted(Anchor(), candidates)
        return best is not None and not standing.issuperset(best.context.items)

    def noted(self, anchor: Anchor, candidates: Sequence[Candidate]) -> _Memories | None:
        """Memories that do not stand in a note yet; None when there is room for none.

        The first note leaves half of the supporting budget for later ones, unless pinned memories need more.
        """
        shown = anchor.shown
        new = [_standing(one) if one.memory.id in shown else one for one in candidates]
        slot = self.slot if anchor.notes else self.supporting // _FIRST
        room = self.supporting - anchor.tokens
        try:
            return self.memories(new, min(slot, room))
        except BudgetError:
            return self.memories(new, room) if not anchor.notes else None

    def surely(self, history: Sequence[Past], anchor: Anchor) -> frozenset[str]:
        """The turns that stand in the prompt however much its notes take."""
        kept = self.settled(history, anchor, self.room - max(self.supporting, anchor.tokens))
        if kept is None:
            kept = self.cached_fit(history, max(0, int((self.room - self.supporting) * _KEEP)), 0)
        return standing_turns(history, kept)

    def settled(self, history: Sequence[Past], anchor: Anchor, room: int) -> Kept | None:
        """The history from the anchor's start on, if all of it fits."""
        if room < 0:
            return None
        kept = self.cached_fit(history, room, anchor.start)
        return kept if kept.left_out < anchor.start else None

    def cached_fit(self, history: Sequence[Past], room: int, floor: int) -> Kept:
        return fit_history(
            history,
            room,
            price=self.price,
            counter=self.pricer.counter,
            floor=floor,
            longest=self.window.size // _LONGEST,
        )

    def prompt(self, talk: Sequence[Message], found: _Memories | None, rows: TurnVerdicts, prior_until: int) -> Prompt:
        messages, cut = (*talk, *self.tail.messages), self.tail.rows
        return Prompt(
            parts=messages,
            tools=self.tools,
            ledger=self.ledger(messages, found, prior_until=prior_until),
            context=found.context if found else self.missed,
            turns=TurnVerdicts(len(rows) + len(cut), lambda: (*rows, *cut)) if cut else rows,
            tool_report=self.report,
            stages=self.stages,
        )

    def ledger(self, messages: Sequence[Message], found: _Memories | None, *, prior_until: int = 0) -> Ledger:
        """Every token of these messages, of the tools and of the framing, by what it is for."""
        measure = self.pricer.measure
        costs = self.pricer.messages(messages)
        names: dict[str, tuple[int, int]] = {}
        for place, (message, cost) in enumerate(zip(messages, costs, strict=True)):
            name = self._line_of(place, message, len(messages), found, prior_until)
            tokens, items = names.get(name, (0, 0))
            names[name] = (tokens + cost.content, items + 1)
        total = sum(cost.total for cost in costs) + self.tool_cost.total + self.pricer.reply
        lines = [Line(name=n, tokens=t, items=i, measure=measure) for n, (t, i) in names.items() if n != "memories"]
        if found:
            lines += [replace(line, name=f"memories/{line.name}") for line in found.context.ledger.lines]
        lines += [
            Line(name=f"tools/{tool_name(tool) or cost.name}", tokens=cost.tokens, measure=measure)
            for tool, cost in zip(self.tools, self.tool_cost.tools, strict=True)
        ]
        lines.append(Line(name="tools/preamble", tokens=self.tool_cost.preamble, measure=measure))
        budget, reserved = self.window.size, self.window.output
        return Ledger(lines=settle(lines, total, measure), budget=budget, reserved=reserved)

    def _line_of(self, place: int, message: Message, count: int, found: _Memories | None, prior_until: int) -> str:
        if place < len(self.system):
            return "system"
        behind = place - (count - len(self.tail.messages))
        if behind >= 0:
            return "query" if behind == 0 else "tool results" if message.role is Role.TOOL else "tool calls"
        if found and message.role is Role.USER and message.text == _text(found):
            return "memories"
        if place < prior_until:
            return "prior sessions"
        if message.role is Role.TOOL:
            return "tool results"
        return "notes" if message.text in self.notes else "history"


def _text(found: _Memories) -> str:
    return found.message.text


def _as_prior(row: TurnVerdict) -> TurnVerdict:
    return replace(row, reason=TurnReason.PRIOR_SESSION) if row.verdict is Outcome.DROPPED else row


def _standing(candidate: Candidate) -> Candidate:
    return structs.replace(candidate, filtered=candidate.filtered or "stands_already")
