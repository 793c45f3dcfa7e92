"""The third seed's way to a context, written anew from its description: whole sections by priority, first lines first.

Shares are worked out and not used; a section that does not fit is cut after its first lines, prose is left out whole,
and wrappers and joins are not counted. Its stores list facts by rising importance and everything else by age.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bench.seeds.material import Item, Material

__all__ = ["greedy"]

PRIORITIES = {
    "summary": 0.25,
    "profile": 0.15,
    "fact": 0.15,
    "entity": 0.15,
    "relation": 0.10,
    "decision": 0.10,
    "correction": 0.10,
    "insight": 0.05,
    "procedure": 0.05,
}
_PROSE = frozenset({"summary", "profile"})


def greedy(material: Material, budget: int, count: Callable[[str], int]) -> str:
    """The text that it would put into the prompt."""
    bodies = {kind: _body(kind, material.of(kind)) for kind in PRIORITIES}
    if sum(map(count, bodies.values())) <= budget:
        return _join(bodies)
    kept: dict[str, str] = {}
    left = budget
    for kind in sorted(PRIORITIES, key=lambda kind: -PRIORITIES[kind]):
        body = bodies[kind]
        if count(body) > left:
            body = "" if kind in _PROSE else _first_lines(body, left, count)
        if body:
            kept[kind] = body
            left -= count(body)
    return _join(kept)


def _body(kind: str, items: Sequence[Item]) -> str:
    if kind in _PROSE:
        return " ".join(item.text for item in items)
    listed = sorted(items, key=lambda item: item.importance if kind == "fact" else item.at.timestamp())
    return "\n".join(f"- {item.text}" for item in listed)


def _first_lines(body: str, budget: int, count: Callable[[str], int]) -> str:
    lines = body.split("\n")
    while lines and count("\n".join(lines)) > budget:
        lines.pop()
    return "\n".join(lines)


def _join(bodies: dict[str, str]) -> str:
    return "\n\n".join(f"## {kind}\n<{kind}>\n{body}\n</{kind}>" for kind, body in bodies.items())
