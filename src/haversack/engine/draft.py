"""From a caller's words to a memory: every argument is checked here, once. Nothing is stored here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Any, TypedDict, TypeVar, cast

import msgspec

from haversack.engine.arguments import several
from haversack.errors import InputError, nearest
from haversack.model.memory import Fields, Json, Kind, Memory, Metadata, Source, Trust
from haversack.model.query import Filter
from haversack.model.text import clean, is_blank, label
from haversack.model.times import Moment, read_range, read_time
from haversack.scoring.blend import DEFAULT, RETRIEVAL, SIMILARITY, Weights

__all__ = [
    "Conditions",
    "Details",
    "draft_memory",
    "read_choice",
    "read_filter",
    "read_ids",
    "read_metadata",
    "read_names",
    "read_subject",
    "read_unit",
    "read_weights",
    "refuse_unknown",
]

_Closed = TypeVar("_Closed", bound=StrEnum)
_MOST_NAMES = 1_000
"""Entities, and tags, of one memory or filter."""
_MOST_ORIGINS = 10_000
"""Memories, and turns, that one memory is made of."""
_DEEPEST = 100
"""Levels of metadata; deeper ones are a fault of whoever made them."""
_WEIGHTS = {"default": DEFAULT, "balanced": RETRIEVAL, "similarity": SIMILARITY}


class Details(TypedDict, total=False):
    """What may be said of a memory beside its content; `remember` takes them as keywords."""

    kind: Kind | str
    speaker: str
    importance: float
    confidence: float
    trust: Trust | str
    entities: Iterable[str]
    """At most 1,000."""
    tags: Iterable[str]
    """At most 1,000."""
    metadata: Mapping[str, Any]
    pinned: bool
    source: Source | Mapping[str, Any] | None
    """Where it comes from; of at most 10,000 memories and as many turns."""
    event_time: Moment | None
    valid_from: Moment | None
    valid_to: Moment | None
    expires_at: Moment | None


class Conditions(TypedDict, total=False):
    """The filters that every read takes as keywords."""

    kinds: Iterable[Kind | str] | Kind | str | None
    tags: Iterable[str] | str | None
    session: str | None
    since: Moment | None
    until: Moment | None
    """The first moment that is left out, or a date, whose whole day is taken in."""
    where: Mapping[str, Any] | None
    as_of: Moment | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What the engine gives a new memory: its id and the time of storing."""

    id: str
    now: datetime
    zone: tzinfo = UTC
    """Where the days begin that are named without a time."""


def draft_memory(content: str, stamp: Stamp, details: Details) -> Memory:
    """A checked memory. Raises InputError that names the argument, its value and what is allowed."""
    refuse_unknown(details, Details.__annotations__, "field")
    text = clean(content, "content")
    if is_blank(text):
        raise InputError("content must not be blank: there is nothing to remember")
    source = details.get("source")
    return Memory(
        id=stamp.id,
        kind=read_choice(Kind, details.get("kind", Kind.FACT), "kind"),
        content=text,
        speaker=_speaker(details.get("speaker", "")),
        created_at=stamp.now,
        event_time=_moment(details.get("event_time"), "event_time", stamp.zone) or stamp.now,
        importance=read_unit(details.get("importance", 0.5), "importance"),
        confidence=read_unit(details.get("confidence", 1.0), "confidence"),
        trust=read_choice(Trust, details.get("trust", Trust.MANUAL), "trust"),
        entities=read_names(details.get("entities"), "entities"),
        tags=read_names(details.get("tags"), "tags"),
        metadata=read_metadata(details.get("metadata")),
        pinned=_flag(details.get("pinned", False), "pinned"),
        source=_source(source),
        **_validity(details, stamp.zone),
    )


class _Validity(TypedDict):
    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None


def _validity(details: Details, zone: tzinfo) -> _Validity:
    start = _moment(details.get("valid_from"), "valid_from", zone)
    end = _moment(details.get("valid_to"), "valid_to", zone)
    gone = _moment(details.get("expires_at"), "expires_at", zone)
    if start and end and end <= start:
        raise InputError(f"valid_to={end.isoformat()} must be later than valid_from={start.isoformat()}")
    return _Validity(valid_from=start, valid_to=end, expires_at=gone)


def read_filter(conditions: Conditions, zone: tzinfo) -> Filter:
    """A checked filter from the keywords that every read takes; days begin in `zone`."""
    refuse_unknown(conditions, Conditions.__annotations__, "filter")
    kinds = conditions.get("kinds")
    session = conditions.get("session")
    since, until = read_range(conditions.get("since"), conditions.get("until"), zone)
    return Filter(
        kinds=None if kinds is None else frozenset(read_choice(Kind, one, "kinds") for one in several(kinds, "kinds")),
        tags=frozenset(read_names(conditions.get("tags"), "tags")),
        session=None if session is None else label(session, "session"),
        since=since,
        until=until,
        where=tuple(read_metadata(conditions.get("where"), "where").items()),
        as_of=_moment(conditions.get("as_of"), "as_of", zone),
    )


def read_subject(subject: str) -> str:
    """What a statement is about, in the one form in which subjects are compared."""
    return label(subject, "subject").strip().casefold()


