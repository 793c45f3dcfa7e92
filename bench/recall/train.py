"""Learns how signals are weighed, from public conversations, their variants, and facts beside them.

Writes `scoring/learned.py`.
    python -m bench.recall.train --locomo FILE --beam FILE [--write] [--modes lexical static sentence late]

For each question all candidates stand in one softmax, and the weights (log-odds per feature: a base, and slopes over
the traits length and roles) are those under which the gold turns are likeliest, ridge-penalised. A set weighs twice as
much as each of its variants. The printed table is cross-validated: the even conversations are ranked by what the odd
ones taught, and the other way round; a variant stands on the side of its original. The shipped numbers are then fitted
on all. Of the facts in `bench/lived` the half for tuning is used alone, here and there. Needs scipy beside the
development environment.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from bench.lived.bank import half_of, load
from bench.lived.facts import draw, facts_of
from bench.lived.nonsense import nobody
from bench.lived.pairs import pairs_of
from bench.recall.protocol import Stated, World, build, recall_at
from bench.recall.variants import as_documents, as_roles, in_blocks, user_only
from numpy.typing import NDArray
from scipy.optimize import minimize

from haversack.embed.embedder import AskedWords, Embedder, Vectors, WordVectors, has_signs
from haversack.embed.static import StaticEmbedder
from haversack.evaluation.conversations import Conversation, Query, load_beam, load_locomo
from haversack.model.memory import Kind
from haversack.model.query import Filter
from haversack.recall.filtering import allowed
from haversack.recall.fuse import Pool, gather, rank, traits_of, understand
from haversack.scoring.blend import DEFAULT, LEXICAL, Learned
from haversack.scoring.signals import GROUPS

_CANDIDATES = 300
_RIDGE_BASE, _RIDGE_SLOPE = 5e-3, 1e-2
_ROUNDS = 150
_SHARES = {
    "chats": 2.0,
    "logs": 2.0,
    "chats beside facts": 1.5,
    "logs beside facts": 2.0,
    "facts in chats": 0.35,
    "facts in logs": 0.35,
}
"""How much each family weighs; the others 1."""
_NOTEBOOKS = 4
_FACTS = (5, 12, 40)
"""How many facts stand beside a conversation."""
Floats = NDArray[np.float32]
Numbers = NDArray[np.float64]
Mixture = tuple[Conversation, tuple[Stated, ...]]
"""A conversation, and what was stated beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question with its candidates."""

    family: str
    side: int
    world: World
    query: Query
    pool: Pool
    gold: NDArray[np.bool_]
    chosen: NDArray[np.int64]
    """Places in the pool of the candidates that are learned from."""


def cases(
    family: str, conversations: Sequence[Mixture], embedder: Embedder | None, words: WordVectors | None
) -> list[Case]:
    found: list[Case] = []
    sides = {name: place % 2 for place, name in enumerate(dict.fromkeys(talk.name for talk, _ in conversations))}
    for conversation, stated in conversations:
        world = build(conversation, embedder, words, stated)
        mask = allowed(world.index, Filter(), world.now)
        turns = np.array(world.turn_of)
        for query in conversation.queries:
            vector, said = asked(embedder, query.text)
            pool = gather(world.index, understand(world.index, query.text, vector, world.now, said), [mask], words)
            gold = np.isin(turns[pool.rows], list(query.gold))
            found.append(
                Case(
                    family=family,
                    side=sides[conversation.name],
                    world=world,
                    query=query,
                    pool=pool,
                    gold=gold,
                    chosen=_likely(pool),
                )
            )
    return found


def asked(embedder: Embedder | None, text: str) -> tuple[Vectors | None, AskedWords | None]:
    if has_signs(embedder):
        return embedder.embed_query_with_words(text)
    return None if embedder is None else embedder.embed_query(text), None


def _likely(pool: Pool) -> NDArray[np.int64]:
    value = sum(feature(pool, name) for name in ("lexical", "dense", "soft", "session_best"))
    value += sum(
        np.float32(0.3) * feature(pool, name) for name in ("before", "after", "speaker_named", "in_month", "on_day")
    )
    return np.argsort(-value, kind="stable")[:_CANDIDATES]


def feature(pool: Pool, name: str) -> Floats:
    found = pool.features.get(name)
    return np.zeros(len(pool.rows), np.float32) if found is None else found


def fit(train: Sequence[Case]) -> dict[str, tuple[float, float, float]]:
    """Base and slopes of each feature."""
    names = list(GROUPS)
    used = [case for case in train if case.gold[case.chosen].any()]
    counts = np.array([len(case.chosen) for case in used])
    starts = np.cumsum(counts) - counts
    traits = [traits_of(case.world.index) for case in used]
    trait = np.repeat([(1, each.length, each.roles) for each in traits], counts, axis=0).astype(np.float32)
    matrix = np.concatenate([np.stack([feature(case.pool, n)[case.chosen] for n in names], axis=1) for case in used])
    spread = matrix.std(0) + 1e-6
    matrix /= spread
    gold = np.concatenate([case.gold[case.chosen] for case in used]).astype(np.float32)
    sizes = {family: sum(case.family == family for case in used) for family in {case.family for case in used}}
    shares = {family: _SHARES.get(family, 1.0) for family in sizes}
    weight = np.array([shares[case.family] / sizes[case.family] for case in used], np.float32) / sum(shares.values())
    weight = np.repeat(weight, counts)
    target = weight * gold / np.repeat(np.add.reduceat(gold, starts), counts)
    ridge = np.repeat([_RIDGE_BASE, _RIDGE_SLOPE, _RIDGE_SLOPE], len(names))

    def loss(parameters: Numbers) -> tuple[float, Numbers]:
        odds = ((matrix @ parameters.reshape(3, -1).T.astype(np.float32)) * trait).sum(axis=1)
        odds -= np.repeat(np.maximum.reduceat(odds, starts), counts)
        power = np.exp(odds)
        total = np.repeat(np.add.reduceat(power, starts), counts)
        value = -float((target * (odds - np.log(total))).sum())
        slope = (matrix.T @ ((weight * power / total - target)[:, None] * trait)).T.ravel()
        return value + float((ridge * parameters) @ parameters), slope + 2 * ridge * parameters

    start = np.zeros(3 * len(names))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _ROUNDS}).x
    base, by_length, by_roles = found.reshape(3, len(names)) / spread
    return {name: (float(base[i]), float(by_length[i]), float(by_roles[i])) for i, name in enumerate(names)}


def calibrate(train: Sequence[Case], weights: dict[str, tuple[float, float, float]]) -> Learned:
    """Scale and shift under which the sigmoid of the sum is the share of gold among candidates."""
    odds, gold = list[Floats](), list[NDArray[np.bool_]]()
    for case in train:
        if case.family.startswith(
            ("facts", "notes")
        ):  # where the right one is nearly always first, odds would mean too much
            continue
        traits = traits_of(case.world.index)
        total = np.zeros(len(case.pool.rows), np.float32) + sum(
            feature(case.pool, n) * np.float32(a + traits.length * b + traits.roles * c)
            for n, (a, b, c) in weights.items()
        )
        odds.append(total.astype(np.float32))
        gold.append(case.gold)
    x, y = np.concatenate(odds).astype(np.float64), np.concatenate(gold).astype(np.float64)

    def loss(p: Numbers) -> float:
        z = p[0] * x + p[1]
        return float(np.mean(np.logaddexp(0, z) - y * z))

    scale, shift = minimize(loss, np.array([1.0, -5.0]), method="Nelder-Mead").x
    return Learned(weights=weights, scale=float(scale), shift=float(shift))


def ranked(case: Case, learned: Learned) -> list[int]:
    now = int(case.world.now.timestamp() * 1e6)
    index = case.world.index
    by_words = LEXICAL if case.pool.sensed.any() else learned
    exact = any(letter.isdigit() for letter in case.query.text)
    ranking = rank(index, case.pool, learned, DEFAULT, now=now, latest=False, exact=exact, by_words=by_words)
    return ranking.first(index.columns.born).rows.tolist()


def evaluate(test: Sequence[Case], learned: Learned) -> dict[str, Numbers]:
    results: dict[str, list[list[float]]] = {}
    for case in test:
        results.setdefault(case.family, []).append(recall_at(case.world, case.query, ranked(case, learned)))
    return {family: np.array(rows) for family, rows in results.items()}


def cross_validate(everything: Sequence[Case]) -> dict[str, Numbers]:
    parts: dict[str, list[Numbers]] = {}
    for side in (0, 1):
        learned = Learned(weights=fit([case for case in everything if case.side != side]), scale=1.0, shift=0.0)
        for family, rows in evaluate([case for case in everything if case.side == side], learned).items():
            parts.setdefault(family, []).append(rows)
    return {family: np.concatenate(rows) for family, rows in parts.items()}


def families(locomo: Sequence[Conversation], beam: Sequence[Conversation]) -> dict[str, list[Mixture]]:
    alone: dict[str, list[Conversation]] = {
        "chats": list(locomo),
        "logs": list(beam),
        "chats as roles": [as_roles(conversation, number % 2) for number, conversation in enumerate(locomo)],
        "chats in blocks": [in_blocks(conversation) for conversation in locomo],
        "documents": [as_documents(conversation) for conversation in locomo],
        "user turns": [user_only(conversation) for conversation in beam],
    }
    found: dict[str, list[Mixture]] = {name: [(talk, ()) for talk in talks] for name, talks in alone.items()}
    for name, talks in (("chats", locomo), ("logs", beam)):
        found[f"facts in {name}"] = [_with_facts(talk, size) for talk in talks for size in _FACTS]
        found[f"{name} beside facts"] = [(talk, _with_facts(talk, size)[1]) for talk in talks for size in _FACTS[1:2]]
    found["notes"] = [_notes(number) for number in range(_NOTEBOOKS)]
    return found


def _notes(number: int) -> Mixture:
    """Notes that differ in a number alone, every so many topics of the tuning half, beside facts, and no talk."""
    alone, beside = _with_facts(replace(nobody(), name=f"notes {number}"), _FACTS[-1])
    tuned = [block for place, block in enumerate(load("numbers")) if half_of(place) == "tune"]
    pairs = list(pairs_of(tuned[number::_NOTEBOOKS]))
    names = {note: f"note {place}" for place, note in enumerate(dict.fromkeys(pair.note for pair in pairs))}
    notes = tuple(Stated(id=name, kind=Kind.FACT, text=note) for note, name in names.items())
    queries = tuple(
        Query(text=pair.question, gold=frozenset([names[pair.note]]), category=pair.topic) for pair in pairs
    )
    return replace(alone, queries=queries), (*notes, *beside)


def _with_facts(conversation: Conversation, size: int) -> Mixture:
    """The conversation with so many facts beside it, and their questions in place of its own."""
    drawn = draw([fact for fact in facts_of(conversation) if fact.half == "tune"], size, conversation.name)
    stated = tuple(Stated(id=f"fact {n}", kind=Kind(fact.kind), text=fact.text) for n, fact in enumerate(drawn))
    queries = tuple(
        Query(text=question, gold=frozenset([one.id]), category=fact.about)
        for one, fact in zip(stated, drawn, strict=True)
        for question in fact.questions
    )
    return replace(conversation, queries=queries), stated


def show(title: str, results: dict[str, Numbers]) -> None:
    for family, rows in results.items():
        print(
            f"{title:22s} {family:16s} {len(rows):5d}  " + "  ".join(f"{100 * x:5.1f}" for x in rows.mean(0)),
            flush=True,
        )


def write(models: dict[str, Learned], path: Path) -> None:
    text = path.read_text("utf-8")
    head, mark, old = text.partition("# numbers follow\n")
    kept = {block.split(" ", 1)[0]: block for block in old.split("\n\n") if block.strip()}
    for name, learned in models.items():
        told = {n: each for n, each in learned.weights.items() if name == "late" or not n.startswith("late")}
        rows = "".join(f'        "{n}": ({a:.4f}, {b:.4f}, {c:.4f}),\n' for n, (a, b, c) in told.items())
        numbers = f"    weights={{\n{rows}    }},\n    scale={learned.scale:.4f},\n    shift={learned.shift:.4f},\n"
        kept[name.upper()] = f"{name.upper()} = Learned(\n{numbers})"
    path.write_text(head + mark + "\n\n".join(block.strip() for block in kept.values()) + "\n", "utf-8")


def embedders(mode: str) -> tuple[Embedder | None, WordVectors | None]:
    if mode == "lexical":
        return None, None
    static = StaticEmbedder()
    if mode == "static":
        return static, static
    from haversack.embed.onnx import OnnxEmbedder

    embedder = OnnxEmbedder()
    return (embedder if mode == "late" else WithoutSigns(embedder)), static


class WithoutSigns:
    """An embedder that gives vectors alone."""

    def __init__(self, embedder: Embedder) -> None:
        self.model, self.dimension = embedder.model, embedder.dimension
        self.embed, self.embed_query = embedder.embed, embedder.embed_query


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--locomo", type=Path, required=True)
    parser.add_argument("--beam", type=Path, required=True)
    parser.add_argument("--modes", nargs="+", default=["lexical", "static"])
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    sets, models = families(load_locomo(options.locomo), load_beam(options.beam)), dict[str, Learned]()
    for mode in options.modes:
        embedder, words = embedders(mode)
        everything = [case for name, talks in sets.items() for case in cases(name, talks, embedder, words)]
        show(f"{mode}, held out", cross_validate(everything))
        models[mode] = calibrate(everything, fit(everything))
        show(f"{mode}, fitted", evaluate(everything, models[mode]))
    if options.write:
        write(models, options.write)


if __name__ == "__main__":
    main()
