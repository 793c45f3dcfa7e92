"""What is loaded at its first use: when, once, and that what checkers are told is what runs."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from haversack.lazy import lazy, offered, once

SOURCE = Path(__file__).parents[2] / "src"
THREADS = 8


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of two modules that nobody has imported."""
    package = tmp_path / "somewhere"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from haversack.lazy import offered\n"
        "__getattr__, __dir__ = offered(__name__, {'somewhere.far': 'VALUE, other as another'})\n"
    )
    (package / "far.py").write_text("VALUE = object()\ndef other(): return 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for name in [name for name in sys.modules if name.partition(".")[0] == "somewhere"]:
        del sys.modules[name]


def at_once(call: Callable[[], Any]) -> list[Any]:
    barrier = Barrier(THREADS)

    def run(_: int) -> Any:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


@pytest.mark.usefixtures("room")
def test_a_module_is_loaded_at_its_first_use() -> None:
    far = lazy("somewhere.far")
    assert repr(far) == "lazy('somewhere.far')"
    assert "somewhere" not in sys.modules
    assert far.other() == 1
    assert far.VALUE is sys.modules["somewhere.far"].VALUE
    with pytest.raises(AttributeError, match="nothing"):
        _ = far.nothing
    with pytest.raises(ModuleNotFoundError):
        _ = lazy("somewhere.else").VALUE


@pytest.mark.usefixtures("room")
def test_a_package_loads_what_it_offers_when_it_is_asked() -> None:
    package = import_module("somewhere")
    assert "somewhere.far" not in sys.modules
    assert dir(package) == ["VALUE", "another"]
    assert package.another() == 1
    assert package.VALUE is sys.modules["somewhere.far"].VALUE
    with pytest.raises(AttributeError, match="module 'somewhere' has no attribute 'other'"):
        _ = package.other


@pytest.mark.usefixtures("room")
def test_threads_that_ask_at_once_get_one_module() -> None:
    far = lazy("somewhere.far")
    assert len(set(map(id, at_once(lambda: far.VALUE)))) == 1


def test_a_property_is_made_once_whichever_threads_ask() -> None:
    made: list[object] = []

    class Owner:
        @once
        def part(self) -> object:
            made.append(object())
            return made[-1]

    owner = Owner()
    assert "part" not in vars(owner)
    found = at_once(lambda: owner.part)
    assert made == [owner.part]
    assert found == made * THREADS
    assert Owner().part is not owner.part


FILES = {
    str(path.relative_to(SOURCE)): tree
    for path in sorted((SOURCE / "haversack").rglob("*.py"))
    for tree in [ast.parse(path.read_text("utf-8"))]
    if any(isinstance(node, ast.ImportFrom) and node.module == "haversack.lazy" for node in tree.body)
}


def imported(nodes: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Each name that these imports bind, with what it stands for."""
    for node in nodes:
        for each in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            before = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            yield each.asname or each.name, before + each.name


def checked_only(tree: ast.Module) -> ast.If:
    (found,) = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return found


@pytest.mark.parametrize("file", FILES)
def test_what_checkers_see_is_what_is_loaded(file: str) -> None:
    """A stand-in under another name, or for another module, would be found only where it is used."""
    declared = checked_only(FILES[file])
    told = dict(imported(declared.body))
    for node in declared.orelse:
        assert isinstance(node, ast.Assign)
        assert isinstance(node.value, ast.Call)
        (target,), (module,) = node.targets, node.value.args
        assert told[ast.unparse(target)] == ast.literal_eval(module)
    for node in ast.walk(FILES[file]):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "offered":
            rooms: dict[str, str] = ast.literal_eval(node.args[1])
            names_offered = {
                alias or name: f"{room}.{name}"
                for room, names in rooms.items()
                for name, _, alias in (each.partition(" as ") for each in names.split(", "))
            }
            assert names_offered == told
            package = import_module(file.removesuffix("/__init__.py").replace("/", "."))
            assert dir(package) == sorted(package.__all__) == sorted(names_offered)
            folder = (SOURCE / file).parent
            assert not {name for name in names_offered if (folder / f"{name}.py").exists() or (folder / name).is_dir()}


def test_a_name_of_a_package_that_is_not_there_is_told() -> None:
    find, listing = offered("haversack", {"haversack.errors": "InputError, nearest as closest"})
    assert listing() == ["InputError", "closest"]
    with pytest.raises(AttributeError, match="module 'haversack' has no attribute 'nearest'"):
        find("nearest")
