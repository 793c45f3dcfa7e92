"""What the answers of a conversation cost, kept with the turns themselves, so that a resumed chat still knows. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from haversack.llm.cost import ModelPrice
from haversack.llm.port import Usage
from haversack.model.memory import Json, Turn

__all__ = ["FIELD", "Spent", "mark", "spent_on"]

FIELD = "haversack.chat"
"""The metadata field of an answer's turn: model, tokens, and how it ended when it did not end by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """A sum over calls."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = 0.0
    """None once a call's model has no price."""
    estimated: int = 0
    """How many calls were counted here because the provider reported nothing."""

    def __add__(self, other: Spent) -> Spent:
        unknown = self.dollars is None or other.dollars is None
        return Spent(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            dollars=None if unknown else (self.dollars or 0.0) + (other.dollars or 0.0),
            estimated=self.estimated + other.estimated,
        )

    def __str__(self) -> str:
        if self.dollars is not None:
            return f"${self.dollars:.4f}"
        return f"{self.input_tokens:,} + {self.output_tokens:,} tokens"


def mark(*, model: str, usage: Usage, estimated: bool, ended: str = "") -> dict[str, Json]:
    """What is kept with an answer's turn; `ended` says why it stopped early."""
    kept: dict[str, Json] = {
        "model": model,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
    }
    return kept | ({"estimated": True} if estimated else {}) | ({"ended": ended} if ended else {})


def spent_on(turns: Iterable[Turn], prices: Mapping[str, ModelPrice]) -> dict[str, Spent]:
    """By model, what the turns' calls cost."""
    found: dict[str, Spent] = {}
    for turn in turns:
        kept = turn.metadata.get(FIELD)
        if isinstance(kept, dict) and "model" in kept:
            model = str(kept["model"])
            found[model] = found.get(model, Spent()) + _spent(kept, prices.get(model))
    return found


def _spent(kept: Mapping[str, Json], price: ModelPrice | None) -> Spent:
    given, made, cached = (cast("int", kept[name]) for name in ("input_tokens", "output_tokens", "cached_tokens"))
    usage = Usage(input_tokens=given, output_tokens=made, cached_tokens=cached)
    return Spent(
        calls=1,
        input_tokens=given,
        output_tokens=made,
        dollars=None if price is None else price.of(usage),
        estimated=int(bool(kept.get("estimated"))),
    )
