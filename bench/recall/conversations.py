"""The public conversations of the measurement, read from files that the user names: turns and questions with gold."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

__all__ = ["Conversation", "Query", "Said", "load_beam", "load_locomo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One turn."""

    id: str
    session: str
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One question and the turns that answer it."""

    text: str
    gold: frozenset[str]
    category: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One long conversation with its questions."""

    name: str
    turns: tuple[Said, ...]
    queries: tuple[Query, ...]


_ID = re.compile(r"D:?(\d+):(\d+)")
_MARKER = re.compile(r"\s*->->\s*[\d,\s]*$")


def load_locomo(path: Path) -> list[Conversation]:
    """LoCoMo without its adversarial questions and those without a valid evidence id."""
    return [_locomo(item) for item in json.loads(path.read_text("utf-8"))]


def load_beam(path: Path) -> list[Conversation]:
    """BEAM without abstention."""
    return [_beam(item) for item in json.loads(gzip.decompress(path.read_bytes()))]


def _locomo(item: dict[str, Any]) -> Conversation:
    talk, turns = item["conversation"], list[Said]()
    for number in range(1, 100):
        session = talk.get(f"session_{number}")
        if session is None:
            continue
        at = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for place, turn in enumerate(session):
            caption = turn.get("blip_caption")
            text = turn["text"] + (f"\n[image: {caption}]" if caption else "")
            turns.append(
                Said(
                    id=turn["dia_id"],
                    session=f"session_{number}",
                    speaker=turn["speaker"],
                    text=text,
                    at=at + timedelta(seconds=place),
                )
            )
    known = {turn.id for turn in turns}
    queries = []
    for question in item["qa"]:
        named = {f"D{int(a)}:{int(b)}" for text in question["evidence"] for a, b in _ID.findall(text)}
        gold = frozenset(named & known)
        if question["category"] != 5 and gold:
            queries.append(Query(text=question["question"], gold=gold, category=str(question["category"])))
    return Conversation(name=item["sample_id"], turns=tuple(turns), queries=tuple(queries))


def _beam(item: dict[str, Any]) -> Conversation:
    turns, at = list[Said](), datetime(2024, 1, 1, tzinfo=UTC)
    for batch in item["chat"]:
        for group in batch["turns"]:
            for turn in group:
                anchor = turn.get("time_anchor")
                if anchor:
                    at = datetime.strptime(anchor, "%B-%d-%Y").replace(tzinfo=UTC)
                at += timedelta(seconds=1)
                text = _MARKER.sub("", turn["content"])
                turns.append(
                    Said(
                        id=str(turn["id"]),
                        session=f"batch_{batch['batch_number']}",
                        speaker=turn["role"],
                        text=text,
                        at=at,
                    )
                )
    known = {turn.id for turn in turns}
    queries = []
    for category, questions in item["probing_questions"].items():
        for question in questions if category != "abstention" else ():
            gold = frozenset(map(str, _flat(question.get("source_chat_ids")))) & known
            if gold:
                queries.append(Query(text=question["question"], gold=gold, category=category))
    return Conversation(name=str(item["id"]), turns=tuple(turns), queries=tuple(queries))


def _flat(value: object) -> list[int]:
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in _flat(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in _flat(inner)]
    return [value] if isinstance(value, int) else []
