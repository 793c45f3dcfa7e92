"""The attention layout's own rules: what the pruning cascade says enters first, in prompts and in its assembler."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from msgspec import structs

from haversack.assemble.candidate import Candidate
from haversack.assemble.cascade import Payload, StageReport, run_cascade
from haversack.assemble.compose import assemble
from haversack.assemble.context import Context
from haversack.assemble.fit import Kept, fit_history
from haversack.assemble.frame import Format
from haversack.assemble.history import Past, turn_starts
from haversack.assemble.layout import Layout
from haversack.assemble.pricing import Pricer
from haversack.assemble.relevance import QueryRelevance, drop_irrelevant
from haversack.assemble.settings import SupportingContextConfig
from haversack.assemble.standing import standing_code
from haversack.budget import Window, check_tokens
from haversack.model.memory import Stage
from haversack.model.message import Message, Role, Text

__all__ = ["Assembled", "Cascade", "ContextAssembler", "tiered"]

_EVERYTHING = 10**9
"""A budget that holds whatever there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """What the cascade left, packed."""

    context: Context
    history: Kept
    prior: Kept
    stages: tuple[StageReport, ...]
    """The stages that ran; none when everything fitted."""
    warning: str = ""
    """Says so when the emergency stage was reached."""

    @property
    def tokens(self) -> int:
        """History and context together."""
        return self.context.tokens + self.history.tokens + self.prior.tokens


class Cascade:
    """What history, other sessions and memories take under one layout, and what of it goes first."""

    def __init__(
        self,
        history: Sequence[Past],
        prior: Sequence[Past],
        *,
        layout: Layout,
        format: Format,  # noqa: A002 - the public word for it
        pricer: Pricer,
        most: int = _EVERYTHING,
        now: datetime | None = None,
    ) -> None:
        """Memories never take more than `most` tokens."""
        self._now = now
        self._history = history
        self._starts = turn_starts(history)
        self._layout, self._format = layout, format
        self._pricer = pricer
        self._most = most
        self._before = sum(self.price([past.message for past in prior]))
        self._prior = len(prior)
        self._known: tuple[tuple[Candidate, ...], int] = ((), 0)

    def run(self, candidates: Sequence[Candidate], budget: int) -> tuple[Payload, tuple[StageReport, ...]]:
        """Return what is left when everything is to fit into the budget, and the stages that ran for it."""
        live = tuple(one for one in candidates if one.filtered is None)
        everything = Payload(prior=self._prior, turns=len(self._starts), candidates=live)
        said = self.fit(self._history, budget)
        whole = said.tokens if said.whole else budget + 1

        def tokens(payload: Payload) -> int:
            turns = whole if payload.turns == len(self._starts) else self._said(payload.turns)
            return turns + self.need(payload.candidates) + (self._before if payload.prior else 0)

        return run_cascade(everything, budget, tokens)

    def newest(self, turns: int) -> Sequence[Past]:
        """Return the newest turns of the history; all of it where it has no more."""
        return self._history if turns >= len(self._starts) else self._history[self._starts[-turns] :]

    def need(self, candidates: tuple[Candidate, ...]) -> int:
        """Return what the layout takes of these, with room for everything."""
        if candidates is not self._known[0]:
            counter = self._pricer.counter
            context = assemble(
                candidates,
                budget=_EVERYTHING,
                counter=counter,
                layout=self._layout,
                format=self._format,
                now=self._now,
            )
            self._known = (candidates, context.tokens)
        return min(self._known[1], self._most)

    def fit(self, history: Sequence[Past], room: int, query: str = "") -> Kept:
        """Return what of these turns fits."""
        return fit_history(history, max(0, room), price=self.price, counter=self._pricer.counter, query=query)

    def price(self, messages: Sequence[Message]) -> list[int]:
        """Return the tokens of each message."""
        return [cost.total for cost in self._pricer.messages(messages)] if messages else []

    def _said(self, turns: int) -> int:
        return sum(self.price([past.message for past in self.newest(turns)]))


def tiered(candidates: Sequence[Candidate], left: Payload) -> list[Candidate]:
    """Return the candidates, those that the cascade left before those that it took out."""
    kept = {one.memory.id for one in left.candidates}
    return [structs.replace(one, tier=1 if one.memory.id in kept else 0) for one in candidates]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextAssembler:
    """Packs history and memories into one budget by the cascade's order."""

    pricer: Pricer
    config: SupportingContextConfig = field(default_factory=SupportingContextConfig)
    query_relevance: QueryRelevance = field(default_factory=QueryRelevance)
    format: Format = Format.MARKDOWN
    max_tokens: int = 8192
    """The model's window."""
    output_buffer: int = 1024

    def calculate_budget_limit(self, system_prompt: str, tool_definitions: Sequence[object] | None = None) -> int:
        """The dynamic budget: the window without system prompt, tool schemas and output buffer, never below 0."""
        system = (Message(role=Role.SYSTEM, parts=(Text(system_prompt),)),) if system_prompt.strip() else ()
        tools = self.pricer.tools(tool_definitions).total if tool_definitions else 0
        costs = self.pricer.messages(system) if system else []
        fixed = Window(
            size=self.max_tokens, system=sum(cost.total for cost in costs), tools=tools, output=self.output_buffer
        )
        return fixed.dynamic

    def assemble_context(
        self,
        query: str,
        candidates: Sequence[Candidate],
        budget_limit: int,
        *,
        history: Sequence[Past] = (),
        prior: Sequence[Past] = (),
        now: datetime | None = None,
    ) -> Assembled:
        """History and supporting context in at most `budget_limit` tokens, with the report of every stage that ran.

        What a stage took out comes back where there is room after all: memories first, then turns.
        """
        check_tokens(budget_limit, "budget_limit")
        live = drop_irrelevant(_settled(candidates, history), query, self.query_relevance)
        layout = self.config.layout()
        cascade = Cascade(history, prior, layout=layout, format=self.format, pricer=self.pricer, now=now)
        left, stages = cascade.run(live, budget_limit)
        share = min(cascade.need(left.candidates), math.floor(budget_limit * self.config.budget_ratio))
        said = cascade.fit(cascade.newest(left.turns), budget_limit - share, query)
        before = cascade.fit(prior if left.prior else (), budget_limit - share - said.tokens, query)
        context = assemble(
            tiered(live, left),
            budget=budget_limit - said.tokens - before.tokens,
            counter=self.pricer.counter,
            layout=layout,
            format=self.format,
            query=query,
            now=now,
        )
        if stages:
            said = cascade.fit(history, budget_limit - context.tokens, query)
            before = cascade.fit(prior if said.whole else (), budget_limit - context.tokens - said.tokens, query)
        warning = "the emergency stage was reached: only the newest turns and best passages are sure to stay"
        emergency = bool(stages) and stages[-1].name == "emergency"
        return Assembled(
            context=context, history=said, prior=before, stages=stages, warning=warning if emergency else ""
        )


def _settled(candidates: Sequence[Candidate], history: Sequence[Past]) -> list[Candidate]:
    """Without decayed and superseded memories, and summaries of turns that all stand in the history."""
    present = frozenset(past.id for past in history if past.id)
    return [structs.replace(one, filtered=one.filtered or _outdated(one, present)) for one in candidates]


def _outdated(candidate: Candidate, present: frozenset[str]) -> str | None:
    memory = candidate.memory
    if memory.pinned:
        return None
    if memory.stage in {Stage.DECAYED, Stage.DELETED}:
        return "decayed"
    if memory.superseded_by is not None:
        return "superseded"
    code = standing_code(memory, present)
    return code if code == "redundant_summary" else None
