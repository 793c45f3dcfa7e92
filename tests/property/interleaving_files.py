"""The same schedules on a SQLite file: two engines with a store each, open on one file.

The file must come to what the store in memory comes to, which `interleaving_schedules` judges, and hold no erased word
but where a row holds it.
"""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from haversack.engine.forgetting import Forgotten
from haversack.store.sqlite.store import SqliteStore

from . import interleaving_laws as laws
from .interleaving_schedules import Hand, alone, meets, play
from .interleaving_verbs import Verb
from .interleaving_world import HOME, Interrupted, base, engine, fill
from .places import QUICK_DISK


def filled(path: Path) -> Path:
    """A file that holds what the base state in memory holds."""
    store = SqliteStore(path)
    assert fill(store) == base().ids
    store.close()
    return path


def chosen(first: Verb, seconds: list[Verb]) -> Iterator[tuple[Verb, int]]:
    """For each verb that can meet the first, one of the first's calls before which it acts."""
    for second in seconds:
        if meets(first, second):
            yield second, zlib.crc32(f"{second.name}/{first.name}".encode()) % len(alone(first).calls) + 1


def wrong_on_file(first: Verb, second: Verb, at: int, origin: Path) -> list[str]:
    """What comes of a schedule on a copy of the file otherwise than in memory; the copy is gone then."""
    with TemporaryDirectory(dir=QUICK_DISK) as folder:
        path = Path(shutil.copy(origin, folder))
        stores = [SqliteStore(path) for _ in range(2)]
        one, two = hands = [_hand(store, number) for store, number in zip(stores, (16, 32), strict=True)]
        one.store.before, one.store.at = (lambda: two.do(second)), at
        one.do(first)
        for hand in hands:
            hand.sack.close()
        spaces = laws.held_on_disk(stores[0])
        wrong = [f"store {number} has erased bytes left" for number, store in enumerate(stores) if not store.scrub()]
        for store in stores:
            store.close()
        data = b"".join(map(_bytes_of, Path(folder).iterdir()))
    in_memory = play(first, second, at)
    names = {id_: f"<{name}>" for name, id_ in base().ids.items()}
    if differing := _of_home(laws.picture(spaces, names)) ^ _of_home(in_memory.picture):
        wrong.append(f"differs from the store in memory: {sorted(differing)}")
    if (failed := tuple(hand.failed for hand in hands)) != in_memory.failed:
        wrong.append(f"fails otherwise than in memory: {failed}, {in_memory.failed}")
    kept = laws.planted(map(repr, spaces))
    for word in sorted(kept, key=len, reverse=True):  # a word that is kept may begin with one that was erased
        data = data.replace(word.encode(), b"")
    erased = _erased(hands, first.says | second.says) - kept
    return [*wrong, *(f"the erased word {word} is in the file" for word in sorted(erased) if word.encode() in data)]


def _bytes_of(file: Path) -> bytes:
    with suppress(FileNotFoundError):  # a thread that ends takes the log along with the last connection
        return file.read_bytes()
    return b""


def _hand(store: SqliteStore, number: int) -> Hand:
    own = Interrupted(store)
    return Hand(engine(own, number), own, base())


def _of_home(picture: frozenset[str]) -> frozenset[str]:
    return frozenset(line for line in picture if line.startswith(f"{HOME} "))


def _erased(hands: Iterable[Hand], said: frozenset[str]) -> set[str]:
    gone = [hand.answer for hand in hands if isinstance(hand.answer, Forgotten) and hand.answer.hard]
    ids = {name for one in gone for name in (*one.memories, *one.derived, *one.turns)}
    return {word for word, sources in laws.origins(base()).items() if sources <= ids and word not in said}
