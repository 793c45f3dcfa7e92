"""The attention layout's own assembler: supporting context by priority, with the pruning cascade as its policy."""

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
from haversack.assemble.frame import Format, line
from haversack.assemble.history import Past
from haversack.assemble.pricing import Pricer
from haversack.assemble.relevance import QueryRelevance, drop_irrelevant
from haversack.assemble.settings import SupportingContextConfig
from haversack.budget import Window, check_tokens
from haversack.model.memory import Kind, Stage
from haversack.model.message import Message, Role, Text

__all__ = ["Assembled", "ContextAssembler"]


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
        fixed = Window(size=self.max_tokens, system=sum(self._price(system)), tools=tools, output=self.output_buffer)
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
        """History and supporting context in at most `budget_limit` tokens, with the report of every stage that ran."""
        check_tokens(budget_limit, "budget_limit")
        live = drop_irrelevant(_settled(candidates, history), query, self.query_relevance)
        prices = self._prices(live)
        turns = self._costs(history)
        before = self._costs(prior)

        def tokens(payload: Payload) -> int:
            words = sum(prices[one.memory.id] for one in payload.candidates)
            return words + sum(turns[len(turns) - payload.turns :]) + (sum(before) if payload.prior else 0)

        payload = Payload(
            prior=len(prior),
            turns=len(history),
            candidates=tuple(one for one in live if one.filtered is None),
        )
        left, stages = run_cascade(payload, budget_limit, tokens)
        kept = {one.memory.id for one in left.candidates}
        tiered = [structs.replace(one, tier=1 if one.memory.id in kept else 0) for one in live]
        need = sum(prices[name] for name in kept)
        share = min(need, math.floor(budget_limit * self.config.budget_ratio))
        newest = history[len(history) - left.turns :]
        said = self._fit(newest, budget_limit - share, query)
        earlier = self._fit(prior if left.prior else (), budget_limit - share - said.tokens, query)
        context = assemble(
            tiered,
            budget=budget_limit - said.tokens - earlier.tokens,
            counter=self.pricer.counter,
            layout=self.config.layout(),
            format=self.format,
            query=query,
            now=now,
        )
        warning = "the emergency stage was reached: only the newest turns and best passages are sure to stay"
        emergency = bool(stages) and stages[-1].name == "emergency"
        return Assembled(
            context=context, history=said, prior=earlier, stages=stages, warning=warning if emergency else ""
        )

    def _prices(self, candidates: Sequence[Candidate]) -> dict[str, int]:
        counted = self.pricer.counter.count_many([line(one.memory) for one in candidates if one.price is None])
        unknown = iter(counted)
        return {one.memory.id: next(unknown) if one.price is None else one.price for one in candidates}

    def _costs(self, history: Sequence[Past]) -> list[int]:
        return self._price([past.message for past in history])

    def _price(self, messages: Sequence[Message]) -> list[int]:
        return [cost.total for cost in self.pricer.messages(messages)] if messages else []

    def _fit(self, history: Sequence[Past], room: int, query: str) -> Kept:
        return fit_history(history, max(0, room), price=self._price, counter=self.pricer.counter, query=query)


def _settled(candidates: Sequence[Candidate], history: Sequence[Past]) -> list[Candidate]:
    """Without decayed and superseded memories, and summaries of turns that all stand in the history."""
    present = {past.id for past in history if past.id}
    return [structs.replace(one, filtered=one.filtered or _outdated(one, present)) for one in candidates]


def _outdated(candidate: Candidate, present: set[str]) -> str | None:
    memory = candidate.memory
    if memory.pinned:
        return None
    if memory.stage in {Stage.DECAYED, Stage.DELETED}:
        return "decayed"
    if memory.superseded_by is not None:
        return "superseded"
    turns = memory.source.turns
    redundant = memory.kind is Kind.SUMMARY and turns and present.issuperset(turns)
    return "redundant_summary" if redundant else None