def read_ids(ids: str | Iterable[str] | None, what: str = "memory_id") -> tuple[str, ...]:
    """One id, several, or none."""
    given = () if ids is None else (ids,) if isinstance(ids, str) else ids
    listed = tuple(given) if isinstance(given, Iterable) else (given,)  # pyright: ignore[reportUnnecessaryIsInstance]
    for name in listed:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"{what} must be the id of a memory, or a list of ids, not {type(name).__name__}")
    return listed


def read_weights(choice: str | Weights | Mapping[str, float]) -> Weights:
    """Weights by name, as they are, or as numbers that replace those of `balanced`."""
    if isinstance(choice, Weights):
        return choice
    if isinstance(choice, Mapping):
        refuse_unknown(choice, [part.name for part in fields(Weights)], "weight")
        return replace(RETRIEVAL, **choice)
    if not isinstance(choice, str) or choice not in _WEIGHTS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"unknown weights {choice!r}: {nearest(str(choice), _WEIGHTS)}")
    return _WEIGHTS[choice]


def refuse_unknown(given: Iterable[str], known: Iterable[str], what: str) -> None:
    """Raise InputError for the first name that is not known; the message names the nearest one."""
    for name in given:
        if name not in known:
            raise InputError(f"unknown {what} {name!r}: {nearest(name, known)}")


def read_choice(choices: type[_Closed], value: str, what: str) -> _Closed:
    """A member of a closed choice; the error names the nearest one."""
    try:
        return choices(value)
    except ValueError:
        raise InputError(f"unknown {what} {value!r}: {nearest(str(value), list(choices))}") from None


def read_unit(value: float, what: str) -> float:
    """A number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"{what}={value!r} must be a number from 0 to 1")
    if not 0 <= value <= 1:
        raise InputError(f"{what}={value!r} is out of range: it must be from 0 to 1")
    return float(value)


def read_names(names: Iterable[str] | None, what: str) -> tuple[str, ...]:
    """Checked labels without repeats, in the order given; one string is one name."""
    if names is None:
        return ()
    found = tuple(dict.fromkeys(label(name, what) for name in several(names, what)))
    return _few(found, what, _MOST_NAMES)


def _few(listed: tuple[str, ...], what: str, most: int) -> tuple[str, ...]:
    if len(listed) > most:
        raise InputError(f"{what} lists {len(listed):,}; at most {most:,} are allowed")
    return listed


def read_metadata(metadata: Mapping[str, Any] | None, what: str = "metadata") -> Metadata:
    """JSON data under string keys, cleaned and unshared; raises InputError for what JSON cannot say."""
    if not metadata:
        return Fields()
    if not isinstance(metadata, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"{what} must be a mapping, not {type(metadata).__name__}")
    try:
        plain = msgspec.json.decode(msgspec.json.encode(_clean_json(dict(metadata), what)))
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must hold JSON data: {error}") from None
    return Fields(cast("dict[str, Json]", plain))


def _clean_json(value: object, what: str, depth: int = 0) -> object:
    if depth > _DEEPEST:
        raise InputError(f"{what} is nested more than {_DEEPEST} deep")
    match value:
        case str():
            return clean(value, what)
        case float() if not math.isfinite(value):
            raise InputError(f"{what} holds {value!r}, which JSON cannot say")
        case Mapping():
            pairs = cast("Mapping[object, object]", value).items()
            return {_key(key, what): _clean_json(item, what, depth + 1) for key, item in pairs}
        case list() | tuple():
            return [_clean_json(item, what, depth + 1) for item in cast("list[object]", value)]
        case _ if issubclass(kind := type(value), set | frozenset | bytes | bytearray | memoryview):
            raise InputError(f"{what} holds a {kind.__name__}, which JSON cannot say")
        case _:
            return value


def _key(key: object, what: str) -> str:
    if not isinstance(key, str):
        raise InputError(f"{what} has the key {key!r}; keys must be strings")
    return clean(key, what)


def _moment(value: Moment | None, field: str, zone: tzinfo) -> datetime | None:
    return None if value is None else read_time(value, field, zone)


def _speaker(name: str) -> str:
    return label(name, "speaker") if name else ""


def _flag(value: bool, what: str) -> bool:  # noqa: FBT001 - it is the value under test
    if not isinstance(value, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"{what}={value!r} must be True or False")
    return value


def _source(given: Source | Mapping[str, Any] | None) -> Source:
    source = _read_source(given)
    for name in ("turns", "memories"):
        _few(getattr(source, name), f"source.{name}", _MOST_ORIGINS)
    return source


def _read_source(source: Source | Mapping[str, Any] | None) -> Source:
    match source:
        case None:
            return Source()
        case Source():
            return replace(source, turns=tuple(source.turns), memories=tuple(source.memories))
        case Mapping():
            refuse_unknown(source, [part.name for part in fields(Source)], "field of source")
            try:
                return msgspec.convert(dict(source), Source)
            except msgspec.ValidationError as error:
                raise InputError(f"source: {error}") from None
        case _:  # pyright: ignore[reportUnnecessaryComparison]
            raise InputError(f"source must be a Source or a mapping with its fields, not {type(source).__name__}")
