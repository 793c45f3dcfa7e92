"""What messages and tool schemas cost: the protocol that prompts are built on, and its reading of `tokens`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from haversack.assemble.candidate import Candidate
from haversack.assemble.frame import line
from haversack.budget import Measure
from haversack.model.message import Message
from haversack.tokens.chat import MessageCost, count_each, reply_framing
from haversack.tokens.counter import Counter
from haversack.tokens.models import Family
from haversack.tokens.tools import ToolsCost, count_tools

__all__ = ["ModelPricer", "Pricer", "line_prices"]


class Pricer(Protocol):
    """Prices under one model."""

    @property
    def counter(self) -> Counter:
        """Counts plain text; its encoding is that of stored prices."""
        ...

    @property
    def reply(self) -> int:
        """Tokens that open the answer, once for each request."""
        ...

    @property
    def measure(self) -> Measure:
        """How far the prices can be trusted."""
        ...

    def messages(self, messages: Sequence[Message]) -> list[MessageCost]:
        """What each message costs; costs add up."""
        ...

    def tools(self, tools: Sequence[object]) -> ToolsCost:
        """What each tool schema costs, and the preamble of them all."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPricer:
    """Prices by a counter and the provider's message framing."""

    counter: Counter
    family: Family = Family.OPENAI
    model: str = ""
    """Chooses the price of pictures."""

    @property
    def reply(self) -> int:
        """Tokens that open the answer."""
        return reply_framing(self.family)

    @property
    def measure(self) -> Measure:
        """As the counter says."""
        return Measure(str(self.counter.kind))

    def messages(self, messages: Sequence[Message]) -> list[MessageCost]:
        """What each message costs."""
        return count_each(self.counter, messages, self.family, model=self.model)

    def tools(self, tools: Sequence[object]) -> ToolsCost:
        """What each tool schema costs."""
        return count_tools(self.counter, tools, self.family)


def line_prices(candidates: Sequence[Candidate], counter: Counter) -> list[int]:
    """Return the tokens of each candidate's line: as stored, or counted now."""
    texts = [line(one.memory) for one in candidates if one.price is None]
    counted = iter(counter.count_many(texts) if texts else ())
    return [next(counted) if one.price is None else one.price for one in candidates]
