"""`python -m bench scripts`: notes and questions in ten languages of other scripts or rich endings, and MemDaily."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.lived.bank import Block, load, select
from bench.lived.figures import Outcome, tabulate
from bench.lived.memdaily import load as load_memdaily
from bench.lived.pairs import keep, pairs_of
from bench.lived.stores import Fresh, embedders, now_of, tell
from bench.options import Options
from bench.table import Table
from haversack.evaluation.conversations import Conversation

__all__ = ["run"]

_TOP = 3
_TOPS = (1, 3, 10)
_AT_ONCE = 25
"""Trajectories of MemDaily in one store: about 200 messages, of different people who all say "I"."""
_BY_DEFAULT = 50
"""Trajectories of each of its files, unless the options say how many."""


def run(options: Options) -> Iterator[Table]:
    """For each embedder: the place of the right note by language, then the evidence of MemDaily's questions."""
    for name, fresh in embedders(options).items():
        found = [outcome for block in load("scripts") for outcome in _language(fresh, block, options.half)]
        yield tabulate(
            f"scripts-{name}",
            f"Other scripts, embedder {name}: % of questions",
            (("language",), ("right one first", f"in first {_TOP}")),
            [*found, *(Outcome(labels=("together",), half=each.half, figures=each.figures) for each in found)],
        )
        if options.memdaily:
            yield _memdaily(name, fresh, options)


def _language(fresh: Fresh, block: Block, half: str) -> Iterator[Outcome]:
    with fresh() as sack:
        ns = sack.namespace()
        ids = keep(ns, [block])
        for own, pair in select(list(pairs_of([block])), half):
            order = [hit.id for hit in ns.recall(pair.question, top_k=_TOP)]
            figures = (100.0 * (order[:1] == [ids[pair.note]]), 100.0 * (ids[pair.note] in order))
            yield Outcome(labels=(block.heading,), half=own, figures=figures)


def _memdaily(name: str, fresh: Fresh, options: Options) -> Table:
    most = options.conversations or _BY_DEFAULT
    found: list[Outcome] = []
    for path in options.memdaily:
        talks = list(select(load_memdaily(path)[:most], "all"))
        for together, label in ((1, "alone"), (_AT_ONCE, f"{_AT_ONCE} together")):
            for start in range(0, len(talks), together):
                found += _asked(fresh, talks[start : start + together], (path.stem, label), options.half)
    return tabulate(
        f"scripts-memdaily-{name}",
        f"MemDaily, the first {most} trajectories of a file, embedder {name}: evidence in the first n of recall, in %",
        (("file", "trajectories"), [f"n = {top}" for top in _TOPS]),
        found,
    )


def _asked(
    fresh: Fresh, talks: Sequence[tuple[str, Conversation]], labels: tuple[str, str], half: str
) -> Iterator[Outcome]:
    with fresh() as sack:
        ns = sack.namespace()
        for _, talk in talks:
            tell(ns, talk.turns)
        now = max(now_of(talk) for _, talk in talks)
        for own, talk in talks:
            for query in talk.queries if half in ("all", own) else ():
                hits = ns.recall(query.text, top_k=_TOPS[-1], now=now)
                order = [str(hit.metadata["turn"]) for hit in hits]
                figures = tuple(100 * len(query.gold & set(order[:top])) / len(query.gold) for top in _TOPS)
                yield Outcome(labels=labels, half=own, figures=figures)
