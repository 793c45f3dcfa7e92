"""What the interleaving of two engines checks, in figures, with what is broken: in memory, then on files."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from .interleaving_files import chosen, filled, wrong_on_file
from .interleaving_schedules import tally
from .interleaving_verbs import VERBS
from .places import QUICK_DISK


def in_memory() -> str:
    """Every schedule of each pair of verbs."""
    found = [tally(verb) for verb in VERBS]
    lines = ["\n  ".join((schedule, *wrong)) for each in found for schedule, wrong in each.broken.items()]
    pairs, apart = sum(each.pairs for each in found), sum(each.apart for each in found)
    whole, played = sum(each.schedules for each in found), sum(each.played for each in found)
    return "\n".join((
        *lines,
        f"{pairs} ordered pairs of {len(VERBS)} verbs, {apart} of which touch no namespace both",
        f"{whole} schedules: {played} played, {whole - played} shown to be equal to one that was",
        f"{len(lines)} broken",
    ))  # fmt: skip


def on_files() -> str:
    """One schedule of each pair."""
    with TemporaryDirectory(dir=QUICK_DISK) as folder:
        origin = filled(Path(folder) / "memory.db")
        pairs = [(first, second, at) for first in VERBS for second, at in chosen(first, VERBS)]
        found = [(first, second, at, wrong_on_file(first, second, at, origin)) for first, second, at in pairs]
    lines = [f"{one.name} <- {two.name} before call {at}: {wrong}" for one, two, at, wrong in found if wrong]
    return "\n".join((*lines, f"on files: {len(found)} schedules played, one of each pair; {len(lines)} broken"))


if __name__ == "__main__":
    for told in (in_memory, on_files):
        sys.stdout.write(f"{told()}\n")
