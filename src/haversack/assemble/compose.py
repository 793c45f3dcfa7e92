"""`assemble`: from scored candidates to a packed context. Pure: counter and candidates come in, nothing is read."""

from __future__ import annotations

import math
from collections import Counter as Counted
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from itertools import islice

from haversack.assemble.candidate import Candidate
from haversack.assemble.context import Context, SectionReport, Sections
from haversack.assemble.family import gathered, parents
from haversack.assemble.frame import FRAMES, Format, Frame, format_named, line
from haversack.assemble.layout import Layout, Sharing, layout_named
from haversack.assemble.order import Entry, entry_order
from haversack.assemble.render import write
from haversack.assemble.shelf import Shelf, place_items
from haversack.assemble.shorter import Shortener
from haversack.assemble.sift import sift
from haversack.assemble.verdict import Fate, Outcome, Reason, Rendition, Verdicts
from haversack.budget import (
    Budget,
    Demand,
    Ledger,
    Line,
    Measure,
    Packer,
    Packing,
    allocate,
    check_tokens,
    settle,
)
from haversack.errors import BudgetError, InputError
from haversack.tokens.counter import Counter

__all__ = ["LONG", "assemble"]

LONG = 256
"""Tokens from which an item is a text of its own: no header of others, and shortened into what is left of a share."""
_LEAST = 64
"""Tokens that a form in a section's share must have; smaller ones only get the crumbs of the whole."""
_TAIL = 8
"""How many of the best omitted items are tried in a shorter form."""
_SLICE = 3
"""A shorter form takes at most this fraction (a third) of the budget while others wait."""
_CRUMB = 6
"""Free tokens below which not even a line is tried, however small the budget."""
_CRUMBS = 40
"""Below this fraction (a fortieth) of the budget what is left is not worth a line either."""

_FITS = Fate(Outcome.KEPT, Reason.FITS, "pack", Rendition.FULL)
_PINNED = Fate(Outcome.KEPT, Reason.PINNED, "pack", Rendition.FULL)
_MISSED = Fate(Outcome.DROPPED, Reason.NO_ROOM, "pack")
_BLOCKED = {
    "places": Fate(Outcome.DROPPED, Reason.SECTION_FULL, "pack"),
    "room": Fate(Outcome.DROPPED, Reason.SECTION_MAXIMUM, "pack"),
}
_BULLETS = frozenset({Format.MARKDOWN, Format.PLAIN})


def assemble(
    candidates: Sequence[Candidate],
    *,
    budget: int | Budget,
    counter: Counter,
    layout: str | Layout = "flat",
    format: str | Format = Format.MARKDOWN,  # noqa: A002 - the public word for it
    query: str = "",
    now: datetime | None = None,
    window: int | None = None,
) -> Context:
    """Pack the best context that fits the budget.

    Every candidate gets a verdict. Raises BudgetError when the pinned ones alone do not fit, InputError for a budget,
    layout, format or score that makes no sense. A budget of 0 gives an empty context, whatever is pinned. Days begin in
    the zone of `now`, or else in UTC.
    """
    tokens = budget.resolve(window) if isinstance(budget, Budget) else check_tokens(budget)
    job = _Job(
        candidates, layout_named(layout), format_named(format), tokens, counter, query, zone=(now and now.tzinfo) or UTC
    )
    return job.run()


@dataclass(slots=True)
class _Plan:
    """What is known before packing."""

    shelf: Shelf
    prices: list[int]
    entry: Entry
    demands: list[Demand]


