"""How many of the exact fifty nearest memories a similarity search returns, with and without filters.

The reference never meets the index: float32 vectors, one numpy product, a mask, the fifty highest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

import haversack
from bench.options import Options
from bench.speed.corpus import NOW, questions, times, turns
from bench.table import Table
from haversack import Namespace
from haversack.embed.embedder import Vectors
from haversack.embed.static import StaticEmbedder

__all__ = ["run"]

_SIZES = (1_000, 10_000, 100_000)
_MILLION = 1_000_000
_BATCH = 10_000
_TOP = 50
_ASKED = 20
_EVERY_KIND, _EVERY_TAG, _LATEST = 3, 10, 0.05
_FILTERS = ("none", "kind", "tag", "time", "all three")


@dataclass(frozen=True, slots=True, kw_only=True)
class _World:
    ns: Namespace
    row: Mapping[str, int]
    """By memory id."""
    vectors: Vectors
    size: int


def run(options: Options) -> Iterator[Table]:
    embedder = StaticEmbedder()
    sizes = (*_SIZES, _MILLION) if options.full else _SIZES
    yield Table(
        name="nearest",
        title=f"Share of the exact {_TOP} nearest that similarity search returns, default embedder, {_ASKED} questions",
        columns=("memories", *(f"filter: {name}" for name in _FILTERS)),
        rows=tuple((f"{size:,}", *_row(size, embedder)) for size in sizes),
        notes=("a third of the memories have the kind, a tenth the tag, a twentieth the time",),
    )


def _row(size: int, embedder: StaticEmbedder) -> list[float]:
    with haversack.open(":memory:", embedder=embedder) as sack:
        world = _fill(sack.namespace("bench"), size, embedder)
        asked = questions(_ASKED)
        return [fmean(_share(world, name, text, embedder.embed_query(text)) for text in asked) for name in _FILTERS]


def _fill(ns: Namespace, size: int, embedder: StaticEmbedder) -> _World:
    texts, told, ids = turns(size), list(times(size)), list[str]()
    for start in range(0, size, _BATCH):
        batch = range(start, min(size, start + _BATCH))
        ids += [memory.id for memory in ns.remember_many([_memory(n, texts[n], told[n]) for n in batch])]
    return _World(ns=ns, row={key: n for n, key in enumerate(ids)}, vectors=embedder.embed(texts), size=size)


def _memory(number: int, text: str, at: object) -> dict[str, object]:
    return {
        "content": text,
        "kind": "passage" if number % _EVERY_KIND else "decision",
        "tags": [] if number % _EVERY_TAG else ["tenth"],
        "event_time": at,
    }


def _share(world: _World, name: str, text: str, vector: Vectors) -> float:
    mask, chosen = _filter(world, name)
    exact = np.where(mask, world.vectors @ vector, -2)
    count = min(_TOP, int(mask.sum()))
    least = np.partition(exact, -count)[-count]
    hits = world.ns.recall(text, top_k=_TOP, weights="similarity", now=NOW, **chosen)
    return sum(bool(exact[world.row[hit.id]] >= least) for hit in hits) / count


def _filter(world: _World, name: str) -> tuple[NDArray[np.bool_], dict[str, Any]]:
    numbers = np.arange(world.size)
    first = world.size - max(_TOP, int(world.size * _LATEST))
    since = list(times(world.size))[first]
    masks = {"kind": numbers % _EVERY_KIND == 0, "tag": numbers % _EVERY_TAG == 0, "time": numbers >= first}
    filters: dict[str, dict[str, Any]] = {
        "kind": {"kinds": ["decision"]},
        "tag": {"tags": ["tenth"]},
        "time": {"since": since},
    }
    used = list(masks) if name == "all three" else [name] if name in masks else []
    mask = np.logical_and.reduce([masks[each] for each in used]) if used else np.ones(world.size, np.bool_)
    return mask, {key: value for each in used for key, value in filters[each].items()}
