"""Evidence in the prompt of a new session at usual windows, beside contexts of 4,000 and of as many tokens."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from statistics import fmean, median

from bench.options import Options
from bench.table import Table

import haversack
from haversack.assemble import Context
from haversack.engine.namespace import Namespace
from haversack.evaluation.conversations import Conversation, Query, load_beam, load_locomo
from haversack.evaluation.measure import remember

__all__ = ["run"]

_WINDOWS = (8_000, 16_000, 128_000)
_CONTEXT = 4_000
_MODEL = "gpt-4o"
_SETS = (("LoCoMo", "locomo10.json", load_locomo), ("BEAM 100K", "beam-100k.json.gz", load_beam))

_Row = tuple[float, int, float]
"""Share of the evidence, tokens of memories, milliseconds."""


def run(options: Options) -> Iterator[Table]:
    """Each set that is there, with the default embedder and default settings."""
    for title, name, load in _SETS:
        file = options.data / name
        if file.exists():
            rows: dict[str, list[_Row]] = {}
            for conversation in load(file)[: options.conversations]:
                _measure(conversation, rows)
            yield Table(
                name="prompts",
                title=f"{title}: evidence in what is sent to a model",
                columns=("what", "evidence %", "mean tokens", "median ms", "questions"),
                rows=tuple(
                    (what, 100 * fmean(row[0] for row in found), round(fmean(row[1] for row in found)),
                     median(row[2] for row in found), len(found))
                    for what, found in rows.items()
                ),
                notes=("tokens: of the memories alone", "as many: a context of the tokens of the prompt above it"),
            )  # fmt: skip


def _measure(conversation: Conversation, rows: dict[str, list[_Row]]) -> None:
    now = max(turn.at for turn in conversation.turns) + timedelta(hours=1)
    with tempfile.TemporaryDirectory() as folder, haversack.open(Path(folder) / "bench.db") as sack:
        ns = sack.namespace(conversation.name)
        remember(ns, conversation)
        session = ns.session("new")
        for query in conversation.queries:
            rows.setdefault(f"context, {_CONTEXT:,}", []).append(_asked(ns, query, _CONTEXT, now))
            for window in _WINDOWS:
                begun = time.perf_counter()
                context = session.preview(query.text, model=_MODEL, window=window, now=now).context
                took = (time.perf_counter() - begun) * 1000
                used = context.tokens if context else 0
                rows.setdefault(f"prompt, window {window:,}", []).append((_share(context, query), used, took))
                rows.setdefault(f"  context, as many as in {window:,}", []).append(_asked(ns, query, used, now))


def _asked(ns: Namespace, query: Query, budget: int, now: datetime) -> _Row:
    begun = time.perf_counter()
    context = ns.context(query.text, budget=budget, model=_MODEL, now=now)
    return _share(context, query), context.tokens, (time.perf_counter() - begun) * 1000


def _share(context: Context | None, query: Query) -> float:
    kept = context.kept if context else ()
    return len(query.gold & {str(row.metadata.get("turn")) for row in kept}) / len(query.gold)
