from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import haversack
from haversack.embed.codec import Quantised, embed_stored
from haversack.embed.embedder import AskedWords, Signs, Vectors
from haversack.model.memory import Memory
from haversack.recall import Recall, indexed_text
from haversack.recall.features import surroundings
from haversack.recall.index import Index
from haversack.recall.keeping import restore
from haversack.recall.late import closeness, late_match
from haversack.recall.question import read
from haversack.recall.signs import SignTable
from haversack.scoring.words import split
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch, Erasure, Vector
from haversack.store.sqlite.store import SqliteStore

NOW = datetime(2024, 6, 1, tzinfo=UTC)
WIDTH = 2
BITS = 8 * WIDTH
NO_RESIDUES = np.zeros(2, np.uint8)


class Reader:
    """All sentences point the same way; a word's direction is drawn from its letters, and `ship` is `ferry`."""

    dimension = 4
    sign_bytes = WIDTH

    def __init__(self, model: str = "reader") -> None:
        self.model = model

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.full((len(texts), 4), 0.5, np.float32)

    def embed_query(self, text: str) -> Vectors:
        return self.embed([text])[0]

    def embed_with_signs(self, texts: Sequence[str]) -> tuple[Vectors, list[Signs]]:
        return self.embed(texts), [np.packbits(directions(split(text)) > 0, axis=1) for text in texts]

    def embed_query_with_words(self, text: str) -> tuple[Vectors, AskedWords]:
        rows = directions(split(text))
        return self.embed_query(text), AskedWords(tuple(split(text)), rows / np.linalg.norm(rows, axis=1)[:, None])


def directions(words: Sequence[str]) -> Vectors:
    seeds = ["ferry" if word == "ship" else word for word in words]
    rows = [np.random.default_rng(list(word.encode())).normal(size=BITS) for word in seeds]
    return np.array(rows, np.float32).reshape(len(words), BITS)


def stored(model: str, memories: Sequence[Memory]) -> Batch:
    _, data = embed_stored(Reader(), [indexed_text(memory) for memory in memories])
    rows = [Vector(memory=memory.id, model=model, data=one) for memory, one in zip(memories, data, strict=True)]
    return Batch(memories=tuple(memories), vectors=tuple(rows))


def index_of(memories: Sequence[Memory], signs: Sequence[Signs]) -> Index:
    index = Index(4, None, WIDTH)
    codes = np.ones(4, np.int8)
    index.put(
        memories,
        {one.id: Quantised(1.0, codes, NO_RESIDUES, words) for one, words in zip(memories, signs, strict=True)},
    )
    return index


def test_closeness_is_the_best_cosine_with_signs(make: Callable[..., Memory]) -> None:
    chance = np.random.default_rng(3)
    counts = [3, 0, 1, 7, 2]
    signs = [chance.integers(0, 256, (count, WIDTH), np.uint8) for count in counts]
    asked = chance.normal(size=(4, BITS)).astype(np.float32)
    index = index_of([make("x") for _ in counts], signs)
    rows = np.array([4, 1, 3, 0])
    found = closeness(index, asked, rows)
    for place, row in enumerate(rows.tolist()):
        for number, word in enumerate(asked):
            codes = np.rint(word / np.abs(word).max() * 127)
            cosines = [
                sum(code if bit else -code for code, bit in zip(codes, np.unpackbits(one), strict=True))
                / (np.sqrt((codes**2).sum()) * 4)
                for one in signs[row]
            ]
            assert found[place, number] == pytest.approx(max(cosines, default=-1), abs=1e-6)


def test_a_word_is_heard_in_the_turns_around_for_less(make: Callable[..., Memory]) -> None:
    texts = ("a", "b", "c", "d " * 120, "e", "f")
    said = [make(text, session="s") for text in texts] + [make("elsewhere", session="t")]
    ones, none = np.full((1, WIDTH), 255, np.uint8), np.zeros((1, WIDTH), np.uint8)
    index = index_of(said, [none, none, ones, none, none, none, none])
    rows, question = np.arange(7), read("ferry Ada?", NOW, NOW)
    asked = AskedWords(("where", "ferry"), np.full((2, BITS), 0.25, np.float32))
    found = late_match(index, asked, question, rows, np.arange(7), surroundings(index.columns, rows))
    assert found is not None
    alone, heard = found
    assert alone.tolist() == pytest.approx([0, 0, 2, 0, 0, 0, 0], abs=1e-6)  # the ordinary row comes as close as -1
    assert heard.tolist() == pytest.approx([1.9, 1.95, 2, 1.95 / 4, 1.9, 0, 0], abs=1e-6)  # 120 words: a quarter


def test_question_words_and_speakers_tell_nothing(make: Callable[..., Memory]) -> None:
    index = index_of([make("x", speaker="Ada Lovelace")], [np.zeros((1, WIDTH), np.uint8)])
    rows = np.arange(1)
    asked = AskedWords(("where", "is", "ada"), np.full((3, BITS), 0.25, np.float32))
    question = read("where is Ada", NOW, NOW)
    assert late_match(index, asked, question, rows, rows, surroundings(index.columns, rows)) is None


