"""Conversations with questions whose evidence is known, read from files that the user names.

Three shapes are read: LoCoMo (one JSON list), BEAM (one JSON list, gzipped or not), and JSON lines of one's own:
`{"name": …, "turns": [{"id": …, "session": …, "speaker": …, "text": …, "at": …}], "questions": [{"text": …, "gold":
[turn ids], "category": …}]}`, one conversation to a line. Only `id`, `text` and `gold` need to be there; a turn without
`at` was said when the one before it was.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from haversack.errors import InputError, NotFoundError
from haversack.model.text import clean, is_blank
from haversack.model.times import read_time

__all__ = ["Conversation", "Query", "Said", "load", "load_beam", "load_locomo"]


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
_ADVERSARIAL = 5
"""LoCoMo's category of questions that the conversation does not answer."""
_SHAPES = "is no LoCoMo, BEAM or own file of conversations with gold"
_MARKER = re.compile(r"(?<!\s)\s*+->->[\d,\s]*+$")


def load(path: Path) -> list[Conversation]:
    """The conversations of a file in whichever shape it has; raises InputError for what is none of the three."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise NotFoundError(f"there is no file at {path}") from None
    try:
        text = (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode("utf-8")
        items = json.loads(text) if text.lstrip().startswith("[") else list(_lines(text))
        found = [_one(item) for item in items]
    except KeyError as error:
        raise InputError(f"{path} {_SHAPES}: one has no {error}") from None
    except (OSError, EOFError, zlib.error, ValueError, TypeError, AttributeError, InputError) as error:
        raise InputError(f"{path} {_SHAPES}: {error}") from None
    if not any(talk.queries for talk in found):
        raise InputError(f"{path} holds no question whose evidence is among its turns")
    return found


def _lines(text: str) -> Iterator[Any]:
    for number, row in enumerate(text.split("\n"), 1):
        if row.strip():
            try:
                yield json.loads(row)
            except ValueError as error:
                raise InputError(f"line {number} is not JSON: {error}") from None


def _one(item: Mapping[str, Any]) -> Conversation:
    if "qa" in item:
        return _locomo(item)
    return _beam(item) if "probing_questions" in item else _own(item)


def _own(item: Mapping[str, Any]) -> Conversation:
    turns, at = dict[str, Said](), _UNDATED
    for turn in item["turns"]:
        name, at = str(turn["id"]), at if turn.get("at") is None else read_time(turn["at"], "at")
        if name in turns:
            raise InputError(f"two turns have the id {name}")
        turns[name] = Said(
            id=name,
            session=str(turn.get("session", "session")),
            speaker=str(turn.get("speaker") or "user"),
            text=clean(turn["text"], "text"),
            at=at,
        )
    queries = (
        Query(
            text=_question(question["text"]),
            gold=frozenset(map(str, _listed(question["gold"]))) & turns.keys(),
            category=str(question.get("category", "all")),
        )
        for question in item["questions"]
    )
    return Conversation(
        name=str(item.get("name", "conversation")),
        turns=tuple(turns.values()),
        queries=tuple(query for query in queries if query.gold),
    )


def _question(text: Any) -> str:
    if is_blank(words := clean(text, "text")):
        raise InputError("a question is blank")
    return words


_UNDATED = datetime(2024, 1, 1, tzinfo=UTC)


def _listed(gold: Any) -> Iterable[Any]:
    return cast("list[Any]", gold) if isinstance(gold, list) else [gold]


def load_locomo(path: Path) -> list[Conversation]:
    """LoCoMo without its adversarial questions and those without a valid evidence id."""
    return [_locomo(item) for item in json.loads(path.read_text("utf-8"))]


def load_beam(path: Path) -> list[Conversation]:
    """BEAM without abstention."""
    return [_beam(item) for item in json.loads(gzip.decompress(path.read_bytes()))]


def _locomo(item: Mapping[str, Any]) -> Conversation:
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
    queries: list[Query] = []
    for question in item["qa"]:
        named = {f"D{int(a)}:{int(b)}" for text in question["evidence"] for a, b in _ID.findall(text)}
        gold = frozenset(named & known)
        if question["category"] != _ADVERSARIAL and gold:
            queries.append(Query(text=question["question"], gold=gold, category=str(question["category"])))
    return Conversation(name=item["sample_id"], turns=tuple(turns), queries=tuple(queries))


def _beam(item: Mapping[str, Any]) -> Conversation:
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
    queries: list[Query] = []
    for category, questions in item["probing_questions"].items():
        for question in questions if category != "abstention" else ():
            gold = frozenset(map(str, _flat(question.get("source_chat_ids")))) & known
            if gold:
                queries.append(Query(text=question["question"], gold=gold, category=category))
    return Conversation(name=str(item["id"]), turns=tuple(turns), queries=tuple(queries))


def _flat(value: object) -> list[int]:
    if isinstance(value, int):
        return [value]
    inner = cast("Mapping[str, object]", value).values() if isinstance(value, Mapping) else value
    return [leaf for each in cast("list[object]", inner) for leaf in _flat(each)] if isinstance(inner, Iterable) else []
