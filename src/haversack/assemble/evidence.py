"""Which memories are worth their tokens in a prompt: a large window is no reason to pay for noise. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from msgspec import structs

from haversack.assemble.candidate import Candidate
from haversack.assemble.family import parent_of
from haversack.assemble.pricing import line_prices
from haversack.tokens.counter import Counter

__all__ = ["LITTLE_EVIDENCE", "worth_their_tokens"]

LITTLE_EVIDENCE = "little_evidence"
"""The verdict's code for what stands behind the point where the next tokens add too little."""
_SPAN = 1_000
"""Tokens over which what is still to come is judged: fewer would let one weak memory end the list."""


def worth_their_tokens(candidates: Sequence[Candidate], counter: Counter, least: float) -> list[Candidate]:
    """Return the candidates, those marked that are not worth their tokens.

    Scores are probabilities of use, so their sum is the evidence to be expected. The best come first; the list ends
    where the next 1,000 tokens would add less than the share `least` to the evidence. The point depends on what stands
    before it and right behind it, not on the window. What stands in the history is not counted: what scores best there
    is often the question itself.
    Pinned memories, parents of what stays, and what belongs in its section without answering are left as they are.
    """
    answers = [n for n, one in enumerate(candidates) if one.filtered is None and one.answers and one.score > 0]
    answers.sort(key=lambda n: (-candidates[n].score, candidates[n].memory.id))
    prices = line_prices([candidates[n] for n in answers], counter)
    scores = [candidates[n].score for n in answers]
    out = {n for n in answers[_end(scores, prices, least) :] if not candidates[n].memory.pinned}
    kept = [one.memory for n, one in enumerate(candidates) if n not in out] if out else []
    needed = {name for memory in kept if (name := parent_of(memory))}
    return [
        structs.replace(one, filtered=LITTLE_EVIDENCE) if n in out and one.memory.id not in needed else one
        for n, one in enumerate(candidates)
    ]


def _end(scores: Sequence[float], prices: Sequence[int], least: float) -> int:
    """Return how many of the best are worth their tokens."""
    evidence = list(accumulate(scores, initial=0.0))
    tokens = list(accumulate(prices, initial=0))
    far = 0
    for place in range(len(scores)):
        while far < len(scores) and tokens[far] - tokens[place] < _SPAN:
            far += 1
        ahead = (evidence[far] - evidence[place]) * _SPAN / max(1, tokens[far] - tokens[place])
        if ahead < least * (evidence[place] + ahead):
            return place
    return len(scores)
