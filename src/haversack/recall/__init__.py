"""Recall: the in-process index of each namespace, and the ranking that it answers queries with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haversack.lazy import offered

if TYPE_CHECKING:
    from haversack.recall.hits import Hit, Hits, Standing
    from haversack.recall.index import indexed_text
    from haversack.recall.recall import Recall, RecallOptions
    from haversack.recall.view import Asked, View

__all__ = ["Asked", "Hit", "Hits", "Recall", "RecallOptions", "Standing", "View", "indexed_text"]

__getattr__, __dir__ = offered(
    __name__,
    {
        "haversack.recall.hits": "Hits, Hit, Standing",
        "haversack.recall.index": "indexed_text",
        "haversack.recall.recall": "Recall, RecallOptions",
        "haversack.recall.view": "Asked, View",
    },
)
