"""What a key needs to forget: the one rule of all doors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from haversack.engine.keys import Scope

if TYPE_CHECKING:
    from haversack.engine.namespace import Namespace

__all__ = ["MOST_ERASED", "scope_to_forget"]

MOST_ERASED = 100
"""Memories that a key with the scope `write` may erase for good in one request."""


def scope_to_forget(
    ns: Namespace,
    *,
    hard: bool,
    preview: bool = False,
    everything: bool = False,
    ids: Sequence[str] = (),
    conditions: Mapping[str, Any] | None = None,
) -> Scope:
    """The scope that these arguments of `Namespace.forget` take.

    What can be undone takes `write`. For good, `write` is enough for up to a hundred memories that are named by their
    ids or by their session. Any other condition may mean all there is, so it takes `admin`, as more of them do, and
    `everything` in any case.
    """
    named = dict(conditions or {})
    if everything:
        return Scope.ADMIN
    if not hard or preview:
        return Scope.WRITE
    if not ids and named.keys() != {"session"}:
        return Scope.ADMIN
    count = len(ids) or len(ns.forget(hard=True, preview=True, **named).memories)
    return Scope.WRITE if count <= MOST_ERASED else Scope.ADMIN
