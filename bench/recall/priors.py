"""What trust and entities are worth, on generated memories with known answers.

    python -m bench.recall.priors

Who is related to whom stands in relations, where they work and what they like in facts; half of these do not say the
name, only list it. Two steps lead to the answer of "Where does the sister of Maria work?". In a conflict two memories
say different things with the same words, one of them extracted, the other a correction, a manual entry or verified.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from typing import Any

import haversack
from haversack.recall import entities, priors

_FIRST = (
    "Maria Lena Tomas Aiko Jonas Priya Omar Greta Ivan Nadia Pablo Sofia Emil Ruth Hugo Wanda Yusuf Clara Felix Mina"
)
_LAST = "Arden Bosch Cerny Duarte Eklund Farkas Grieg Holm Ibarra Jansen"
_TIES = "sister brother neighbour colleague cousin dentist"
_PLACES = "bakery harbour museum school clinic library garage theatre brewery airport"
_LIKES = "chess gliding opera cycling baking sailing pottery fencing"
_TRUSTS = ("correction", "manual", "verified")
_TRIED = ((0.0, 0.5), (2.0, 0.5), (4.0, 0.5), (4.0, 0.75), (6.0, 0.5))
"""Weights of entities, and what a step counts."""
_NOW = "2026-06-01T00:00:00Z"


def _world(chance: random.Random) -> tuple[list[dict[str, Any]], list[tuple[str, str, str]]]:
    """Memories, and (sort of question, question, words of its answer)."""
    people = [f"{first} {last}" for first, last in product(_FIRST.split(), _LAST.split())]
    chance.shuffle(people)
    made: list[dict[str, Any]] = []
    asked: list[tuple[str, str, str]] = []
    for one, other in zip(people[::2], people[1::2], strict=True):
        tie, place, like = (chance.choice(words.split()) for words in (_TIES, _PLACES, _LIKES))
        number = len(made)
        subject = other if chance.random() < 0.5 else "This person"
        works = f"{subject} has worked at the {place} since {1990 + number % 30}, room {number}"
        likes = f"{subject} goes {like} every {chance.choice(['Monday', 'Tuesday', 'Friday'])}, group {number}"
        made += [
            {"content": f"{other} is the {tie} of {one}", "kind": "relation", "entities": [one, other]},
            {"content": works, "kind": "fact", "entities": [other]},
            {"content": likes, "kind": "fact", "entities": [other]},
            {"content": f"{one} works at the {chance.choice(_PLACES.split())}, desk {number}", "kind": "fact"},
        ]
        asked += [
            ("two steps", f"Where does the {tie} of {one} work?", works),
            ("one step", f"Where does {other} work?", works),
            ("no step", f"Who is the {tie} of {one}?", f"{other} is the {tie} of {one}"),
            ("no name", f"Who is at the {place} in room {number}?", works),
        ]
    return made, asked


def _conflicts(chance: random.Random) -> Iterator[tuple[list[dict[str, Any]], str, str]]:
    """Two memories each, a question, and the words of the one to be believed; the other came later."""
    for number, trust in product(range(40), _TRUSTS):
        name, one, other = f"Team {number} {trust}", *chance.sample(_PLACES.split(), 2)
        told = f"{name} meets at the {one}"
        old = {"content": told, "trust": trust, "kind": "fact", "event_time": "2026-01-01T00:00:00Z"}
        new = {"content": f"{name} meets at the {other}", "trust": "extracted", "kind": "fact", "event_time": _NOW}
        yield [old, new], f"Where does {name} meet?", told


def _share(ns: haversack.Namespace, asked: list[tuple[str, str]], top: int) -> float:
    ns.index()
    found = ([hit.content for hit in ns.recall(question, top_k=top, now=_NOW)] for question, _ in asked)
    return sum(answer in contents for contents, (_, answer) in zip(found, asked, strict=True)) / len(asked)


def main() -> None:
    for embedder in ("none", "default"):
        _entities(embedder)
        _trust(embedder)


def _entities(embedder: str) -> None:
    with haversack.open(":memory:", embedder=embedder) as sack:
        ns = sack.namespace("entities")
        made, questions = _world(random.Random(1))
        ns.remember_many([{**one, "event_time": _NOW} for one in made])
        print(f"{embedder}: share of answers among the first 1 / 5 / 20 of {len(made)}")
        for weight, step in _TRIED:
            setattr(priors, "_ENTITIES", weight)  # noqa: B010 - a private number, tried out
            setattr(entities, "_STEP", step)  # noqa: B010
            shares = [
                f"{sort} " + " / ".join(f"{_share(ns, asked, top):.2f}" for top in (1, 5, 20))
                for sort in ("two steps", "one step", "no step", "no name")
                if (asked := [(question, answer) for kind, question, answer in questions if kind == sort])
            ]
            print(f"  entities {weight}, a step {step}:", ", ".join(shares))


def _trust(embedder: str) -> None:
    with haversack.open(":memory:", embedder=embedder) as sack:
        ns = sack.namespace("trust")
        made, asked = list[dict[str, Any]](), list[tuple[str, str]]()
        for pair, question, answer in _conflicts(random.Random(2)):
            made += pair
            asked.append((question, answer))
        single = [f"Depot {number} opens at {number % 12}" for number in range(60)]
        made += [{"content": one, "kind": "fact", "trust": "extracted", "event_time": _NOW} for one in single]
        made += [{"content": f"Stand {n} opens at {n % 12}", "kind": "fact", "event_time": _NOW} for n in range(60)]
        ns.remember_many(made)
        alone = [(f"When does depot {number} open?", one) for number, one in enumerate(single)]
        for weight in (0.0, 0.3, 0.6, 0.9, 1.2, 2.4):
            setattr(priors, "_TRUST", weight)  # noqa: B010
            by_trust = ", ".join(f"{trust} {_share(ns, asked[n::3], 1):.2f}" for n, trust in enumerate(_TRUSTS))
            print(f"  trust {weight}: believed {by_trust}; extracted alone {_share(ns, alone, 1):.2f}")


if __name__ == "__main__":
    main()
