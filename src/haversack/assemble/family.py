"""Families: a memory that names another one as its parent stands behind it, and never without it.

Law: parent and child items move together. The parent's line is the header of a container that holds its children, so
the packer's own rules do the rest: no child without its parent, the parent paid once, no second walk over the items.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from haversack.assemble.candidate import Candidate
from haversack.assemble.shelf import Shelf, start_of
from haversack.budget import Container
from haversack.model.memory import Kind, Memory

__all__ = ["gathered", "parent_of", "parents"]

_PARENT = "parent"
"""The metadata field that holds the parent's id."""


def parent_of(memory: Memory) -> str | None:
    """The id of the memory that it names as its parent; passages have none."""
    if not memory.metadata or memory.kind is Kind.PASSAGE:
        return None
    name = memory.metadata.get(_PARENT)
    return name if isinstance(name, str) else None


def parents(candidates: Sequence[Candidate], live: Sequence[int], prices: Sequence[int], most: int) -> dict[int, int]:
    """The parent of each live candidate that has one among them, from the top down.

    Passages have their own headers, so they are nobody's children; a memory of more than `most` tokens is a text of
    its own and no header. Memories that name each other in a circle are nobody's children, nor is who stands below.
    """
    named = {item: name for item in live if (name := parent_of(candidates[item].memory)) is not None}
    if not named:
        return {}
    by_id = {candidates[item].memory.id: item for item in live if prices[item] <= most}
    below: defaultdict[int, list[int]] = defaultdict(list)
    for child, name in named.items():
        if name in by_id:
            below[by_id[name]].append(child)
    children = {child for group in below.values() for child in group}
    family: dict[int, int] = {}
    tops = [parent for parent in below if parent not in children]
    for parent in tops:
        family |= dict.fromkeys(below.get(parent, ()), parent)
        tops += below.get(parent, ())
    return family


def gathered(
    shelf: Shelf,
    family: Mapping[int, int],
    candidates: Sequence[Candidate],
    lines: Mapping[int, str],
    prices: Sequence[int],
) -> Shelf:
    """The shelf with a container for each parent, headed by its line, where its children stand: in its own section."""
    if not family:
        return shelf
    containers, headings, starts = list(shelf.containers), list(shelf.headings), list(shelf.starts)
    of, section = list(shelf.of), list(shelf.section)
    heads: dict[int, int] = {}
    place: dict[int, int] = {}
    for parent in dict.fromkeys(family.values()):
        above = family.get(parent)
        place[parent] = len(containers)
        heads[len(containers)] = parent
        containers.append(Container(price=prices[parent], parent=of[parent] if above is None else place[above]))
        headings.append((lines[parent], ""))
        starts.append(start_of(candidates[parent].memory))
        of[parent] = place[parent]
    for child, parent in family.items():
        section[child] = section[parent]
        of[child] = place.get(child, place[parent])
    return replace(shelf, containers=containers, headings=headings, starts=starts, of=of, section=section, heads=heads)
