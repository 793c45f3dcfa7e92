"""What it costs to have and to load: import time and commands in fresh processes, and the size of the base install."""

from __future__ import annotations

import compileall
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

import haversack
from bench.options import Options
from bench.speed.context import fill
from bench.table import Cell, Table

__all__ = ["commands", "import_time", "install_size"]

_RUNS = 15
_PROGRAM = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
_CASES = (
    ("import haversack", "import haversack"),
    ("import haversack, open an empty store", "import haversack; haversack.open(':memory:', embedder='none').close()"),
    ("the same with the default embedder", "import haversack; haversack.open(':memory:').close()"),
    ("import numpy, for scale", "import numpy"),
)
_NUMPY = ("-c", "import numpy")
_ASKED = "which paint did we choose?"
_HUNDRED_THOUSAND = 100_000
_NAME = re.compile(r"[\w.-]+")


def import_time(options: Options) -> Iterator[Table]:  # noqa: ARG001 - every runner takes the options
    """Median of fresh processes, the interpreter's own start left out."""
    yield Table(
        name="import",
        title="Start, median ms of fresh processes",
        columns=("what", "ms"),
        rows=tuple((name, _fresh(statement)) for name, statement in _CASES),
    )


def commands(options: Options) -> Iterator[Table]:
    """Commands in fresh processes beside one that imports numpy alone; with `--full` on a large store as well."""
    for package in (haversack.__file__, __file__):
        compileall.compile_dir(Path(package).parent, quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "demo.db")
        _timed(("-m", "haversack", "demo", "--store", store))
        yield _beside_numpy(
            "start",
            "Commands in fresh processes on the demo's store",
            {
                "haversack --help": ("--help",),
                "haversack --version": ("--version",),
                "haversack recall": ("recall", _ASKED, "-n", "mira", "--store", store),
                "haversack context": ("context", _ASKED, "-n", "mira", "--store", store),
                "haversack context, nothing found": ("context", _ASKED, "-n", "nobody", "--store", store),
                "haversack remember": ("remember", "The hull is cream.", "-n", "painter", "--store", store),
            },
        )
        if options.full:
            store = str(Path(folder) / "large.db")
            with haversack.open(store) as sack:
                fill(sack.namespace("bench"), _HUNDRED_THOUSAND)
            yield _beside_numpy(
                "start-large",
                f"Commands in fresh processes on a store of {_HUNDRED_THOUSAND:,} memories",
                {
                    "haversack recall": ("recall", _ASKED, "-n", "bench", "--store", store),
                    "haversack context": ("context", _ASKED, "-n", "bench", "--store", store),
                },
            )


def install_size(options: Options) -> Iterator[Table]:  # noqa: ARG001 - every runner takes the options
    """Haversack and everything that `pip install haversack` brings, from what is installed here."""
    needed = sorted(_needed("haversack", {}).items())
    sizes = [(name, _size(found)) for name, found in needed]
    total = sum(size for _, size in sizes)
    yield Table(
        name="install",
        title=f"Base install: {len(sizes)} distributions, {total / 1e6:.1f} MB",
        columns=("distribution", "version", "MB"),
        rows=tuple((name, dict(needed)[name].version, size / 1e6) for name, size in sizes),
        notes=("files as recorded at installation, compiled bytecode left out",),
    )


def _beside_numpy(name: str, title: str, asked: Mapping[str, tuple[str, ...]]) -> Table:
    programs = {"import numpy": _NUMPY, **{what: ("-m", "haversack", *words) for what, words in asked.items()}}
    for program in programs.values():
        _timed(program)
    runs = [{what: _timed(program) for what, program in programs.items()} for _ in range(_RUNS)]
    medians = {
        what: (statistics.median(run[what][0] for run in runs), statistics.median(run[what][1] for run in runs))
        for what in programs
    }
    wall, processor = medians["import numpy"]
    rows: list[tuple[Cell, ...]] = [
        (what, 1000 * took, took / wall, 1000 * worked, worked / processor) for what, (took, worked) in medians.items()
    ]
    return Table(
        name=name,
        title=title,
        columns=("command", "ms", "times numpy", "processor ms", "times numpy"),
        rows=tuple(rows),
        notes=(f"medians of {_RUNS} runs that take turns, bytecode cached, the interpreter's own start included",),
    )


def _timed(program: tuple[str, ...]) -> tuple[float, float]:
    """Seconds on the wall and of the processor."""
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, *program], check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - started, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _fresh(statement: str) -> float:
    program = [sys.executable, "-c", _PROGRAM.format(statement)]
    taken = [float(subprocess.run(program, check=True, capture_output=True, text=True).stdout) for _ in range(_RUNS)]
    return statistics.median(taken) * 1000


def _needed(name: str, found: dict[str, Distribution]) -> dict[str, Distribution]:
    try:
        one = distribution(name)
    except PackageNotFoundError:
        return found  # needed on another system only
    found[one.metadata["Name"]] = one
    for requirement in one.requires or ():
        match = _NAME.match(requirement)
        if match and "extra ==" not in requirement and match.group() not in found:
            _needed(match.group(), found)
    return found


def _size(one: Distribution) -> int:
    return sum(path.stat().st_size for path in _files(one) if path.is_file() and path.suffix != ".pyc")


def _files(one: Distribution) -> Iterator[Path]:
    """As recorded; an editable install records a pointer only, so its package is looked up."""
    recorded = [Path(str(file.locate())) for file in one.files or ()]
    yield from recorded
    if not any(path.name == "__init__.py" for path in recorded) and (spec := find_spec(one.metadata["Name"])):
        for folder in spec.submodule_search_locations or ():
            yield from Path(folder).rglob("*")
