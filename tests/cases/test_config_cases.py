"""Reported faults of settings, and of times in scoring, held against ours."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

import haversack
from haversack.compaction import CompactionConfig
from haversack.config import load_config
from haversack.errors import ConfigError, InputError
from haversack.lifecycle import DecayConfig
from haversack.model.times import Moment
from haversack.scoring.blend import RETRIEVAL

NOW = "2024-05-01T12:00:00Z"
SIX_HOURS_AGO: list[Moment] = [
    "2024-05-01T06:00:00",
    "2024-05-01T06:00:00Z",
    "2024-05-01T06:00:00+00:00",
    "2024-05-01T11:30:00+05:30",
    "2024-05-01T01:00:00-05:00",
    1714543200,
]


def loaded(tmp_path: Path, tree: object) -> haversack.Haversack:
    path = tmp_path / "settings.yaml"
    path.write_bytes(msgspec.json.encode(tree))
    return haversack.open(":memory:", config=load_config(path, {}), embedder="none")


@pytest.mark.parametrize(
    ("tree", "says"),
    [
        ({"memory": {"compaction": {"compaction_treshold": 0.7}}}, r"memory\.compaction\.compaction_treshold"),
        ({"memory": {"compaction": {"cooldown_turns": 3, "Cooldown_turns": 2}}}, "given twice"),
        ({"compaction_threshold": 0.7}, r"belongs at memory\.compaction\.compaction_threshold"),
        ({"engine": {"top_k": 5, "compaction": {"cooldown_turns": 1}}}, r"engine\.compaction"),
        ({"unknown_section": {}}, "unknown_section"),
        ({"memory": {"compaction": None}}, r"memory\.compaction must be a section"),
        ({"memory": {"compaction": []}}, r"memory\.compaction must be a section"),
    ],
)
def test_cfg_01_an_unknown_key_is_an_error_at_the_start(tmp_path: Path, tree: object, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        loaded(tmp_path, tree)


def test_cfg_01_a_mapping_is_read_like_a_file() -> None:
    with haversack.open(":memory:", embedder="none", config={"engine": {"budget": 7}}) as sack:
        assert sack.namespace("a").context("x").budget == 7
    with pytest.raises(ConfigError, match=r"engine\.bugdet: did you mean 'budget'"):
        haversack.open(":memory:", config={"engine": {"bugdet": 7}})


def test_cfg_01_constructors_know_their_arguments() -> None:
    with pytest.raises(TypeError, match="compaction_treshold"):
        CompactionConfig(compaction_treshold=0.7)  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize("ratio", [80, 1.5, 0, -0.1, float("nan")])
def test_cfg_03_a_trigger_is_a_share_of_the_window(ratio: float) -> None:
    with pytest.raises(ConfigError, match="compaction_threshold"):
        CompactionConfig(compaction_threshold=ratio)


def test_cfg_03_the_whole_window_is_allowed_and_a_target_lies_below_its_trigger() -> None:
    assert CompactionConfig(compaction_threshold=1.0).compaction_threshold == 1.0
    for trigger, target in ((0.6, 0.8), (0.8, 0.8)):
        with pytest.raises(ConfigError, match="target_utilization"):
            CompactionConfig(compaction_threshold=trigger, target_utilization=target)


def test_cfg_03_a_reserve_leaves_room(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="output_buffer=200000"):
        loaded(tmp_path, {"memory": {"context_window": 200_000, "output_buffer": 200_000}})


@pytest.mark.parametrize("days", [0, -1])
def test_cfg_03_a_half_life_is_positive(days: int) -> None:
    with pytest.raises(ConfigError, match="half_life"):
        DecayConfig(half_life_hours={haversack.Kind.FACT: 24.0 * days})


@pytest.mark.parametrize("importance", [1.2, -0.2])
def test_cfg_03_importance_lies_between_0_and_1(importance: float) -> None:
    with haversack.open(":memory:", embedder="none") as sack, pytest.raises(InputError, match="importance"):
        sack.namespace("a").remember("x", importance=importance)


def test_cfg_03_k_is_not_negative() -> None:
    with haversack.open(":memory:", embedder="none") as sack, pytest.raises(InputError, match="top_k"):
        sack.namespace("a").recall("x", top_k=-5)


@pytest.mark.parametrize(
    "weights",
    [
        {"relevance": 0, "importance": 0, "recency": 0},
        {"relevance": -1, "importance": 2},
        {"recency": float("nan")},
        {"recency_days": 0},
    ],
)
def test_cfg_03_weights_are_positive_and_not_all_zero(weights: dict[str, float]) -> None:
    with haversack.open(":memory:", embedder="none") as sack, pytest.raises(InputError, match="weights"):
        sack.namespace("a").recall("x", weights=weights)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_time_01_one_instant_has_one_age_however_it_is_written(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        scores: set[float] = set()
        with haversack.open(":memory:", embedder="none") as sack:
            for number, moment in enumerate(SIX_HOURS_AGO):
                ns = sack.namespace(f"n{number}")
                kept = ns.remember("tea at four", event_time=moment)
                assert (datetime(2024, 5, 1, 12, tzinfo=UTC) - kept.event_time).total_seconds() == 21_600
                scores.add(ns.recall("tea", now=NOW, weights=RETRIEVAL)[0].score)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert len(scores) == 1
