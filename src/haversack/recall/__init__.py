"""Recall: the in-process index of each namespace, and the ranking that it answers queries with."""

from haversack.recall.hits import Hit, Standing
from haversack.recall.index import indexed_text
from haversack.recall.recall import Recall, RecallOptions
from haversack.recall.view import Asked, View

__all__ = ["Asked", "Hit", "Recall", "RecallOptions", "Standing", "View", "indexed_text"]
