"""The handed cases of retrieval, by their ids, through the public face where they have one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

import haversack
from haversack.embed.embedder import Vectors
from haversack.errors import InputError, QueryError

NOW = datetime(2026, 6, 1, tzinfo=UTC)
MODES = ["default", "none"]

SYNTAX = [
    "re-index job notes",
    "the band plays rock'n'roll",
    "FIXME: parser drops commas",
    "rollout v3.1 finished",
    "db:5432 is reachable",
    "C++ build flags",
    "link speed is 40 MB/s",
    "do NOT restart",
    "AND gate wiring",
    "a NEAR miss report",
]
SYNTAX_HITS = {
    "re-index": 0,
    "rock'n'roll": 1,
    "FIXME: parser": 2,
    "v3.1 rollout": 3,
    "db:5432": 4,
    "C++": 5,
    "MB/s": 6,
    "NOT": 7,
    "AND": 8,
    "NEAR(": 9,
    "(parser": 2,
    '"parser': 2,
}
ODD = ["*", "-", "^", '"', "()", "col:val", "' OR 1=1 --", "a AND", "100%", "parser\x00zzz"]

EAST_ASIAN = ["明日は図書館で会議をする", "本周五交付季度报告", "회의는 오후 세시에 시작한다", "服务器清单 NAS srv-01"]
EAST_ASIAN_HITS = {
    "図書館": 0,
    "会議": 0,
    "季度报告": 1,
    "报告": 1,
    "오후": 2,
    "회의": 2,
    "清单": 3,
    "NAS": 3,
}


class Angles:
    """Texts that are angles, as unit vectors."""

    model = "angles"
    dimension = 2

    def __init__(self) -> None:
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        angles = [float(text.removeprefix("at ")) for text in texts]
        return np.array([[math.cos(a), math.sin(a)] for a in angles], np.float32).reshape(len(texts), 2)

    def embed_query(self, text: str) -> Vectors:
        return self.embed([text])[0]


@pytest.mark.parametrize("mode", MODES)
def test_ret_01_a_query_is_words(mode: str) -> None:
    with haversack.open(":memory:", embedder=mode) as sack:
        ns = sack.namespace("n")
        kept = [ns.remember(text, kind="fact") for text in SYNTAX]
        for query, place in SYNTAX_HITS.items():
            assert ns.recall(query, now=NOW)[0].id == kept[place].id, query
        for query in ODD:
            ns.recall(query, now=NOW)
        assert ns.recall("parser\x00zzz", now=NOW)[0].id == kept[2].id


@pytest.mark.parametrize("query", ["", "   ", "\t\n", "\u200b", "\u00ad\u200e", "\u2800\u3164", "\ufe0f\u3000\x7f"])
def test_ret_03_a_blank_query_is_refused_unembedded(query: str) -> None:
    embedder = Angles()
    with haversack.open(":memory:", embedder=embedder) as sack:
        ns = sack.namespace("n")
        for n in range(5):
            ns.remember(f"at {n}", kind="passage")
        calls = embedder.calls
        with pytest.raises(QueryError):
            ns.recall(query)
        with pytest.raises(QueryError):
            ns.context(query, budget=100)
        assert embedder.calls == calls


@pytest.mark.parametrize("mode", MODES)
def test_ret_04_scripts_without_spaces(mode: str) -> None:
    with haversack.open(":memory:", embedder=mode) as sack:
        ns = sack.namespace("n")
        kept = [ns.remember(text, kind="fact") for text in EAST_ASIAN]
        for query, place in EAST_ASIAN_HITS.items():
            assert kept[place].id in [hit.id for hit in ns.recall(query, now=NOW)], query
        assert [hit.id for hit in ns.recall("报告", now=NOW)] == [kept[1].id]


def test_ret_05_higher_is_better() -> None:
    with haversack.open(":memory:", embedder=Angles()) as sack:
        ns = sack.namespace("n")
        angles = [0.0, math.acos(0.8), math.acos(0.6), math.pi / 2, math.pi]
        kept = [ns.remember(f"at {angle:.12f}", kind="passage").id for angle in angles]
        hits = ns.recall(f"{0.0:.12f}", top_k=3, now=NOW)
        assert [hit.id for hit in hits] == kept[:3]
        assert 1 >= hits[0].score > hits[1].score > hits[2].score >= 0


def test_ret_08_more_than_there_is_and_filters_before_the_search() -> None:
    with haversack.open(":memory:", embedder=Angles()) as sack:
        few = sack.namespace("few")
        for n in range(3):
            few.remember(f"at {n / 10:.3f}", kind="passage")
        assert [len(few.recall("0.000", top_k=k, now=NOW)) for k in (10, 3, 1, 0)] == [3, 3, 1, 0]
        with pytest.raises(InputError):
            few.recall("0.000", top_k=-1, now=NOW)
        many = sack.namespace("many")
        many.remember_many({"content": f"at {n / 1000:.3f}", "kind": "passage", "tags": ["b"]} for n in range(1000))
        angles = (1.40, 1.41, 1.42, 1.43, 1.44)
        wanted = many.remember_many({"content": f"at {a:.2f}", "kind": "passage", "tags": ["a"]} for a in angles)
        hits = many.recall("0.000", top_k=5, tags=["a"], now=NOW)
        assert [hit.id for hit in hits] == [memory.id for memory in wanted]
        assert many.recall("0.000", top_k=5, tags=["c"], now=NOW) == []
