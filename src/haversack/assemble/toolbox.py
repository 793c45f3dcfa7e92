"""Which tool schemas are worth sending: relevant ones under a share of the window; every one left out is named."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from haversack.assemble.relevance import topic_words
from haversack.assemble.rendition import query_words
from haversack.assemble.settings import ToolBudget
from haversack.errors import BudgetError, InputError, nearest
from haversack.tokens.tools import ToolsCost

__all__ = ["ToolReason", "ToolReport", "ToolVerdict", "choose_tools", "tool_name"]


class ToolReason(StrEnum):
    """Why a tool is sent or not."""

    ALWAYS = "always"
    RELEVANT = "relevant"
    IRRELEVANT = "irrelevant"
    TOO_MANY = "too_many"
    NO_ROOM = "no_room"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolVerdict:
    """One tool's row."""

    name: str
    sent: bool
    reason: ToolReason
    tokens: int
    relevance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReport:
    """What was chosen; prints as a table."""

    rows: tuple[ToolVerdict, ...]
    """In the order in which the tools were given."""
    budget: int
    preamble: int

    @property
    def tokens(self) -> int:
        """Of the schemas that are sent, with the preamble."""
        sent = sum(row.tokens for row in self.rows if row.sent)
        return sent + self.preamble if sent else 0

    def __str__(self) -> str:
        head = f"tools: {self.tokens:,} of {self.budget:,} tokens"
        rows = [
            f"{'sent' if r.sent else 'left out':<9} {r.tokens:>6} {r.relevance:>5.2f}  {r.reason:<11} {r.name}"
            for r in self.rows
        ]
        return "\n".join([head, *rows])


def tool_name(tool: object) -> str:
    """The name in a schema of any provider's shape; empty when it has none."""
    if not isinstance(tool, Mapping):
        return ""
    fields = cast("Mapping[str, object]", tool)
    inner = fields.get("function")
    name = cast("Mapping[str, object]", inner).get("name") if isinstance(inner, Mapping) else fields.get("name")
    return name if isinstance(name, str) else ""


def choose_tools(
    tools: Sequence[object],
    cost: ToolsCost,
    rules: ToolBudget,
    *,
    query: str,
    room: int,
    scores: Mapping[str, float] | None = None,
) -> ToolReport:
    """Always-on tools first, then the most relevant ones that fit into the share of `room` (skipping, never stopping).

    Relevance is by `scores` where they are given, else by the words that query and schema share. Where no tool shares
    any, all count as relevant: there is nothing to choose by.
    Raises BudgetError when the always-on tools alone exceed `room`.
    """
    names = [tool_name(tool) or entry.name for tool, entry in zip(tools, cost.tools, strict=True)]
    for wanted in rules.always:
        if wanted not in names:
            msg = f"tools.always names {wanted!r}, which is not among the tools; {nearest(wanted, names)}"
            raise InputError(msg)
    relevance = _relevance(tools, names, query, scores)
    budget = math.floor(room * rules.share)
    left = budget - cost.preamble
    fate: dict[int, ToolReason] = {}
    for place, name in enumerate(names):
        if name in rules.always:
            fate[place] = ToolReason.ALWAYS
            left -= cost.tools[place].tokens
    if fate and (need := budget - left) > room:
        msg = f"the always-on tools need {need} tokens, the window has {room}: send fewer"
        raise BudgetError(msg)
    for place in sorted(range(len(names)), key=lambda place: (-relevance[place], place)):
        if place not in fate:
            sent = sum(reason in _SENT for reason in fate.values())
            fate[place] = _judged(relevance[place], cost.tools[place].tokens, sent, left, rules)
            left -= cost.tools[place].tokens if fate[place] is ToolReason.RELEVANT else 0
    rows = tuple(
        ToolVerdict(
            name=name, sent=fate[place] in _SENT, reason=fate[place], tokens=cost.tools[place].tokens,
            relevance=relevance[place],
        )
        for place, name in enumerate(names)
    )  # fmt: skip
    return ToolReport(rows=rows, budget=budget, preamble=cost.preamble)


_SENT = frozenset({ToolReason.ALWAYS, ToolReason.RELEVANT})


def _judged(relevance: float, tokens: int, sent: int, left: int, rules: ToolBudget) -> ToolReason:
    if relevance < rules.relevance:
        return ToolReason.IRRELEVANT
    if sent >= rules.most:
        return ToolReason.TOO_MANY
    return ToolReason.NO_ROOM if tokens > left else ToolReason.RELEVANT


def _relevance(
    tools: Sequence[object], names: Sequence[str], query: str, scores: Mapping[str, float] | None
) -> list[float]:
    if scores is not None:
        return [scores.get(name, 0.0) for name in names]
    wanted = topic_words(query)
    words = [query_words(json.dumps(tool, ensure_ascii=False, default=str).replace("_", " ")) for tool in tools]
    rarity = {word: math.log(1 + len(tools) / (1 + sum(word in found for found in words))) for word in wanted}
    weights = [sum(rarity[word] for word in wanted & found) for found in words]
    best = max(weights, default=0.0)
    return [weight / best for weight in weights] if best > 0 else [1.0] * len(names)
