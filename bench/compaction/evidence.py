"""Evidence recall before and after every session was compacted, through the public face, without any model.

A turn behind a summary counts as carried by it only if the turn's words stand in the context.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from bench.available import usable
from bench.evidence import carried
from bench.options import Options
from bench.peers.ours import Ours
from bench.recount import recount
from bench.system import Packed, Piece
from bench.table import Cell, Table
from haversack.evaluation.conversations import Conversation, load_locomo

__all__ = ["run"]

_BUDGETS = (1000, 2000)


def run(options: Options) -> Iterator[Table]:
    """LoCoMo, where its file is."""
    path = options.data / "locomo10.json"
    if not path.exists():
        return
    conversations = load_locomo(path)[: options.conversations]
    for embedder in usable(options.embedders):
        if embedder == "onnx":
            continue
        rows = [_measured(conversations, embedder, compacted=compacted) for compacted in (False, True)]
        yield Table(
            name=f"compaction-evidence-{embedder}",
            title=f"LoCoMo, every session compacted by selected sentences, embedder {embedder}: evidence recall in %",
            columns=("", *(f"B{budget}" for budget in _BUDGETS), "over budget", "turns behind summaries"),
            rows=tuple(rows),
            notes=("contexts of passages and summaries; a turn behind a summary counts only if its words stand there",),
        )


def _measured(conversations: Sequence[Conversation], embedder: str, *, compacted: bool) -> tuple[Cell, ...]:
    shares: list[list[float]] = []
    over = folded = 0
    for conversation in conversations:
        with tempfile.TemporaryDirectory() as folder:
            system = _Compacted(embedder, str(Path(folder) / "memory.db"))
            try:
                system.add(conversation)
                folded += system.compact() if compacted else 0
                now = max(turn.at for turn in conversation.turns)
                for query in conversation.queries:
                    contexts = system.pack(query.text, _BUDGETS, now)
                    shares.append([carried(packed, query.gold) for packed in contexts])
                    over += sum(recount(one.text) > budget for one, budget in zip(contexts, _BUDGETS, strict=True))
            finally:
                system.close()
    means = [100 * sum(column) / len(column) for column in zip(*shares, strict=True)]
    return ("compacted" if compacted else "as said", *means, over, folded)


class _Compacted(Ours):
    """Contexts of passages and summaries."""

    def compact(self) -> int:
        """Compact every session; returns how many turns stand behind summaries."""
        return sum(self._ns.session(info.id).compact().turns_summarized for info in self._ns.sessions())

    def _context(self, question: str, budget: int, now: datetime) -> Packed:
        packed = self._ns.context(
            question, budget=budget, model="cl100k_base", layout="flat", kinds=["passage", "summary"], now=now
        )
        claims = [piece for name in packed.items for piece in self._pieces(name, now)]
        return Packed(text=packed.text, claims=tuple(claims))

    def _pieces(self, name: str, now: datetime) -> list[Piece]:
        memory = self._ns.get(name)
        if memory.kind != "summary":
            return [Piece(id=name, turn=str(memory.metadata["turn"]), text=memory.content, at=now)]
        behind = self._ns.session(str(memory.source.session)).expand(name)
        return [Piece(id=name, turn=str(turn.metadata["turn"]), text=turn.message.text, at=now) for turn in behind]
