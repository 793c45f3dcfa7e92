"""Learns how likely a question has an answer in a namespace, from questions that have one there and such that do not.

Writes `scoring/answers.py`.
    python -m bench.recall.answered --locomo FILE --beam FILE [--write FILE] [--modes lexical static …] [--vectors DIR]

Answered are the conversations' own questions, alone and beside facts, and those of facts; not answered are those of
other conversations and the bank of nonsense. Logistic regression over `scoring.answered.told`, every family and sort of
question weighed by itself. The printed table is cross-validated by conversation. Of our own banks the half for tuning
is learned from alone, and the other half stands in rows of its own.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from bench.lived.bank import half_of, load
from bench.lived.facts import Fact, draw, facts_of
from bench.lived.nonsense import nobody
from bench.lived.pairs import pairs_of
from bench.recall.protocol import Stated, World, build
from bench.recall.train import Numbers, WithoutSigns, asked
from bench.recall.variants import as_roles
from bench.remembering import Remembering, remembering
from numpy.typing import NDArray

from haversack.embed.embedder import Embedder, WordVectors
from haversack.embed.static import StaticEmbedder
from haversack.evaluation.conversations import Conversation, Query, load_beam, load_locomo
from haversack.model.memory import Kind
from haversack.model.query import Filter
from haversack.model.times import micros
from haversack.recall.clues import stand_out
from haversack.recall.filtering import allowed
from haversack.recall.fuse import gather, rank, understand
from haversack.scoring.answered import told
from haversack.scoring.blend import DEFAULT, LATE, LEXICAL, SENTENCE, STATIC, Learned

_PLAIN = replace(DEFAULT, importance=0.0, recency=0.0)
_MODES = {"lexical": LEXICAL, "static": STATIC, "sentence": SENTENCE, "late": LATE}
_ONE_ALONE = {
    "late": (),
    "static": ("late",),
    "sentence": ("late",),
    "lexical": ("late", "cosine", "cover_cosine", "soft"),
}
"""What an embedder does not tell."""
_SHARES = {"answered": 1.0, "nonsense": 0.6, "other chats": 0.2, "other logs": 0.2}
_LESS = {"sessions": 0.5, "numbers": 0.3, "numbers and facts": 0.5}
_RIDGE, _ROUNDS = 1e-3, 12
_FEW, _MANY = 20, 60
"""Questions of other conversations that a small store, and a large one, is asked."""
_ALONE = {2: 10, 5: 8, 12: 6, 40: 3, 120: 1}
"""How many facts stand alone in a store, and how many such stores there are."""
_EVERY = 6
"""Of a chat's sessions so many are left out for one that is a store by itself."""
_SHOWN = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A namespace with what is asked of it and answered there."""

    family: str
    name: str
    side: int
    world: World
    queries: Sequence[Query]
    """The category of those of a bank is their half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question in one store."""

    family: str
    side: int
    sort: str
    half: str
    parts: dict[str, float]


def stores(
    locomo: Sequence[Conversation], beam: Sequence[Conversation], embedder: Embedder | None, words: WordVectors | None
) -> Iterator[Store]:
    def store(family: str, number: int, talk: Conversation, facts: Sequence[Fact] = ()) -> Store:
        queries = _of(facts) if facts else talk.queries
        world = build(talk, embedder, words, _stated(facts))
        return Store(family=family, name=talk.name, side=number % 2, world=world, queries=queries)

    for family, talks, size in (("chats", locomo, 40), ("logs", beam, 12)):
        for number, talk in enumerate(talks):
            yield store(family, number, talk)
            yield store(f"{family} and facts", number, talk, draw(facts_of(talk), size, talk.name))
    for number, talk in enumerate(locomo):
        yield store("roles", number, as_roles(talk, number % 2))
        for part in _sessions(talk):
            yield store("sessions", number, part)
    bank = facts_of(nobody())
    for size, draws in _ALONE.items():
        for number in range(draws):
            yield store("facts", number, nobody(), draw(bank, size, f"{size} {number}"))
    yield _notes(embedder, words)
    yield _notes(embedder, words, bank)


def _stated(facts: Sequence[Fact]) -> list[Stated]:
    return [Stated(id=f"fact {n}", kind=Kind(fact.kind), text=fact.text) for n, fact in enumerate(facts)]


def _of(facts: Sequence[Fact]) -> tuple[Query, ...]:
    return tuple(
        Query(text=question, gold=frozenset([f"fact {n}"]), category=fact.half)
        for n, fact in enumerate(facts)
        for question in fact.questions
    )


def _sessions(talk: Conversation) -> Iterator[Conversation]:
    for session in list(dict.fromkeys(turn.session for turn in talk.turns))[::_EVERY]:
        turns = tuple(turn for turn in talk.turns if turn.session == session)
        ids = {turn.id for turn in turns}
        queries = tuple(query for query in talk.queries if query.gold and query.gold <= ids)
        if queries:
            yield replace(talk, turns=turns, queries=queries)


def _notes(embedder: Embedder | None, words: WordVectors | None, facts: Sequence[Fact] = ()) -> Store:
    pairs = list(pairs_of(load("numbers")))
    names = {note: f"note {place}" for place, note in enumerate(dict.fromkeys(pair.note for pair in pairs))}
    stated = [Stated(id=name, kind=Kind.FACT, text=note) for note, name in names.items()]
    queries = [
        Query(text=pair.question, gold=frozenset([names[pair.note]]), category=half_of(place))
        for place, pair in enumerate(pairs)
    ]
    family, world = "numbers", build(nobody(), embedder, words, [*stated, *_stated(facts)])
    if facts:
        family, queries = "numbers and facts", _of(facts)
    return Store(family=family, name="notes", side=0, world=world, queries=queries)


def cases(
    found: Iterable[Store],
    others: dict[str, list[tuple[str, str]]],
    embedder: Embedder | None,
    words: WordVectors | None,
    learned: Learned,
) -> Iterator[Case]:
    chance, bank = random.Random("others"), list(_bank())
    for store in found:
        small = store.family in {"sessions", "facts"}
        wanted = [("answered", query.category, query.text) for query in store.queries if query.gold]
        wanted += [("nonsense", half, text) for half, text in (chance.sample(bank, _MANY) if small else bank)]
        for sort, known in others.items():
            strange = [text for name, text in known if name != store.name]
            wanted += [(sort, "tune", text) for text in chance.sample(strange, _FEW if small else _MANY)]
        for sort, half, text in wanted:
            parts = _parts(store.world, text, embedder, words, learned)
            if parts is not None:
                yield Case(family=store.family, side=store.side, sort=sort, half=half, parts=parts)


def _bank() -> Iterator[tuple[str, str]]:
    texts = [text for block in load("nonsense") for text in block.marked("?")]
    return ((half_of(place), text) for place, text in enumerate(texts))


def _parts(
    world: World, text: str, embedder: Embedder | None, words: WordVectors | None, learned: Learned
) -> dict[str, float] | None:
    index, (vector, said) = world.index, asked(embedder, text)
    if vector is not None and not vector.any():
        vector = None
    grasp = understand(index, text, vector, world.now, said)
    pool = gather(index, grasp, [allowed(index, Filter(), world.now)], words)
    if pool.clues is None or not len(pool.rows):
        return None
    latest, exact = grasp.question.latest, grasp.question.exact
    ranking = rank(index, pool, learned, _PLAIN, now=micros(world.now), latest=latest, exact=exact)
    scores = np.clip(ranking.scores.astype(np.float64), 1e-9, 1 - 1e-7)
    return told(pool.clues, stand_out(np.log(scores / (1 - scores)).astype(np.float32)))


def weights(chosen: Sequence[Case]) -> Numbers:
    sizes: dict[tuple[str, str], int] = {}
    for case in chosen:
        sizes[case.family, case.sort] = sizes.get((case.family, case.sort), 0) + 1
    found = [_LESS.get(case.family, 1.0) * _SHARES[case.sort] / sizes[case.family, case.sort] for case in chosen]
    return np.array(found) / sum(found)


def fit(chosen: Sequence[Case], names: Sequence[str]) -> dict[str, float]:
    """Log-odds per part, and their start, by Newton's method with a ridge on what is scaled to unit spread."""
    matrix = np.array([[case.parts[name] for name in names] for case in chosen])
    gold = np.array([case.sort == "answered" for case in chosen], np.float64)
    mean, spread, weight = matrix.mean(0), matrix.std(0) + 1e-9, weights(chosen)
    matrix = np.c_[(matrix - mean) / spread, np.ones(len(matrix))]
    ridge = np.r_[np.full(len(names), 2 * _RIDGE), 1e-9]
    found: NDArray[np.float64] = np.zeros(len(names) + 1)
    for _ in range(_ROUNDS):
        likely = 1 / (1 + np.exp(-np.clip(matrix @ found, -30, 30)))
        curve = (matrix * (weight * likely * (1 - likely) + 1e-12)[:, None]).T @ matrix + np.diag(ridge)
        found -= np.linalg.solve(curve, matrix.T @ (weight * (likely - gold)) + ridge * found)
    slopes = found[:-1] / spread
    return {"start": float(found[-1] - mean @ slopes), **dict(zip(names, slopes.tolist(), strict=True))}