class _Job:
    def __init__(
        self,
        candidates: Sequence[Candidate],
        layout: Layout,
        form: Format,
        budget: int,
        counter: Counter,
        query: str,
        *,
        zone: tzinfo,
    ) -> None:
        self.candidates = candidates
        self.zone = zone
        self.layout = layout
        self.format = form
        self.frame: Frame = FRAMES[form]
        self.budget = budget
        self.counter = counter
        self.query = query
        self.fates: dict[int, Fate] = {}
        self.lines: dict[int, str] = {}
        self.value = 0.0
        self.shorter = Shortener(candidates, self.frame, counter, query)

    def run(self) -> Context:
        _check_scores(self.candidates)
        shelf = place_items(self.candidates, self.layout, self.frame, self.counter, budget=self.budget, zone=self.zone)
        live, self.fates = sift(self.candidates, self.layout, shelf.section)
        prices = self._prices(live)
        shelf = self._families(shelf, live, prices)
        plan = self._plan(shelf, live, prices)
        packer = self._packer(plan)
        shares = self._pack(packer, plan) if self.budget else {}
        return self._finish(plan, packer.packing, shares)

    def _families(self, shelf: Shelf, live: Sequence[int], prices: Sequence[int]) -> Shelf:
        """The shelf with children gathered under their parents, whose lines are headers from now on."""
        family = parents(self.candidates, live, prices, LONG)
        lines = {parent: self._full(parent) for parent in dict.fromkeys(family.values())}
        self.lines |= dict.fromkeys(lines, "")
        return gathered(shelf, family, self.candidates, lines, prices)

    def _packer(self, plan: _Plan) -> Packer:
        shelf, prices = plan.shelf, plan.prices
        if shelf.heads:
            prices = prices.copy()
            for head in shelf.heads.values():
                prices[head] = 0
        return Packer(self.budget, shelf.containers, prices=prices, places=shelf.of, heads=shelf.heads)

    def _pack(self, packer: Packer, plan: _Plan) -> dict[str, int]:
        """Pins, then each section within its share, then whoever is still hungry, then crumbs; the planned shares.

        Shorter forms get only what whole items leave, so more room never puts a cut text in the place of a whole one.
        """
        packing = packer.packing
        order = plan.entry.order
        pinned = [item for item in order if self.candidates[item].memory.pinned]
        packer.take(pinned)
        self._insist(pinned, packing, plan)
        shares: dict[str, int] = {}
        if plan.entry.within:
            shares = self._share(packer, plan)
        else:
            self._fill(packer, order)
        top = max((plan.entry.worth[item] for item in order), default=0.0) if pinned else 0.0
        wrapper = plan.shelf.containers[0].price  # which item opens it is chance, so it counts for nobody
        for place, (item, paid) in enumerate(packing.taken.items()):
            own = paid if place else paid - wrapper
            for_whom = packing.opener.get(item, item)
            if for_whom not in packing.form:
                self.value += own * (top if self.candidates[for_whom].memory.pinned else plan.entry.worth[for_whom])
        if plan.entry.within:
            self._fill(packer, order)
        self._sweep(packer, [item for item in order if item not in packing.blocked], plan)
        return shares

    def _share(self, packer: Packer, plan: _Plan) -> dict[str, int]:
        """Let each section fill the share that weights give it of what the pins and the wrapper leave."""
        packing, containers = packer.packing, plan.shelf.containers
        used = packing.used[1 : len(self.layout.sections) + 1]
        wrapper = 0 if packing.opened[0] else containers[0].price
        hungry = [replace(d, need=max(0, d.need - taken)) for d, taken in zip(plan.demands, used, strict=True)]
        shares = allocate(max(0, packing.spare - wrapper), hungry)
        rooms = [taken + shares[d.name] for d, taken in zip(plan.demands, used, strict=True)]
        packer.confine({index + 1: room for index, room in enumerate(rooms)})
        for items in plan.entry.within:
            self._fill(packer, items)
            self._sweep(packer, [item for item in items if plan.prices[item] >= LONG], plan, smallest=_LEAST)
        packer.release()
        return {d.name: room for d, room in zip(plan.demands, rooms, strict=True)}

    def _fill(self, packer: Packer, order: Sequence[int]) -> None:
        taken = packer.packing.taken
        rest = [item for item in order if item not in taken] if taken else order
        packer.take(rest)

    def _prices(self, live: Sequence[int]) -> list[int]:
        """Tokens of every live candidate's full line; 0 for the others."""
        prices = [0] * len(self.candidates)
        unknown: list[int] = []
        if self.format in _BULLETS:
            for item in live:
                price = self.candidates[item].price
                if price is None:
                    unknown.append(item)
                else:
                    prices[item] = price
        else:
            unknown = list(live)
        texts = [self._full(item) for item in unknown]
        for item, price in zip(unknown, self.counter.count_many(texts) if texts else (), strict=True):
            prices[item] = price
        return prices

    def _full(self, item: int) -> str:
        memory = self.candidates[item].memory
        text = line(memory) if self.format in _BULLETS else self.frame.item(memory, memory.content)
        self.lines[item] = text
        return text

    def _plan(self, shelf: Shelf, live: Sequence[int], prices: list[int]) -> _Plan:
        sections = self.layout.sections
        needs = [0] * len(sections)
        if self.layout.sharing is Sharing.WEIGHT:
            opened: set[int] = set()
            for item in live:
                needs[shelf.section[item]] += prices[item]
                container = shelf.of[item]
                while container > 0 and container not in opened:
                    opened.add(container)
                    needs[shelf.section[item]] += 0 if container in shelf.heads else shelf.containers[container].price
                    container = shelf.containers[container].parent
        demands = [
            Demand(name=s.name, weight=s.weight, need=need, minimum=s.minimum, maximum=s.maximum)
            for s, need in zip(sections, needs, strict=True)
        ]
        entry = entry_order(self.candidates, live, layout=self.layout, section=shelf.section, prices=prices)
        return _Plan(shelf, prices, entry, demands)

    def _insist(self, pinned: Sequence[int], packing: Packing, plan: _Plan) -> None:
        missing = [item for item in pinned if item not in packing.taken and item not in packing.blocked]
        if not missing:
            return
        lines = tuple(
            Line(name=f"pinned/{self.candidates[item].memory.id}", tokens=plan.prices[item], items=1) for item in pinned
        )
        ledger = Ledger(lines=lines, budget=self.budget)
        msg = (
            f"the {len(pinned)} pinned memories need {ledger.total} tokens and their headers, "
            f"the budget is {self.budget}: raise it, or unpin some"
        )
        raise BudgetError(msg, ledger)

    def _sweep(self, packer: Packer, order: Sequence[int], plan: _Plan, *, smallest: int = 0) -> None:
        """Give what whole items leave to shorter forms, of `smallest` tokens or more, of the best that was left out.

        A form is worth what it shows of the question. Parents have no shorter form.
        """
        packing, forms, third = packer.packing, self.shorter.forms, self.budget // _SLICE
        least = max(_CRUMB, self.budget // _CRUMBS, smallest)
        if packing.spare < least:
            return
        out = islice((n for n in order if n not in packing.taken and self.lines.get(n) != ""), _TAIL)
        waiting = [n for n in out if forms(n).share(packing.spare)]
        waiting.sort(key=lambda n: -plan.entry.worth[n] * forms(n).share(min(third, packing.spare)))
        for place, item in enumerate(waiting, 1):
            if packing.spare < least:
                return
            most = third if place < len(waiting) else self.budget
            packer.shorten(item, forms(item).prices, least=smallest, most=most)

    def _finish(self, plan: _Plan, packing: Packing, shares: Mapping[str, int]) -> Context:
        for item in packing.taken:
            number = packing.form.get(item)
            if number is not None:
                forms = self.shorter.forms(item)
                self.lines[item] = forms.texts[number]
                short = Fate(Outcome.SHORTENED, Reason.SHORTENED_TO_FIT, "pack", forms.renditions[number])
                self.fates[item] = short
            else:
                if item not in self.lines:
                    self._full(item)
                self.fates[item] = _PINNED if self.candidates[item].memory.pinned else _FITS
        for item, why in packing.blocked.items():
            self.fates[item] = _BLOCKED[why]
        text, tokens, standing = self._fit(plan, packing)
        reports = self._sections(plan, packing, shares)
        return self._report(plan, packing, reports, text=text, tokens=tokens, standing=standing)

    def _fit(self, plan: _Plan, packing: Packing) -> tuple[str, int, list[int]]:
        """The text, counted afresh; where prices do not add up exactly, the last to enter leave until it fits."""
        chosen = list(packing.taken)
        while True:
            parts, standing = write(self.candidates, plan.shelf, chosen, self.lines)
            text = "".join(parts)
            tokens = self.counter.count(text) if text else 0
            excess = tokens - self.budget
            if excess <= 0:
                return text, tokens, standing
            while chosen and excess > 0:
                item = chosen.pop()
                if self.candidates[item].memory.pinned:
                    msg = f"the pinned memories alone count {tokens} tokens, the budget is {self.budget}"
                    raise BudgetError(msg, Ledger(lines=(Line(name="pinned", tokens=tokens),), budget=self.budget))
                excess -= max(packing.taken.pop(item), self.counter.count(self.lines[item]))
                self.fates[item] = Fate(Outcome.DROPPED, Reason.RECOUNT, "recount")

    def _report(
        self,
        plan: _Plan,
        packing: Packing,
        reports: tuple[SectionReport, ...],
        *,
        text: str,
        tokens: int,
        standing: list[int],
    ) -> Context:
        names = [*(section.name for section in self.layout.sections), ""]
        measure = Measure(str(self.counter.kind))
        lines = [
            Line(name=report.name, tokens=report.tokens, items=report.kept, measure=measure)
            for report in reports
            if report.kept
        ]
        verdicts = Verdicts(
            self.candidates,
            self.fates,
            missed=_MISSED,
            sections=[names[index] for index in plan.shelf.section],
            prices=plan.prices,
            taken=packing.taken,
        )
        return Context(
            text=text,
            tokens=tokens,
            budget=self.budget,
            measure=measure,
            layout=self.layout.name,
            format=self.format,
            sections=Sections(reports),
            verdicts=verdicts,
            ledger=Ledger(lines=settle(lines, tokens, measure), budget=self.budget),
            value=self.value,
            items=tuple(self.candidates[item].memory.id for item in standing),
        )

    def _sections(self, plan: _Plan, packing: Packing, shares: Mapping[str, int]) -> tuple[SectionReport, ...]:
        count = len(self.layout.sections)
        tokens, kept, short = [0] * count, [0] * count, [0] * count
        seen = Counted(plan.shelf.section)
        root = plan.shelf.containers[0].price if packing.taken else 0
        for place, (item, paid) in enumerate(packing.taken.items()):
            index = plan.shelf.section[item]
            tokens[index] += paid - (root if place == 0 else 0)
            kept[index] += 1
            short[index] += item in packing.form
        return tuple(
            SectionReport(
                name=section.name,
                planned=shares.get(section.name, self.budget),
                tokens=tokens[index],
                candidates=seen[index],
                kept=kept[index],
                shortened=short[index],
                dropped=seen[index] - kept[index],
            )
            for index, section in enumerate(self.layout.sections)
        )


def _check_scores(candidates: Sequence[Candidate]) -> None:
    total = sum(candidate.score for candidate in candidates)
    if math.isfinite(total):
        return
    for candidate in candidates:
        if not math.isfinite(candidate.score):
            msg = f"score={candidate.score!r} of memory {candidate.memory.id} is not a finite number"
            raise InputError(msg)
