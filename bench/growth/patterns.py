"""Every compiled pattern of the package, found by walking it, with the ways in which it is tried.

Patterns are looked for in what modules hold: names, containers, fields, classes, closures and cached functions without
arguments. The source is read as well: patterns inside functions are found there, and one that neither way shows is an
error, not a gap.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from importlib import import_module
from inspect import getsource, isfunction, signature
from itertools import chain
from pkgutil import walk_packages
from types import ModuleType
from typing import Any, cast

import haversack

__all__ = ["SCAN", "Found", "every_pattern", "patterns_of"]

SCAN = "scan"
"""Stands for all calls that try every place of a text."""
_WAYS = {"match": "match", "fullmatch": "fullmatch"} | dict.fromkeys(
    ("search", "sub", "subn", "split", "findall", "finditer"), SCAN
)
_STARTS_THE_PROGRAM = "haversack.__main__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A pattern, where it stands, and how it is tried there."""

    place: str
    pattern: re.Pattern[Any]
    ways: frozenset[str]
    """Of `match`, `fullmatch` and `scan`."""


def every_pattern() -> list[Found]:
    """Return all patterns of the package, each once."""
    names = [module.name for module in walk_packages(haversack.__path__, "haversack.")]
    found: dict[tuple[str | bytes, int], Found] = {}
    for module in (import_module(name) for name in names if name != _STARTS_THE_PROGRAM):
        for one in patterns_of(module, getsource(module)):
            key = one.pattern.pattern, one.pattern.flags
            first = found.get(key, one)
            found[key] = Found(place=first.place, pattern=one.pattern, ways=first.ways | one.ways)
    return list(found.values())


def patterns_of(module: ModuleType, source: str) -> list[Found]:
    """Return the patterns that a module holds or makes. Raise LookupError for one that cannot be seen."""
    if not re.search(r"\bre\b", source):
        return []
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and node.args]
    named, anyhow = _ways_called(calls)
    held = [(name, one) for name, value in vars(module).items() for one in _held(value, module.__name__, set())]
    written = list(_written(calls, module))
    shown = {one.pattern.pattern for one in written}
    made = any(_function_of_re(call) == "compile" and _value(call.args[0], module) is None for call in calls)
    if made and all(one.pattern in shown for _, one in held):
        raise LookupError(f"{module.__name__} compiles a pattern that nothing shows: keep it in the module")
    return [
        *(
            Found(place=f"{module.__name__}:{name}", pattern=one, ways=named.get(name) or anyhow or frozenset({SCAN}))
            for name, one in held
        ),
        *(one for one in written if one.pattern not in [pattern for _, pattern in held]),
    ]


def _ways_called(calls: Iterable[ast.Call]) -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    """Return how each name of a pattern is tried, and how anything is."""
    named: dict[str, frozenset[str]] = {}
    for call in calls:
        match call.func:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if attr in _WAYS and name != "re":
                named[name] = named.get(name, frozenset()) | {_WAYS[attr]}
            case _:
                pass
    return named, frozenset().union(*named.values())


def _written(calls: Iterable[ast.Call], module: ModuleType) -> Iterator[Found]:
    """Yield the patterns of calls like `re.sub("…", …)` and `re.compile("…")`, wherever they stand."""
    for call in calls:
        function = _function_of_re(call)
        if function not in {*_WAYS, "compile"}:
            continue
        place = f"{module.__name__}:{call.lineno}"
        words = _value(call.args[0], module)
        if words is not None:
            given = [*call.args[1:], *(each.value for each in call.keywords if each.arg == "flags")]
            flags = _value(given[0], module) if given and function == "compile" else None
            yield Found(
                place=place,
                pattern=re.compile(cast("str", words), cast("int", flags or 0)),
                ways=frozenset({_WAYS.get(function, SCAN)}),
            )
        elif function != "compile":
            raise LookupError(f"{place} tries a pattern whose words are made there: compile it in the module")


def _function_of_re(call: ast.Call) -> str:
    match call.func:
        case ast.Attribute(value=ast.Name(id="re"), attr=attr):
            return attr
        case _:
            return ""


def _value(expression: ast.expr, module: ModuleType) -> object:
    """Return what an expression says in its module; None where it needs what only its function knows."""
    try:
        return eval(compile(ast.Expression(expression), "", "eval"), vars(module))  # noqa: S307 - our own source
    except NameError:
        return None


def _held(value: object, module: str, seen: set[int]) -> Iterator[re.Pattern[Any]]:
    """Yield the patterns inside a value."""
    if id(value) in seen or isinstance(value, str | bytes | int | float | ModuleType):
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern):
        yield cast("re.Pattern[Any]", value)
        return
    for part in _parts(value, module):
        yield from _held(part, module, seen)


def _parts(value: object, module: str) -> Iterable[object]:
    if isinstance(value, Mapping):
        return chain.from_iterable(cast("Mapping[object, object]", value).items())
    if isinstance(value, list | tuple | set | frozenset):
        return cast("Iterable[object]", value)
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, each.name) for each in fields(value)]
    if type(value).__module__ == module:
        return [getattr(value, name) for name, each in vars(type(value)).items() if isinstance(each, cached_property)]
    return _own(value) if getattr(value, "__module__", None) == module else ()


def _own(value: object) -> Iterable[object]:
    """Return what a class or function of the module holds."""
    if hasattr(value, "cache_info"):
        made = cast("Any", value)
        return () if signature(made).parameters else (made(),)
    if isinstance(value, type):
        return list(vars(value).values())
    return [cell.cell_contents for cell in value.__closure__ or ()] if isfunction(value) else ()
