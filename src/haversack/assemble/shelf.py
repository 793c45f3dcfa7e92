"""The containers of a context: root, sections and groups (a day of a session, a document), with their headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo

from haversack.assemble.candidate import Candidate
from haversack.assemble.frame import Frame, Heading, date_words
from haversack.assemble.layout import Layout
from haversack.budget import Container
from haversack.cached import cached
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


_Key = tuple[str, date | None]
"""What makes passages stand under one header: the day of their session, or their document."""


def place_items(
    candidates: Sequence[Candidate], layout: Layout, frame: Frame, counter: Counter, *, budget: int, zone: tzinfo = UTC
) -> Shelf:
    """Give every candidate its container; headers are counted in one batch. Days begin in `zone`."""
    places = layout.section_of()
    titled = [frame.section(section.title) if section.title else ("", "") for section in layout.sections]
    headings: list[Heading] = [frame.whole(), *titled]
    starts: list[Start] = [_FIRST] * len(headings)
    sections = [places.get(candidate.memory.kind, -1) for candidate in candidates]
    of = [index + 1 for index in sections]
    known: dict[_Key, int] = {}
    passage = Kind.PASSAGE
    within = places.get(passage, -1)
    for item, candidate in enumerate(candidates if within >= 0 else ()):
        memory = candidate.memory
        key = _group_key(memory, zone) if memory.kind is passage and candidate.filtered is None else None
        if key is None:
            continue
        number = known.get(key)
        if number is None:
            number = known[key] = len(headings)
            headings.append(_group_heading(frame, *key))
            starts.append(start_of(memory))
        elif memory.event_time <= starts[number][0]:
            starts[number] = min(starts[number], start_of(memory))
        of[item] = number
    prices = _heading_prices(headings, counter)
    limits = [(None if s.maximum >= 1 else int(budget * s.maximum), s.max_items) for s in layout.sections]
    containers = [Container(price=prices[0])]
    containers += [
        Container(price=price, parent=_ROOT, room=room, places=most)
        for price, (room, most) in zip(prices[1:], limits, strict=False)
    ]
    containers += [Container(price=price, parent=within + 1) for price in prices[len(containers) :]]
    return Shelf(containers, headings, starts, [place or -1 for place in of], sections)


def start_of(memory: Memory) -> Start:
    """What groups are ordered by."""
    return (memory.event_time, memory.born, memory.id)


def _group_key(memory: Memory, zone: tzinfo) -> _Key | None:
    source = memory.source
    if source.session is not None:
        moment = memory.event_time
        return (source.session, (moment if moment.tzinfo is zone else moment.astimezone(zone)).date())
    return None if source.document is None else (source.document, None)


@cached(4_096)
def _group_heading(frame: Frame, name: str, day: date | None) -> Heading:
    return frame.group("document", name) if day is None else frame.group("session", date_words(day))


def _heading_prices(headings: Sequence[Heading], counter: Counter) -> list[int]:
    texts = sorted({part for heading in headings for part in heading if part})
    counted = dict(zip(texts, counter.count_many(texts), strict=True)) if texts else {}
    counted[""] = 0
    return [counted[opening] + counted[closing] for opening, closing in headings]
