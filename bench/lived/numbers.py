"""`python -m bench numbers`: notes that differ in a number alone, asked for in another spelling of it."""

from __future__ import annotations

from collections.abc import Iterator

from bench.lived.bank import half_of, load
from bench.lived.figures import Outcome, tabulate
from bench.lived.pairs import keep, pairs_of
from bench.lived.stores import MODEL, Fresh, embedders
from bench.options import Options
from bench.table import Table

__all__ = ["run"]

_COLUMNS = ("right one first", "right one where one fits")


def run(options: Options) -> Iterator[Table]:
    """For each embedder: all pairs together, then by topic."""
    for name, fresh in embedders(options).items():
        found = list(_measured(fresh, options.half))
        title = f"Numbers, units, codes and dates, embedder {name}: % of questions"
        yield tabulate(f"numbers-{name}", title, ((), _COLUMNS), [each for _, each in found])
        topics = [Outcome(labels=(topic,), half=each.half, figures=each.figures) for topic, each in found]
        yield tabulate(f"numbers-topics-{name}", f"{title}, by topic", (("topic",), _COLUMNS), topics)


def _measured(fresh: Fresh, half: str) -> Iterator[tuple[str, Outcome]]:
    """One store of all notes; a topic is in one half as a whole."""
    blocks = load("numbers")
    halves = {block.heading: half_of(place) for place, block in enumerate(blocks)}
    with fresh() as sack:
        ns = sack.namespace()
        ids = keep(ns, blocks)
        for pair in pairs_of(blocks):
            own = halves[pair.topic]
            if half not in ("all", own):
                continue
            hits = ns.recall(pair.question, top_k=1)
            # The room that the right note takes when it is alone: the budget in which one note fits.
            room = ns.context(pair.question, budget=1000, model=MODEL, where={"note": pair.note}).tokens
            context = ns.context(pair.question, budget=room, model=MODEL)
            right = (bool(hits) and hits[0].id == ids[pair.note], pair.note in context.text)
            yield pair.topic, Outcome(labels=(), half=own, figures=tuple(100.0 * one for one in right))
