"""Conversations kept as trees (edited questions, regenerated answers): the branch that was on the screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from haversack.errors import InputError

__all__ = ["Node", "active_branch", "newest_leaf"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node of the tree."""

    parent: str | None
    at: datetime | None


def newest_leaf(nodes: Mapping[str, Node]) -> str:
    """The node without children that is latest, by time and then by place; undated ones come first.

    Raises InputError when there is none: then the parents go round in circles.
    """
    parents = {node.parent for node in nodes.values()}
    leaves = [
        (node.at is not None, node.at, place, name)
        for place, (name, node) in enumerate(nodes.items())
        if name not in parents
    ]
    if not leaves:
        raise InputError("its parents form a circle")
    return max(leaves, key=lambda leaf: (leaf[0], leaf[1].timestamp() if leaf[1] else 0.0, leaf[2]))[3]


def active_branch(nodes: Mapping[str, Node], leaf: str) -> list[str]:
    """From the root down to the leaf; a parent that is not there ends the way up.

    Raises InputError when the way up comes round to a node again.
    """
    branch: dict[str, None] = {}
    current: str | None = leaf
    while current is not None and current in nodes:
        if current in branch:
            raise InputError(f"its parents form a circle at {current!r}")
        branch[current] = None
        current = nodes[current].parent
    return list(reversed(branch))
