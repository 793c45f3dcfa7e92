"""Modules that are loaded when something in them is first used, so that a new process answers quickly.

Importing itself is safe for threads: each module has a lock of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any, Generic, Self, TypeVar, overload

__all__ = ["lazy", "offered", "once"]

_Value = TypeVar("_Value")


def lazy(module: str) -> Any:
    """Return a stand-in for a module: its names are looked up in the module, which is imported at the first of them.

    Declare the module to readers and checkers beside it: `if TYPE_CHECKING: import …`, `else: … = lazy("…")`.
    """
    return _Later(module)


def offered(package: str, rooms: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package that offers names of other modules: by module, the names.

    They are written as an import writes them (`"Budget, Window"`, `"open_haversack as open"`). No name may be that of
    a module of the package: importing the module would put it in the place of the value.
    """
    places: dict[str, tuple[str, str]] = {}
    for room, names in rooms.items():
        for name in names.split(", "):
            original, _, alias = name.partition(" as ")
            places[alias or original] = (room, original)

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        room, original = places[name]
        value = getattr(import_module(room), original)
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: sorted(places)


class once(Generic[_Value]):  # noqa: N801 - a decorator
    """A property whose value is made when it is first asked for, and once, whichever threads ask."""

    def __init__(self, make: Callable[[Any], _Value]) -> None:
        self._make = make
        self._making = RLock()
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> _Value: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Self | _Value:
        """Return the value, making it first where there is none yet; it takes this property's place in the object."""
        if instance is None:
            return self
        with self._making:
            made = vars(instance)
            if self._name not in made:
                made[self._name] = self._make(instance)
            return made[self._name]


class _Later:
    """Stands for a module."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._loaded: ModuleType | None = None

    def __repr__(self) -> str:
        return f"lazy({self._module!r})"

    def __getattr__(self, name: str) -> Any:
        if self._loaded is None:
            self._loaded = import_module(self._module)
        return getattr(self._loaded, name)
