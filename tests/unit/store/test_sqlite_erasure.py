"""Hard erasure, checked in the bytes of every file beside the store."""

from __future__ import annotations

import itertools
import random
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from haversack.model.message import Message, Role, Text
from haversack.store.port import SEGMENT, Batch, Erasure, Vector, Written
from haversack.store.sqlite.store import SqliteStore
from haversack.testing.store_contract import sample_memory, sample_turn

_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


def _words(dice: random.Random, length: int) -> str:
    return "".join(dice.choices(_ALPHABET, k=length))


def _bytes_of(folder: Path) -> bytes:
    return b"\xff".join(file.read_bytes() for file in sorted(folder.iterdir()))


def _slices(text: str) -> set[bytes]:
    data = text.encode()
    return {data[start : start + 12] for start in range(len(data) - 11)}


def _remains(folder: Path, texts: list[str]) -> int:
    """How many 12-byte pieces of the texts stand anywhere in the folder's files."""
    held = _bytes_of(folder)
    pieces = {held[start : start + 12] for start in range(len(held) - 11)}
    return sum(len(pieces & _slices(text)) for text in texts)


def _serial(numbers: Iterator[int], length: int) -> str:
    """About so many characters of numbered words, so that each piece of it can be told from every other."""
    return "".join(f"<w{next(numbers):09d}>" for _ in range(0, length, 12))


def _found(data: bytes) -> set[bytes]:
    return set(re.findall(rb"<w\d{9}>", data))


def test_no_byte_of_any_version_outlives_an_erasure(tmp_path: Path) -> None:
    # Shuffled rewriting with other lengths makes SQLite split pages; split pages keep copies of what they gave away.
    dice, numbers = random.Random(1), itertools.count()
    store = SqliteStore(tmp_path / "store.db")
    order = list(range(2_000))
    for _ in range(4):
        dice.shuffle(order)
        for start in range(0, len(order), 50):
            part = order[start : start + 50]
            lengths = dice.choices((20, 90, 300, 700, 9_000), (4, 4, 4, 4, 1), k=len(part))
            memories = [
                sample_memory(each, _serial(numbers, length)) for each, length in zip(part, lengths, strict=True)
            ]
            store.apply("n", Batch(memories=tuple(memories)))
    assert len(_found(_bytes_of(tmp_path))) > 100_000
    gone = tuple(sample_memory(number).id for number in range(0, 2_000, 2))
    assert len(store.apply("n", Batch(erase=Erasure(memories=gone))).erased_memories) == 1_000
    kept = "".join(memory.content for memory in store.changes("n").memories).encode()
    assert _found(_bytes_of(tmp_path)) <= _found(kept)
    store.close()
    assert _found(_bytes_of(tmp_path)) <= _found(kept)
    assert not list(tmp_path.glob("*-wal"))


def test_turns_records_and_vectors_go_with_their_words(tmp_path: Path) -> None:
    dice = random.Random(8)
    secrets = [_words(dice, 60) for _ in range(7)]
    store = SqliteStore(tmp_path / "store.db")
    memory = sample_memory(1, secrets[0])
    turn = replace(
        sample_turn(1, key=secrets[1]),
        message=Message(role=Role.USER, parts=(Text(secrets[2]),), name=secrets[3]),
        metadata={"note": secrets[4]},
    )
    store.apply(
        "n",
        Batch(
            memories=(memory,),
            turns=(turn,),
            vectors=(Vector(memory=memory.id, model="m", data=secrets[5].encode()),),
            records=(Written(collection=SEGMENT, key="0", value=secrets[6].encode()),),
        ),
    )
    assert _remains(tmp_path, secrets) == 7 * 49
    store.apply("n", Batch(erase=Erasure(memories=(memory.id,), turns=(turn.id,))))
    assert _remains(tmp_path, secrets) == 0
    assert store.apply("n", Batch(turns=(turn,))).skipped == (turn.id,)
    assert _remains(tmp_path, secrets) == 0
    store.close()


@pytest.mark.parametrize("how", ["session", "everything"])
def test_whole_sessions_and_namespaces_go(tmp_path: Path, how: str) -> None:
    dice = random.Random(9)
    store = SqliteStore(tmp_path / "store.db")
    texts = [_words(dice, 300) for _ in range(60)]
    for number, text in enumerate(texts):
        turn = replace(sample_turn(number, session=texts[0][:40]), message=Message(role=Role.USER, parts=(Text(text),)))
        store.apply("n", Batch(turns=(turn,)))
    erase = Erasure(sessions=(texts[0][:40],)) if how == "session" else Erasure(everything=True)
    assert len(store.apply("n", Batch(erase=erase)).erased_turns) == 60
    assert _remains(tmp_path, texts) == 0
    store.close()


def test_a_reader_of_the_old_version_delays_the_scrub_and_the_next_write_finishes_it(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    dice = random.Random(10)
    secret = _words(dice, 200)
    store = SqliteStore(path)
    store.patience = 0.01
    store.apply("n", Batch(memories=(sample_memory(1, secret),)))
    reader = SqliteStore(path)
    with reader._connections.lease() as old:
        old.execute("BEGIN")
        old.execute("SELECT count(*) FROM memories").fetchone()
        applied = store.apply("n", Batch(erase=Erasure(memories=(sample_memory(1).id,))))
        assert applied.erased_memories == (sample_memory(1).id,)
        assert store.memories("n", [sample_memory(1).id]) == []
        assert not store.scrub()
        assert _remains(tmp_path, [secret]) > 0
        old.execute("COMMIT")
    store.apply("n", Batch(memories=(sample_memory(2),)))
    assert _remains(tmp_path, [secret]) == 0
    assert store.scrub()
    reader.close()
    store.close()


def test_the_next_opening_finishes_a_scrub(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    secret = _words(random.Random(11), 200)
    store = SqliteStore(path)
    store.patience = 0.01
    store.apply("n", Batch(memories=(sample_memory(1, secret),)))
    reader = SqliteStore(path)
    with reader._connections.lease() as old:
        old.execute("BEGIN")
        old.execute("SELECT count(*) FROM memories").fetchone()
        store.apply("n", Batch(erase=Erasure(memories=(sample_memory(1).id,))))
        old.execute("COMMIT")
    assert _remains(tmp_path, [secret]) > 0
    SqliteStore(path).close()
    assert _remains(tmp_path, [secret]) == 0
    reader.close()
    store.close()


def test_a_copy_that_a_migration_left_goes_too(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    secret = _words(random.Random(12), 200)
    store.apply("n", Batch(memories=(sample_memory(1, secret),)))
    store.snapshot(tmp_path / "store.db.before-v2")
    store.apply("n", Batch(erase=Erasure(memories=(sample_memory(1).id,))))
    assert _remains(tmp_path, [secret]) == 0
    store.close()


def test_erasing_while_others_read_and_write_loses_nothing(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    secrets = [_words(random.Random(number), 100) for number in range(20)]
    store.apply("n", Batch(memories=tuple(sample_memory(number, text) for number, text in enumerate(secrets))))
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for number in range(100, 130):
                store.apply("n", Batch(memories=(sample_memory(number),)))
                store.changes("n")
        except BaseException as failure:  # noqa: BLE001 - handed to the test's own thread
            failures.append(failure)

    worker = threading.Thread(target=work)
    worker.start()
    for number in range(20):
        store.apply("n", Batch(erase=Erasure(memories=(sample_memory(number).id,))))
    worker.join()
    assert failures == []
    assert store.scrub()
    assert _remains(tmp_path, secrets) == 0
    assert len(store.changes("n").memories) == 30
    store.close()
