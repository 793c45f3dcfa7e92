"""Caches of what texts gave. They hold words, so one list knows them all: an erasure empties every one of them.

A cache of this kind belongs to the process, not to a store. Emptying it loses nothing but the time to fill it again.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import lru_cache
from types import MethodType
from typing import Any, ParamSpec, TypeVar

__all__ = ["cached", "emptied_with_caches", "empty_caches"]

_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")

_emptying: list[Callable[[], object]] = []
_owned: list[weakref.WeakMethod[Callable[[], object]]] = []


def cached(most: int) -> Callable[[Callable[_Given, _Answer]], Callable[_Given, _Answer]]:
    """Keep the latest answers, so many of them, of a function that is given words."""

    def keep(function: Callable[_Given, _Answer]) -> Callable[_Given, _Answer]:
        kept: Any = lru_cache(maxsize=most)(function)
        _emptying.append(kept.cache_clear)
        return kept

    return keep


def emptied_with_caches(empty: MethodType) -> None:
    """Have a method called whenever caches are emptied, as long as its object lives."""
    _owned.append(weakref.WeakMethod(empty))


def empty_caches() -> None:
    """Empty every cache that may hold words."""
    for empty in _emptying:
        empty()
    for reference in list(_owned):
        method = reference()
        if method is None:
            _owned.remove(reference)
        else:
            method()
