"""From a model's name to its counter: the exact one where its vocabulary is at hand, else a marked upper bound."""

from __future__ import annotations

from functools import lru_cache

from haversack.errors import InputError, MissingExtraError, nearest
from haversack.tokens.batch import BatchCounter
from haversack.tokens.claude import CLAUDE, claude_counter, claude_installed
from haversack.tokens.counter import Counter
from haversack.tokens.estimate import ESTIMATES, Bound, estimate_counter
from haversack.tokens.exact import BUILT_IN, built_in_counter
from haversack.tokens.families import FAMILIES, families_installed, family_counter
from haversack.tokens.models import resolve

__all__ = ["counter_for"]

_INSTALL = 'pip install "haversack[tokenizers]"'


def counter_for(model: str, *, bound: Bound | str = Bound.LIKELY, allow_estimate: bool = True) -> Counter:
    """The counter for a model's or an encoding's name; the same object for every name of one encoding.

    Where the tokenizer is unknown or its extra is not installed, an upper bound of the asked sureness answers: its
    `kind` is `estimate` and its `encoding` says which. With `allow_estimate=False` these are errors instead:
    MissingExtraError when installing something helps, InputError when nothing does.
    """
    return _chosen(resolve(model).encoding, _bound(bound), allow_estimate)


@lru_cache(maxsize=256)
def _chosen(encoding: str, bound: Bound, allow_estimate: bool) -> Counter:  # noqa: FBT001 - a cached inner step
    if encoding in ESTIMATES:
        bound = bound if encoding == "estimate" else ESTIMATES[encoding]
    elif _available(encoding):
        return _counter(encoding)
    if allow_estimate:
        return _estimate(bound)
    if encoding in ESTIMATES:
        msg = "no tokenizer is known for this model; allow an estimate, or name an encoding"
        raise InputError(msg)
    msg = f"exact counts for {encoding} need an extra: {_INSTALL}"
    if encoding in CLAUDE:
        msg += " (on Python 3.12 or newer)"
    raise MissingExtraError(msg)


def _available(encoding: str) -> bool:
    if encoding in FAMILIES:
        return families_installed()
    return encoding in BUILT_IN or claude_installed()


@lru_cache(maxsize=256)
def _counter(encoding: str) -> BatchCounter:
    if encoding in BUILT_IN:
        return built_in_counter(encoding)
    return family_counter(encoding) if encoding in FAMILIES else claude_counter(encoding)


@lru_cache(maxsize=4)
def _estimate(bound: Bound) -> BatchCounter:
    return estimate_counter(bound)


def _bound(bound: Bound | str) -> Bound:
    try:
        return Bound(bound)
    except ValueError:
        msg = f"bound={bound!r} is no bound; {nearest(str(bound), [each.value for each in Bound])}"
        raise InputError(msg) from None
