"""The same on files (`interleaving_files`).

Hard forgets and what writes words, both ways, each interrupted at each of its store calls; and each verb interrupted by
some others, at one of its calls.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from .interleaving_files import chosen, filled, wrong_on_file
from .interleaving_schedules import alone
from .interleaving_verbs import VERBS, Verb

pytestmark = pytest.mark.slow
_VERBS = {verb.name: verb for verb in VERBS}
_ERASE = [_VERBS[name] for name in ("forget hard", "forget hard turn", "forget hard session")]
_WRITE = [_VERBS[name] for name in ("remember same", "edit", "merge", "extract", "compact", "add")]
_PAIRS = [*product(_ERASE, _WRITE), *product(_WRITE, _ERASE)]
_SHARE = 10
"""Each verb is interrupted by so much of the others; all pairs take minutes (`python -m` the other file)."""


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("base") / "memory.db")


@pytest.mark.parametrize("pair", _PAIRS, ids=lambda pair: f"{pair[0].name}-{pair[1].name}".replace(" ", "-"))
def test_a_file_comes_to_the_same(pair: tuple[Verb, Verb], origin: Path) -> None:
    wrong = {at: wrong_on_file(*pair, at, origin) for at in range(1, len(alone(pair[0]).calls) + 1)}
    assert {at: what for at, what in wrong.items() if what} == {}


@pytest.mark.parametrize("first", VERBS, ids=lambda verb: verb.name.replace(" ", "-"))
def test_every_verb_comes_to_the_same_on_a_file(first: Verb, origin: Path) -> None:
    seconds = VERBS[VERBS.index(first) % _SHARE :: _SHARE]
    wrong = {second.name: wrong_on_file(first, second, at, origin) for second, at in chosen(first, seconds)}
    assert {name: what for name, what in wrong.items() if what} == {}
