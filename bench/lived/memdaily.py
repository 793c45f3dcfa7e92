"""MemDaily: short Chinese messages with questions, from files that the caller has (github nuster1128/MemSim).

Read are `memdaily.json` and the files of its parts: lists, in mappings or not, of trajectories with `message_list`
and `question_list`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from haversack.evaluation.conversations import Conversation, Query, Said

__all__ = ["load"]

_TIME = re.compile(r"(\d+)年(\d+)月(\d+)日\D*(\d+):(\d+)")
_UNDATED = datetime(2024, 1, 1, tzinfo=UTC)


def load(path: Path) -> list[Conversation]:
    """Return its trajectories; the user says every message, in one session a day. Ids are unique in the file."""
    data = json.loads(path.read_text("utf-8"))
    return [_conversation(f"{path.stem} {number}", item) for number, item in enumerate(_trajectories(data))]


def _trajectories(data: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(data, dict) and "message_list" in data:
        yield cast("Mapping[str, Any]", data)
    elif isinstance(data, dict | list):
        inner = cast("dict[str, object]", data).values() if isinstance(data, dict) else cast("list[object]", data)
        for each in inner:
            yield from _trajectories(each)


def _conversation(name: str, item: Mapping[str, Any]) -> Conversation:
    turns: list[Said] = []
    for message in item["message_list"]:
        at = _moment(message.get("time"))
        if turns and at <= turns[-1].at:
            at = turns[-1].at + timedelta(seconds=1)
        turns.append(
            Said(
                id=f"{name}/{message['mid']}",
                session=f"{name} {at:%Y-%m-%d}",
                speaker="user",
                text=message["message"],
                at=at,
            )
        )
    known = {turn.id for turn in turns}
    queries = (
        Query(
            text=question["question"],
            gold=frozenset(f"{name}/{step}" for step in question["target_step_id"]) & known,
            category=name.rpartition(" ")[0],
        )
        for question in item["question_list"]
    )
    return Conversation(name=name, turns=tuple(turns), queries=tuple(query for query in queries if query.gold))


def _moment(text: str | None) -> datetime:
    found = _TIME.search(text or "")
    return _UNDATED if found is None else datetime(*(int(part) for part in found.groups()), tzinfo=UTC)  # pyright: ignore[reportArgumentType]
