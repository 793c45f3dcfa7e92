"""What a change told in plain words ends: `python -m bench changes`, by language and by kind.

Each pair is told to a namespace of its own, with the default embedder and without one; the worse of the two counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import haversack
from bench.options import Options
from bench.table import Cell, Table
from bench.truth.change_pairs import Pair, pairs

__all__ = ["Verdict", "run", "verdicts"]

_COLUMNS = ("", "changes", "ended", "recall %", "traps", "ended by them", "precision %", "linked")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of the earlier statement of a pair."""

    pair: Pair
    ended: bool
    """With either embedder, for a trap; with both, for a change."""
    linked: bool
    """Whether the later one names it as what it may have changed."""


def verdicts() -> list[Verdict]:
    """Tell every pair, and see what ended."""
    all_ = list(pairs())
    told = [_told(embedder, all_) for embedder in ("default", "none")]
    return [
        Verdict(
            pair=pair,
            ended=(all if pair.ends else any)(ended for ended, _ in found),
            linked=any(linked for _, linked in found),
        )
        for pair, *found in zip(all_, *told, strict=True)
    ]


def run(_: Options) -> Iterator[Table]:
    """Yield the tables of each half, by language and by kind."""
    found = verdicts()
    for name, tuned in (("tuned on", True), ("never tuned on", False)):
        half = [one for one in found if one.pair.tuned is tuned]
        for by, label in (("language", _language), ("kind", _kind)):
            yield _table(
                f"changes-{by}-{'tuned' if tuned else 'unseen'}", f"Changes, half {name}, by {by}", half, label
            )


def _told(embedder: str, all_: Sequence[Pair]) -> list[tuple[bool, bool]]:
    """Whether the earlier statement of each pair ended, and whether it is linked."""
    found: list[tuple[bool, bool]] = []
    with haversack.open(":memory:", embedder=embedder) as sack:
        for number, pair in enumerate(all_):
            ns = sack.namespace(str(number))
            old, new = ns.remember(pair.old), ns.remember(pair.new)
            linked = old.id in ns.get(new.id).metadata.get("haversack.may_end", ())  # pyright: ignore[reportOperatorIssue]
            found.append((ns.get(old.id).valid_to is not None, bool(linked)))
    return found


def _language(pair: Pair) -> str:
    return pair.language


def _kind(pair: Pair) -> str:
    return pair.kind.lower()


def _table(name: str, title: str, found: Sequence[Verdict], label: Callable[[Pair], str]) -> Table:
    labels = list(dict.fromkeys(label(one.pair) for one in found))
    rows = [_row(one, [each for each in found if label(each.pair) == one]) for one in labels]
    return Table(name=name, title=title, columns=_COLUMNS, rows=(*rows, _row("together", found)))


def _row(label: str, found: Sequence[Verdict]) -> tuple[Cell, ...]:
    changes = [one for one in found if one.pair.ends]
    right = sum(one.ended for one in changes)
    wrong = sum(one.ended for one in found if not one.pair.ends)
    return (
        label,
        len(changes),
        right,
        100.0 * right / len(changes) if changes else None,
        len(found) - len(changes),
        wrong,
        100.0 * right / (right + wrong) if right + wrong else None,
        sum(one.linked for one in found),
    )