def test_words_in_their_sentence_decide_between_equals(store: MemoryStore, make: Callable[..., Memory]) -> None:
    memories = [make(text) for text in ("soup tastes good", "a ferry comes", "rain falls", "old bread", "no milk")]
    store.apply("n", stored("reader", memories))
    hit, *others = Recall(store, Reader()).search(["n"], "ship", now=NOW, top_k=5)
    assert (hit.id, len(others)) == (memories[1].id, 4)
    assert hit.parts["meaning"] > others[0].parts["meaning"]


def test_a_table_gives_back_what_was_put_last() -> None:
    table = SignTable(WIDTH)
    first, second, third = (np.full((count, WIDTH), count, np.uint8) for count in (3, 1, 2))
    table.put(70, first)
    table.put(2, second)
    table.put(70, third)
    table.put(3, first)
    again = SignTable(WIDTH)
    again.load(table.arrays())
    for each in (table, again):
        flat, counts = each.of(np.array([3, 70, 0, 5000, 2]))
        assert counts.tolist() == [3, 2, 0, 0, 1]
        assert flat[:, 0].tolist() == [3, 3, 3, 2, 2, 1]
        assert each.nbytes >= 7 * WIDTH
    again.put(70, third)
    assert again.arrays()["signs"].shape == table.arrays()["signs"].shape


def test_a_row_that_is_put_again_takes_no_more_room(make: Callable[..., Memory]) -> None:
    memory, signs = make("a ferry"), np.ones((5, WIDTH), np.uint8)
    index = index_of([memory], [signs])
    before = index.nbytes
    assert before >= index_of([memory], [signs[:0]]).nbytes + 5 * WIDTH
    for _ in range(100):
        index.put([memory], {memory.id: Quantised(1.0, np.ones(4, np.int8), NO_RESIDUES, signs)})
    assert index.nbytes == before


def test_every_way_of_writing_stores_the_words() -> None:
    with haversack.open(":memory:", embedder=Reader()) as sack:
        ns = sack.namespace("n")
        ids = [ns.remember("Ada likes green tea", kind="fact").id, ns.remember("Ada likes black tea", kind="fact").id]
        ids += [memory.id for memory in ns.remember_many(["tidal words"])]
        ns.session("s").add("user", "red green blue")
        ids += [hit.id for hit in ns.recall("blue", kinds=["passage"], top_k=1)]
        held = sack._core.store.vectors("n", "reader", ids)
        words = [len(split(indexed_text(ns.get(one)))) for one in ids]
        assert [(len(held[one]) - 4 - 4 - 2) / WIDTH for one in ids] == words
        assert words == [4, 4, 2, 4]


def test_vectors_of_another_model_are_made_anew(store: MemoryStore, make: Callable[..., Memory]) -> None:
    memories = [make("a ferry comes"), make("soup")]
    store.apply("n", stored("reader", memories))
    recall = Recall(store, Reader("newer"))
    assert recall.missing("n") == [memory.id for memory in memories]
    assert recall.reembed("n") == 0
    assert recall.search(["n"], "ferry", now=NOW, top_k=1)[0].id == memories[0].id
    assert Recall(store, Reader()).missing("n") == []


def test_a_vector_that_lacks_its_words_counts_as_missing(store: MemoryStore, make: Callable[..., Memory]) -> None:
    memory = make("a ferry")
    store.apply("n", Batch(memories=(memory,), vectors=(Vector(memory=memory.id, model="reader", data=bytes(11)),)))
    assert Recall(store, Reader()).missing("n") == [memory.id]


def test_a_kept_index_holds_the_signs_and_none_that_were_erased(tmp_path: Path, make: Callable[..., Memory]) -> None:
    store = SqliteStore(tmp_path / "memory.db")
    memories = [make(f"{word} number {n}", session="s") for n, word in enumerate(["ferry", "soup", "rain", "milk"])]
    store.apply("n", stored("reader", memories))
    built = Recall(store, Reader())
    built.save("n")
    assert restore(store, "n", "reader", 4, None) is None
    kept = restore(store, "n", "reader", 4, None, sign_bytes=WIDTH)
    assert kept is not None
    assert kept.index.signs.of(np.arange(4))[1].tolist() == [3, 3, 3, 3]
    for query in ("ship", "soup milk"):
        cold = Recall(store, Reader()).search(["n"], query, now=NOW, top_k=4)
        assert cold == built.search(["n"], query, now=NOW, top_k=4)
    store.apply("n", Batch(erase=Erasure(memories=(memories[0].id,))))
    built.save("n")
    kept = restore(store, "n", "reader", 4, None, sign_bytes=WIDTH)
    assert kept is not None
    assert len(kept.index.signs.arrays()["signs"]) == 9
    store.close()