def likely(case: Case, table: dict[str, float]) -> float:
    return float(1 / (1 + np.exp(-sum(weight * case.parts.get(name, 1.0) for name, weight in table.items()))))


def show(mode: str, everything: Sequence[Case], names: Sequence[str]) -> None:
    """Print what stands below, held out, by family, sort and half."""
    rows: dict[tuple[str, str, str], list[float]] = {}
    for side in (0, 1):
        table = fit([case for case in learned_from(everything) if case.side != side], names)
        for case in everything:
            if case.side == side:
                half = case.half if case.half in {"tune", "held"} else ""
                rows.setdefault((case.family, case.sort, half), []).append(likely(case, table))
    for (family, sort, half), found in sorted(rows.items()):
        below, middle = 100 * np.mean(np.array(found) < _SHOWN), np.median(found)
        print(
            f"{mode:8s} {family:16s} {sort:12s} {half:5s} {len(found):5d}  below {_SHOWN}: {below:5.1f} %  {middle:.3f}"
        )


def learned_from(everything: Sequence[Case]) -> list[Case]:
    return [case for case in everything if case.half != "held"]


def write(tables: dict[str, dict[str, float]], path: Path) -> None:
    head, mark, old = path.read_text("utf-8").partition("# numbers follow\n")
    kept = {block.partition(":")[0]: block.strip() for block in old.split("\n\n") if block.strip()}
    for mode, table in tables.items():
        name, rows = f"ANSWERED_{mode.upper()}", "".join(f'    "{n}": {value:.4f},\n' for n, value in table.items())
        kept[name] = f"{name}: dict[str, float] = {{\n{rows}}}"
    path.write_text(head + mark + "\n\n".join(kept.values()) + "\n", "utf-8")


