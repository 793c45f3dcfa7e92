"""The plain arguments of verbs, checked by how the verb's signature declares them, before it does anything.

`hard="false"` must not erase, nor `execute=1` act: what is declared as a flag is True or False. Richer arguments
(times, filters, details) have readers of their own in `draft`.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Iterable, Mapping
from inspect import isfunction
from typing import Any, TypeVar, cast

from haversack.errors import InputError

__all__ = ["checked", "several"]

_Handle = TypeVar("_Handle", bound=type[Any])
_Check = Callable[[Any, str], Any]


def checked(handle: _Handle) -> _Handle:
    """A class whose public verbs refuse plain arguments of another type than declared, by InputError."""
    for name, verb in list(vars(handle).items()):
        if isfunction(verb) and not name.startswith("_"):
            setattr(handle, name, _checked(verb))
    return handle


def several(values: object, what: str) -> Iterable[Any]:
    """A list, or another row of values, or one string that stands for a list of it alone."""
    kind = type(values)
    if issubclass(kind, str):
        return (values,)
    if issubclass(kind, bytes | Mapping) or not issubclass(kind, Iterable):
        raise InputError(f"{what} must be a list, not {kind.__name__}")
    return cast("Iterable[Any]", values)


def _checked(verb: Callable[..., Any]) -> Callable[..., Any]:
    places = list(verb.__code__.co_varnames[: verb.__code__.co_argcount])
    checks = {name: check for name, said in verb.__annotations__.items() if (check := _check_for(said)) is not None}
    if not checks:
        return verb

    @functools.wraps(verb)
    def careful(*args: Any, **kwargs: Any) -> Any:
        given = dict(zip(places, args, strict=False))
        for name in given.keys() & checks.keys():
            given[name] = checks[name](given[name], name)
        for name in kwargs.keys() & checks.keys():
            kwargs[name] = checks[name](kwargs[name], name)
        return verb(*given.values(), *args[len(given) :], **kwargs)

    return careful


def _check_for(said: str) -> _Check | None:
    check = _CHECKS.get(said.removesuffix(" | None"))
    if check is None or not said.endswith(" | None"):
        return check
    return lambda value, name: None if value is None else check(value, name)


def _flag(value: object, name: str) -> object:
    if not isinstance(value, bool):
        raise InputError(f"{name}={value!r} must be True or False")
    return value


def _whole(value: object, name: str) -> object:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{name}={value!r} must be a whole number")
    return value


def _number(value: object, name: str) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise InputError(f"{name}={value!r} must be a number")
    return value


def _text(value: object, name: str) -> object:
    if not isinstance(value, str):
        raise InputError(f"{name} must be a string, not {type(value).__name__}")
    return value


def _path(value: object, name: str) -> object:
    try:
        place = os.fspath(cast("str", value))
    except TypeError:
        place = None
    if not isinstance(place, str):
        raise InputError(f"{name} must be a path, not {type(value).__name__}")
    return place


def _texts(values: object, name: str) -> object:
    if isinstance(values, str):
        raise InputError(f"{name} must be a list of strings, not one string")
    rows = cast("Iterable[object]", values) if isinstance(values, Mapping) else several(values, name)  # keys may be ids
    return tuple(_text(value, name) for value in rows)


_CHECKS: dict[str, _Check] = {
    "bool": _flag,
    "int": _whole,
    "float": _number,
    "str": _text,
    "str | os.PathLike[str]": _path,
    "Iterable[str]": _texts,
    "Sequence[str]": _texts,
}
