"""The same on files: two engines with a SQLite store each, open on one file.

Hard forgets and what writes words, both ways, each interrupted at each of its store calls: the file comes to what the
store in memory comes to, which `test_interleaving` judges, and holds no erased word in its bytes.
"""

from __future__ import annotations

import shutil
from itertools import product
from pathlib import Path

import pytest

from haversack.engine.forgetting import Forgotten
from haversack.store.sqlite.store import SqliteStore

from . import interleaving_laws as laws
from .interleaving import Hand, alone, play
from .interleaving_verbs import VERBS, Verb
from .interleaving_world import HOME, Interrupted, base, engine, fill

_VERBS = {verb.name: verb for verb in VERBS}
_ERASE = [_VERBS[name] for name in ("forget hard", "forget hard turn", "forget hard session")]
_WRITE = [_VERBS[name] for name in ("remember same", "edit", "merge", "extract", "compact", "add")]
_PAIRS = [*product(_ERASE, _WRITE), *product(_WRITE, _ERASE)]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("base") / "memory.db"
    store = SqliteStore(path)
    assert fill(store) == base().ids
    store.close()
    return path


@pytest.mark.slow
@pytest.mark.parametrize("pair", _PAIRS, ids=lambda pair: f"{pair[0].name}-{pair[1].name}".replace(" ", "-"))
def test_a_file_comes_to_the_same(pair: tuple[Verb, Verb], filled: Path, tmp_path: Path) -> None:
    for at in range(1, len(alone(pair[0]).calls) + 1):
        path = tmp_path / f"{at}.db"
        shutil.copy(filled, path)
        stores = [SqliteStore(path) for _ in range(2)]
        one, two = (_hand(store, number) for store, number in zip(stores, (16, 32), strict=True))
        one.store.before, one.store.at = (lambda hand=two: hand.do(pair[1])), at
        one.do(pair[0])
        gone = [one for one in (one.answer, two.answer) if isinstance(one, Forgotten)]
        in_memory = play(*pair, at)
        assert (one.failed, two.failed) == in_memory.failed
        one.sack.close()
        two.sack.close()
        spaces = laws.held_on_disk(stores[0])
        names = {id_: f"<{name}>" for name, id_ in base().ids.items()}
        assert _of_home(laws.picture(spaces, names)) == _of_home(in_memory.picture)
        for store in stores:
            assert store.scrub()
            store.close()
        said = pair[0].says | pair[1].says
        assert list(laws.words_that_came_back(spaces, gone, laws.origins(base()), said)) == []
        assert _bytes_of_erased(path, gone, said) == []


def _hand(store: SqliteStore, number: int) -> Hand:
    own = Interrupted(store)
    return Hand(engine(own, number), own, base())


def _of_home(picture: frozenset[str]) -> frozenset[str]:
    return frozenset(line for line in picture if line.startswith(f"{HOME} "))


def _bytes_of_erased(path: Path, gone: list[Forgotten], said: frozenset[str]) -> list[str]:
    ids = {name for one in gone for name in (*one.memories, *one.derived, *one.turns)}
    words = [word for word, sources in laws.origins(base()).items() if sources <= ids and word not in said]
    data = b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
    return [word for word in words if word.encode() in data]
