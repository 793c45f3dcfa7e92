"""Which candidates may enter at all: not the filtered ones, those without a section, nor doubles of a better one."""

from __future__ import annotations

from collections import Counter as Counted
from collections.abc import Iterable, Sequence

from haversack.assemble.candidate import Candidate
from haversack.assemble.layout import Layout
from haversack.assemble.verdict import Fate, Outcome, Reason
from haversack.model.memory import Kind
from haversack.model.text import fingerprint_form, rough_forms

__all__ = ["sift"]

_NO_SECTION = Fate(Outcome.DROPPED, Reason.NO_SECTION, "section")
_OFF = Fate(Outcome.DROPPED, Reason.SECTION_OFF, "section")
_DOUBLE = Fate(Outcome.DROPPED, Reason.DUPLICATE, "section")


def sift(candidates: Sequence[Candidate], layout: Layout, section: Sequence[int]) -> tuple[list[int], dict[int, Fate]]:
    """The candidates that may enter, in their order, and the fate of the others; `section` is by candidate."""
    closed = {-1: _NO_SECTION} | {n: _OFF for n, part in enumerate(layout.sections) if part.weight == 0}
    fates = {item: closed[index] for item, index in enumerate(section) if index in closed}
    for item, candidate in enumerate(candidates):
        if candidate.filtered is not None:
            fates[item] = Fate(Outcome.FILTERED, candidate.filtered, "filter")
    live = _without(range(len(candidates)), fates)
    doubles = _doubles(candidates, live)
    return _without(live, doubles), fates | dict.fromkeys(doubles, _DOUBLE)


def _without(items: Iterable[int], out: dict[int, Fate] | set[int]) -> list[int]:
    return [item for item in items if item not in out] if out else list(items)


def _doubles(candidates: Sequence[Candidate], live: Sequence[int]) -> set[int]:
    """Those whose words stand in a better candidate; passages are what was said and may repeat."""
    passage = Kind.PASSAGE
    told = [item for item in live if candidates[item].memory.kind is not passage]
    rough = rough_forms(candidates[item].memory.content for item in told)
    if len(set(rough)) == len(told):
        return set()
    seen = Counted(rough)
    alike = [item for item, form in zip(told, rough, strict=True) if seen[form] > 1]
    forms = {item: fingerprint_form(candidates[item].memory.content) for item in alike}
    best: dict[str, int] = {}
    for item, form in forms.items():
        rival = best.get(form)
        if rival is None or _strength(candidates[item]) > _strength(candidates[rival]):
            best[form] = item
    return {item for item, form in forms.items() if best[form] != item}


def _strength(candidate: Candidate) -> tuple[bool, float, str]:
    return (candidate.memory.pinned, candidate.score, candidate.memory.id)
