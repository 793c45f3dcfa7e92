"""What it costs to have and to load: import time in fresh processes, and the size of the base install."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from bench.options import Options
from bench.table import Table

__all__ = ["import_time", "install_size"]

_RUNS = 15
_PROGRAM = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
_CASES = (
    ("import haversack", "import haversack"),
    ("import haversack, open an empty store", "import haversack; haversack.open(':memory:', embedder='none').close()"),
    ("the same with the default embedder", "import haversack; haversack.open(':memory:').close()"),
    ("import numpy, for scale", "import numpy"),
)
_NAME = re.compile(r"[\w.-]+")


def import_time(options: Options) -> Iterator[Table]:  # noqa: ARG001 - every runner takes the options
    """Median of fresh processes, the interpreter's own start left out."""
    yield Table(
        name="import",
        title="Start, median ms of fresh processes",
        columns=("what", "ms"),
        rows=tuple((name, _fresh(statement)) for name, statement in _CASES),
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
