"""Recall under a budget: ours alone, or beside the peers in one process on the same turns with the same vectors."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from bench.available import usable
from bench.evidence import carried
from bench.options import Options
from bench.peers.ours import Ours
from bench.recount import recount
from bench.remembering import Remembering, remembering
from bench.system import System
from bench.table import Table
from haversack.evaluation.conversations import Conversation, load_beam, load_locomo

__all__ = ["ours_alone", "run"]

BUDGETS = (256, 512, 1000, 2000, 4000)

Make = Callable[[], System]


@dataclass(slots=True)
class _Tally:
    """What one system did over all questions."""

    recall: list[list[float]] = field(default_factory=list)
    over: int = 0
    worst: int = 0


def ours_alone(options: Options) -> Iterator[Table]:
    """Through the public API, with each installed embedder."""
    with tempfile.TemporaryDirectory() as folder:
        vectors = remembering(usable(options.embedders), options.vectors)
        yield from _tables(options, _ours(options, Path(folder), vectors), vectors)


def run(options: Options) -> Iterator[Table]:
    """Ours and the peers."""
    from bench.peers.contenders import contenders  # it needs the peers' environment

    with tempfile.TemporaryDirectory() as folder:
        vectors = remembering(usable(options.embedders), options.vectors)
        yield from _tables(options, _ours(options, Path(folder), vectors) | contenders(vectors), vectors)


def _ours(options: Options, folder: Path, vectors: Mapping[str, Remembering]) -> dict[str, Make]:
    numbers = iter(range(1_000_000))
    given = {name: vectors[name] if name == "onnx" else name for name in usable(options.embedders)}
    return {
        f"haversack, {name}": lambda one=one: Ours(one, str(folder / f"{next(numbers)}.db"))
        for name, one in given.items()
    }


def _tables(options: Options, systems: Mapping[str, Make], vectors: Mapping[str, Remembering]) -> Iterator[Table]:
    for name, path, load in (
        ("LoCoMo", options.data / "locomo10.json", load_locomo),
        ("BEAM 100K", options.data / "beam-100k.json.gz", load_beam),
    ):
        if path.exists():
            yield _table(name, load(path)[: options.conversations], systems)
            for one in vectors.values():
                one.save()


def _table(name: str, conversations: Sequence[Conversation], systems: Mapping[str, Make]) -> Table:
    rows = [_row(label, _measure(make, conversations)) for label, make in systems.items()]
    asked = sum(len(conversation.queries) for conversation in conversations)
    return Table(
        name=f"recall-{name.lower().replace(' ', '-')}",
        title=f"{name}: evidence recall in % ({len(conversations)} conversations, {asked} questions)",
        columns=("system", *(f"B{budget}" for budget in BUDGETS), "over budget", "worst"),
        rows=tuple(rows),
        notes=("over budget: contexts above it by an independent count, and by how many tokens the worst",),
    )


def _row(label: str, tally: _Tally) -> tuple[str | float | int, ...]:
    shares = [100 * sum(column) / len(column) for column in zip(*tally.recall, strict=True)]
    return (label, *shares, tally.over, tally.worst)


def _measure(make: Make, conversations: Iterable[Conversation]) -> _Tally:
    tally = _Tally()
    for conversation in conversations:
        system = make()
        try:
            system.add(conversation)
            _ask(system, conversation, tally)
        finally:
            system.close()
    return tally


def _ask(system: System, conversation: Conversation, tally: _Tally) -> None:
    now = max(turn.at for turn in conversation.turns) + timedelta(hours=1)
    for query in conversation.queries:
        contexts = system.pack(query.text, BUDGETS, now)
        tally.recall.append([carried(packed, query.gold) for packed in contexts])
        for packed, budget in zip(contexts, BUDGETS, strict=True):
            excess = recount(packed.text) - budget
            tally.over += excess > 0
            tally.worst = max(tally.worst, excess)
