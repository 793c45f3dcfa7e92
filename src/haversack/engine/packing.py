"""From a question to a packed context: which candidates are asked for, what they cost, and the handing over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from msgspec import structs

from haversack.assemble import Candidate, Context, Format, Layout, assemble
from haversack.assemble.family import parent_of
from haversack.assemble.verdict import Reason
from haversack.engine.core import Core
from haversack.engine.guarding import Suspicion, hold_back
from haversack.engine.reading import Hit, Look, Request, look
from haversack.model.memory import Kind
from haversack.model.query import Filter
from haversack.recall import View
from haversack.tokens import Counter

__all__ = ["Packing", "gather", "pack"]

_TOKENS_PER_CANDIDATE = 10
"""Shorter lines than this are rare, so a budget never holds more candidates than its tokens divided by this."""
_FEWEST = 64
_BACKGROUND = 0.1
"""How much of its importance speaks for a memory that belongs in its section but does not answer the query."""
_REPEATING = 0.5
"""What is left of a summary's score: the turns that it repeats in fewer words are recalled themselves, beside it."""
_BELOW = 0.9
"""How much of the least answer's score the best of the background has at most."""
_WITHOUT_BACKGROUND = (None, frozenset({Kind.PASSAGE}))
"""Kinds of which nothing belongs in a context unless it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """How a context is to be packed."""

    layout: Layout
    format: Format
    budget: int
    counter: Counter
    hold_back: frozenset[Suspicion] = frozenset()
    """What a memory may not look like."""
    noted: bool = True
    """Whether what is left out for want of room counts as left out: not in a question about another moment."""


def pack(core: Core, request: Request, packing: Packing, seen: Look | None = None) -> Context:
    """The best context for the request within the budget; of what was `seen`, where its caller has looked already."""
    seen = seen or look(core, request)
    found = gather(core, request, packing.layout, packing.budget, packing.counter, seen)
    found = hold_back(found, packing.hold_back)
    context = assemble(
        found,
        layout=packing.layout,
        format=packing.format,
        budget=packing.budget,
        counter=packing.counter,
        query=request.query,
        now=request.now,
    )
    if len(found) >= core.settings.widest == _width(core, packing.budget):
        allowed = sum(int(part.mask(request.chosen, request.now).sum()) for part in seen.view.parts)
        context = replace(context, beyond=max(0, allowed - len(found)))
    if packing.noted and len(request.namespaces) == 1:
        core.trims.note(core.store, request.namespaces[0], found, context)
    core.was_read(request.namespaces)
    return replace(context, behind=seen.view.behind) if seen.view.behind else context


def gather(core: Core, request: Request, layout: Layout, budget: int, counter: Counter, seen: Look) -> list[Candidate]:
    """Whatever deserves a verdict: pinned memories, for each section as many as fit, and their parents.

    What is not relevant enough answers nothing: it is marked, or stands among what its section holds all the same.
    """
    width = _width(core, budget)
    pinned = seen.view.listing(request.chosen, now=request.now, top_k=core.settings.widest, pinned=True)
    filters = list(_filters(request.chosen, layout))
    ranked, floor = seen.view.search_each(seen.asked, filters, top_k=width), _floor(core, request)
    answers = [[hit for hit in hits if hit.relevance >= floor or hit.memory.pinned] for hits in ranked]
    background = list(_background(seen.view, request, filters, answers, width if len(layout.sections) > 1 else 0))
    chosen: dict[tuple[str, str], Hit] = {}
    for hit in chain(*_in_turn(answers, background), pinned):
        chosen.setdefault((hit.namespace, hit.memory.id), hit)
    hits = _with_parents(seen.view, request, list(chosen.values()))
    answering, known = ({(hit.namespace, hit.id) for hit in some} for some in (chain(*answers), hits))
    found = [
        one if hit.memory.pinned or (hit.namespace, hit.id) in answering else structs.replace(one, answers=False)
        for hit, one in zip(hits, candidates(core, hits, counter), strict=True)
    ]
    below = {key: hit for hit in chain(*ranked) if (key := (hit.namespace, hit.id)) not in known}
    left_out = candidates(core, list(below.values()), counter)
    return [*found, *(structs.replace(one, filtered=Reason.BELOW_FLOOR) for one in left_out)]


def _floor(core: Core, request: Request) -> float:
    """The least relevance of what may enter; a likeness is no probability, so the setting says nothing of it."""
    if request.min_relevance is not None:
        return request.min_relevance
    return 0.0 if request.weights.likeness else core.memory.min_relevance


def _width(core: Core, budget: int) -> int:
    """The most candidates that are looked at for a section."""
    return min(core.settings.widest, max(_FEWEST, budget // _TOKENS_PER_CANDIDATE))


def _with_parents(view: View, request: Request, hits: list[Hit]) -> list[Hit]:
    """Also the parents that did not answer themselves, as far as the filters let them in: worth only their children."""
    known: set[tuple[str, str]] = set()
    level = hits
    while wanted := {(hit.namespace, name) for hit in level if (name := parent_of(hit.memory))}:
        known |= {(hit.namespace, hit.id) for hit in level}
        wanted -= known
        level = [
            Hit(memory=memory, namespace=namespace, score=0.0)
            for namespace in sorted({namespace for namespace, _ in wanted})
            for memory in view.memories(namespace, sorted(name for place, name in wanted if place == namespace))
            if request.chosen.reason_against(memory, request.now) is None
        ]
        hits = hits + level
    return hits


def candidates(core: Core, hits: Sequence[Hit], counter: Counter) -> list[Candidate]:
    """The hits with their prices, in the same order."""
    prices = {
        name: iter(core.prices.of(core.store, name, [hit.memory for hit in hits if hit.namespace == name], counter))
        for name in {hit.namespace for hit in hits}
    }
    return [
        Candidate(
            memory=hit.memory,
            score=hit.score,
            relevance=hit.relevance,
            parts=hit.parts,
            formula=hit.formula,
            price=next(prices[hit.namespace]),
        )
        for hit in map(_weighed, hits)
    ]


def _weighed(hit: Hit) -> Hit:
    return _lessened(hit, _REPEATING) if hit.memory.kind is Kind.SUMMARY else hit


def _lessened(hit: Hit, share: float) -> Hit:
    formula = replace(hit.formula, share=hit.formula.share * share)
    return structs.replace(hit, score=hit.score * share, formula=formula)


def _background(
    view: View, request: Request, filters: Sequence[Filter], answers: Sequence[Sequence[Hit]], width: int
) -> Iterator[list[Hit]]:
    """For each section what belongs there all the same, where answers leave room."""
    known = {(hit.namespace, hit.id) for hit in chain(*answers)}
    for chosen, found in zip(filters, answers, strict=True):
        if len(found) < width and chosen.kinds not in _WITHOUT_BACKGROUND:
            standing = view.listing(chosen, now=request.now, top_k=width)
            rest = [hit for hit in standing if (hit.namespace, hit.id) not in known]
            yield rest[: width - len(found)]
        else:
            yield []


def _in_turn(answers: Sequence[list[Hit]], background: Sequence[list[Hit]]) -> Iterator[list[Hit]]:
    """Section by section its answers and its background, all of which scores less than any answer."""
    least = min((_weighed(hit).score for hit in chain(*answers)), default=1.0)
    most = max((hit.score for hit in chain(*background)), default=0.0)
    share = min(_BACKGROUND, _BELOW * least / most) if most else _BACKGROUND
    for found, rest in zip(answers, background, strict=True):
        yield found
        yield [_lessened(hit, share) for hit in rest]


def _filters(chosen: Filter, layout: Layout) -> Iterator[Filter]:
    """One filter per section that is on, narrowed to its kinds; a section of every kind needs no narrowing."""
    for section in layout.sections:
        kinds = section.kinds if chosen.kinds is None else section.kinds & chosen.kinds
        if kinds and section.weight > 0:
            yield chosen if kinds == frozenset(Kind) else replace(chosen, kinds=kinds)
