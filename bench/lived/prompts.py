"""`python -m bench prompts`: whole prompts of a fresh session beside contexts, on real chats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean, quantiles

from bench.lived.bank import HALVES, select
from bench.lived.stores import Fresh, embedders, now_of, stands, tell
from bench.options import Options
from bench.table import Cell, Table
from haversack.assemble import Prompt
from haversack.engine.namespace import Namespace
from haversack.evaluation.conversations import Conversation

__all__ = ["run"]

_MODEL = "gpt-4o"
_WINDOWS = (8_000, 16_000, 128_000)
_BUDGET = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """What one call sends for one question."""

    call: str
    half: str
    recall: float
    tokens: int
    """Of memories; framing, system text and the question apart."""


def run(options: Options) -> Iterator[Table]:
    """For each embedder: evidence in what is sent, and how many tokens of memories that takes."""
    chats = options.real().get("chats")
    if not chats:
        return
    for name, fresh in embedders(options).items():
        sent = [one for chat in chats for one in _measured(fresh, chat, options.half)]
        yield Table(
            name=f"prompts-{name}",
            title=f"Prompts of a fresh session, {_MODEL}, {len(chats)} chats, embedder {name}: evidence recall in %",
            columns=("call", "half", "questions", "recall", "mean tokens of memories", "p95"),
            rows=tuple(_rows(sent)),
            notes=("a gold turn counts when four fifths of its words stand, in order, in what is sent",),
        )


def _measured(fresh: Fresh, chat: Conversation, half: str) -> Iterator[_Sent]:
    said, now = {turn.id: turn.text for turn in chat.turns}, now_of(chat)
    with fresh() as sack:
        ns = sack.namespace()
        tell(ns, chat.turns)
        for own, query in select(chat.queries, half):
            gold = [said[name] for name in query.gold]
            for call, text, tokens in _calls(ns, query.text, now):
                recall = 100 * sum(stands(words, text) for words in gold) / len(gold)
                yield _Sent(call=call, half=own, recall=recall, tokens=tokens)


def _calls(ns: Namespace, question: str, now: datetime) -> Iterator[tuple[str, str, int]]:
    """Yield each call, the text that it sends and its tokens of memories."""
    session, smallest = ns.session("asked anew"), 0
    for window in _WINDOWS:
        built = session.prompt(question, model=_MODEL, window=window, now=now)
        tokens = 0 if built.context is None else built.context.tokens
        smallest = smallest or tokens
        yield f"prompt, window {window:,}", _text(built), tokens
    for call, budget in ((f"context, budget {_BUDGET:,}", _BUDGET), ("context, budget as the first prompt", smallest)):
        packed = ns.context(question, budget=budget, model=_MODEL, now=now)
        yield call, packed.text, packed.tokens


def _text(built: Prompt) -> str:
    return "\n".join(message.text for message in built.parts)


def _rows(sent: Sequence[_Sent]) -> Iterator[tuple[Cell, ...]]:
    halves = ("all", *HALVES) if len({one.half for one in sent}) > 1 else (sent[0].half,)
    for call in dict.fromkeys(one.call for one in sent):
        for half in halves:
            part = [one for one in sent if one.call == call and half in ("all", one.half)]
            tokens = [one.tokens for one in part]
            # The last of nineteen cuts leaves a twentieth above it.
            most = quantiles(tokens, n=20, method="inclusive")[-1] if len(tokens) > 1 else float(tokens[0])
            yield (call, half, len(part), fmean(one.recall for one in part), fmean(tokens), most)
