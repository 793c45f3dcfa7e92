"""Recall widely, score by relevance, importance and recency, pack to a token budget: the whole pattern in one call.

    python examples/flat_window.py

The weights are .5 relevance, .3 importance, .2 recency with a straight fall to zero over 30 days (`balanced`).
"""

from datetime import UTC, datetime, timedelta

import haversack

NOW = datetime(2026, 6, 1, tzinfo=UTC)
NOTES = (
    ("The public API is REST with JSON bodies", 0.9, 2),
    ("Errors follow problem details, one shape for every route", 0.7, 12),
    ("Alice wants API versions in the path, not in a header", 0.8, 40),
    ("Pagination uses cursors; offsets were too slow at 10 million rows", 0.6, 25),
    ("The office plants are watered on Mondays", 0.2, 1),
)


def system_prompt(ns: haversack.Namespace, query: str, token_budget: int = 1500) -> str:
    """A system prompt with what memory has to say, within the budget: exactly counted, headers and joins included."""
    context = ns.context(query, budget=token_budget, model="gpt-4o", weights="balanced", now=NOW)
    return f"You are a helpful assistant.\n\nRelevant context from memory (do not repeat verbatim):\n{context.text}"


def main() -> None:
    with haversack.open(":memory:") as sack:
        ns = sack.namespace("user-alice")
        for content, importance, days_ago in NOTES:
            ns.remember(content, importance=importance, event_time=NOW - timedelta(days=days_ago))
        print(system_prompt(ns, "How should I structure my API?"))
        print(ns.context("How should I structure my API?", budget=40, weights="balanced", now=NOW).verdicts)


if __name__ == "__main__":
    main()
