"""What belongs in a context without answering its query never takes the place of what answers."""

from __future__ import annotations

from haversack.assemble import Outcome
from haversack.engine.namespace import Namespace

RELATED = "sell the old boats that lie behind the harbour office"
UNRELATED = "the office printer takes A4 paper and no letter paper"


def test_what_answers_a_little_comes_before_what_does_not(ns: Namespace) -> None:
    related = ns.remember(RELATED, kind="decision")
    unrelated = ns.remember(UNRELATED, kind="decision", importance=1.0)
    for number in range(8):
        ns.remember(f"barley boats sail from pier {number}", kind="passage")
    report = {row.memory_id: row for row in ns.context("barley boats", layout="sections", budget=42).verdicts}
    assert report[related.id].score > report[unrelated.id].score > 0
    assert report[related.id].verdict is Outcome.KEPT
    assert report[unrelated.id].verdict is Outcome.DROPPED


def test_background_keeps_its_order_and_comes_where_there_is_room(ns: Namespace) -> None:
    answer = ns.remember(RELATED, kind="decision")
    plain, important = (ns.remember(f"{UNRELATED} {n}", kind="fact", importance=n) for n in (0.5, 1.0))
    context = ns.context("old boats", layout="sections", budget=500)
    scores = {row.memory_id: row.score for row in context.verdicts}
    assert scores[answer.id] > scores[important.id] > scores[plain.id] > 0
    assert set(context.items) == {answer.id, important.id, plain.id}
