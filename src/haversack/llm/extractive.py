"""Condensing without a model: whole sentences of the text, chosen by what they carry, kept in their order.

A sentence earns by the names, numbers, dates, identifiers and other words that no chosen sentence has yet, by settling
something, by being wanted, and by standing at an end. The choice is greedy, by earnings per token, and fills its room.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from haversack.errors import ServiceTimeout
from haversack.llm.anchors import anchors, is_decision, sentences
from haversack.llm.port import Cancel, Reply, ServiceCancelled, Usage
from haversack.model.message import Message, Role

__all__ = ["ExtractiveService", "Similarity", "condense"]

Similarity = Callable[[Sequence[str]], Sequence[float]]
"""How near each sentence is to the whole, 0..1: what an embedder can add."""

_DECISION_WORTH = 3.0
_WANTED_WORTH = 3.0
_ANCHOR_WORTH = 1.0
_WORD_WORTH = 0.3
_WORD = re.compile(r"[^\W\d_]{4,}")
_END_WORTH = 0.5
_CENTRAL_WORTH = 2.0


def condense(
    lines: Sequence[str],
    limit: int,
    count_many: Callable[[Sequence[str]], Sequence[int]],
    similar: Similarity | None = None,
    wanted: Collection[str] = (),
) -> list[str]:
    """The chosen lines in their order; joined with newlines they count at most `limit`."""
    costs = [max(1, cost) for cost in count_many([f"{line}\n" for line in lines])]
    picked = _pick([_carried(line) for line in lines], _base_worths(lines, similar, wanted), costs, limit)
    while picked:
        chosen = [lines[place] for place in sorted(picked)]
        if count_many(["\n".join(chosen)])[0] <= limit:
            return chosen
        picked.pop()  # the last pick is the one worth least per token
    return []


def _base_worths(lines: Sequence[str], similar: Similarity | None, wanted: Collection[str]) -> list[float]:
    central = similar(lines) if similar is not None and lines else [0.0] * len(lines)
    ends = {0, len(lines) - 1}
    return [
        _DECISION_WORTH * is_decision(line)
        + _WANTED_WORTH * (line in wanted)
        + _END_WORTH * (place in ends)
        + _CENTRAL_WORTH * near
        for place, (line, near) in enumerate(zip(lines, central, strict=True))
    ]


def _carried(line: str) -> dict[str, float]:
    """What a line carries, with what each is worth while nothing else carries it."""
    plain = dict.fromkeys((word.casefold() for word in _WORD.findall(line)), _WORD_WORTH)
    return plain | dict.fromkeys(anchors(line), _ANCHOR_WORTH)


def _pick(carried: Sequence[dict[str, float]], base: Sequence[float], costs: Sequence[int], limit: int) -> list[int]:
    """Places in order of choice. Worths only shrink as others are chosen, so a stale heap entry is renewed."""
    covered: set[str] = set()

    def worth(place: int) -> float:
        fresh = sum(value for term, value in carried[place].items() if term not in covered)
        return (base[place] + fresh) / costs[place]

    heap = [(-worth(place), place) for place in range(len(costs))]
    heapq.heapify(heap)
    picked: list[int] = []
    room = limit
    while heap:
        claimed, place = heapq.heappop(heap)
        if costs[place] > room:
            continue
        now = worth(place)
        if now < -claimed:
            if now > 0:
                heapq.heappush(heap, (-now, place))
        elif now > 0:
            picked.append(place)
            covered |= carried[place].keys()
            room -= costs[place]
    return picked


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractiveService:
    """A chat service with no model: it answers with the sentences of the last user message that matter most."""

    count_many: Callable[[Sequence[str]], Sequence[int]]
    similar: Similarity | None = None
    model: str = "extractive"
    default_limit: int = 512
    """Tokens of an answer when the caller gives no limit."""

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int | None = None,
        timeout: float | None = None,
        cancel: Cancel | None = None,
    ) -> Reply:
        """The condensed last user message."""
        if cancel is not None and cancel.is_set():
            raise ServiceCancelled("the call was cancelled")
        if timeout is not None and timeout <= 0:
            raise ServiceTimeout("no time was left for the call")
        asked = next((message.text for message in reversed(messages) if message.role is Role.USER), "")
        limit = self.default_limit if max_tokens is None else max_tokens
        chosen = condense(sentences(asked), limit, self.count_many, self.similar)
        return Reply(
            text="\n".join(chosen), model=self.model, usage=Usage(input_tokens=0, output_tokens=0), finish="stop"
        )

    def stream(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[object] = (),  # noqa: ARG002 - it calls none
        max_tokens: int | None = None,
        timeout: float | None = None,
        cancel: Cancel | None = None,
    ) -> Iterator[str | Reply]:
        """The same, in one piece."""
        reply = self.complete(messages, max_tokens=max_tokens, timeout=timeout, cancel=cancel)
        yield reply.text
        yield reply
