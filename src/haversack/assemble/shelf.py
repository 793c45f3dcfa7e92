"""The containers of a context: root, sections and groups (a day of a session, a document), with their headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import lru_cache

from haversack.assemble.candidate import Candidate
from haversack.assemble.frame import Frame, Heading, date_words
from haversack.assemble.layout import Layout
from haversack.budget import Container
from haversack.model.memory import Kind, Memory
from haversack.model.times import EPOCH
from haversack.tokens.counter import Counter

__all__ = ["Shelf", "place_items", "start_of"]

_ROOT = 0

Start = tuple[datetime, int, str]
_FIRST: Start = (EPOCH, 0, "")


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where every item stands and what each container costs."""

    containers: list[Container]
    headings: list[Heading]
    starts: list[Start]
    """The first of each group, which decides the order of groups; the same for root and sections."""
    of: list[int]
    """The container of each candidate; -1 for those that no section takes."""
    section: list[int]
    """The section of each candidate; -1 likewise."""
    heads: Mapping[int, int] = field(default_factory=dict[int, int])
    """The candidates that are a container's header, by container."""


_Key = tuple[str, object]


def place_items(
    candidates: Sequence[Candidate], layout: Layout, frame: Frame, counter: Counter, *, budget: int
) -> Shelf:
    """Give every candidate its container; headers are counted in one batch."""
    places = layout.section_of()
    titled = [frame.section(section.title) if section.title else ("", "") for section in layout.sections]
    headings: list[Heading] = [frame.whole(), *titled]
    starts: list[Start] = [_FIRST] * len(headings)
    parents = [-1, *[_ROOT] * len(titled)]
    sections = [places.get(candidate.memory.kind, -1) for candidate in candidates]
    of = [index + 1 if index >= 0 else -1 for index in sections]
    known: dict[_Key, int] = {}
    passage = Kind.PASSAGE
    within = places.get(passage, -1)
    for item, candidate in enumerate(candidates):
        memory = candidate.memory
        if memory.kind is not passage or (key := _group_key(memory)) is None or within < 0:
            continue
        number = known.get(key)
        if number is None:
            number = known[key] = len(headings)
            headings.append(_group_heading(frame, memory))
            starts.append(start_of(memory))
            parents.append(within + 1)
        elif memory.event_time <= starts[number][0]:
            starts[number] = min(starts[number], start_of(memory))
        of[item] = number
    prices = _heading_prices(headings, counter)
    containers = [
        Container(price=price, parent=parent, room=_room(layout, number, budget), places=_places(layout, number))
        for number, (price, parent) in enumerate(zip(prices, parents, strict=True))
    ]
    return Shelf(containers, headings, starts, of, sections)


def start_of(memory: Memory) -> Start:
    """What groups are ordered by."""
    return (memory.event_time, memory.born, memory.id)


def _group_key(memory: Memory) -> _Key | None:
    """What makes passages stand under one header: the day of their session, or their document."""
    source = memory.source
    if source.session is not None:
        return (source.session, _day(memory))
    return None if source.document is None else (source.document, None)


def _group_heading(frame: Frame, memory: Memory) -> Heading:
    if memory.source.session is not None:
        return _day_heading(frame, _day(memory))
    return frame.group("document", memory.source.document or "")


def _day(memory: Memory) -> date:
    moment = memory.event_time
    return (moment if moment.tzinfo is UTC else moment.astimezone(UTC)).date()


@lru_cache(maxsize=4_096)
def _day_heading(frame: Frame, day: date) -> Heading:
    return frame.group("session", date_words(day))


def _heading_prices(headings: Sequence[Heading], counter: Counter) -> list[int]:
    texts = sorted({part for heading in headings for part in heading if part})
    counted = dict(zip(texts, counter.count_many(texts), strict=True)) if texts else {}
    counted[""] = 0
    return [counted[opening] + counted[closing] for opening, closing in headings]


def _room(layout: Layout, number: int, budget: int) -> int | None:
    if not 1 <= number <= len(layout.sections):
        return None
    maximum = layout.sections[number - 1].maximum
    return None if maximum >= 1 else int(budget * maximum)


def _places(layout: Layout, number: int) -> int | None:
    return layout.sections[number - 1].max_items if 1 <= number <= len(layout.sections) else None