def embedders(mode: str, vectors: Path | None) -> tuple[Embedder | None, WordVectors | None, Remembering | None]:
    if mode == "lexical":
        return None, None, None
    static = StaticEmbedder()
    if mode == "static":
        return static, static, None
    slow = remembering(["onnx"], vectors)["onnx"]
    return (slow if mode == "late" else WithoutSigns(slow)), static, slow


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--locomo", type=Path, required=True)
    parser.add_argument("--beam", type=Path, required=True)
    parser.add_argument("--logs", type=int, help="Store only the first so many logs.")
    parser.add_argument("--modes", nargs="+", default=["lexical", "static"])
    parser.add_argument("--vectors", type=Path, help="Folder where vectors are kept between runs.")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    locomo, beam, tables = load_locomo(options.locomo), load_beam(options.beam), dict[str, dict[str, float]]()
    others = {
        sort: [(talk.name, query.text) for talk in talks for query in talk.queries]
        for sort, talks in (("other chats", locomo), ("other logs", beam))
    }
    for mode in options.modes:
        embedder, words, slow = embedders(mode, options.vectors)
        found = stores(locomo, beam[: options.logs], embedder, words)
        everything = list(cases(found, others, embedder, words, _MODES[mode]))
        names = [name for name in everything[0].parts if name not in _ONE_ALONE[mode]]
        show(mode, everything, names)
        tables[mode] = fit(learned_from(everything), names)
        if slow is not None:
            slow.save()
    if options.write:
        write(tables, options.write)


if __name__ == "__main__":
    main()
