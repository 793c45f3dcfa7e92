"""What must hold of a store and of the engines over it, whatever two verbs did to each other."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from haversack.compaction.view import COLLECTION as VIEW
from haversack.compaction.view import VIEWS, View, load_view, shown
from haversack.embed.codec import embed_stored
from haversack.engine.forgetting import Forgotten
from haversack.engine.haversack import Haversack
from haversack.engine.prices import count_lines
from haversack.model.memory import Memory, Turn
from haversack.recall import indexed_text
from haversack.store.memory import MemoryStore
from haversack.store.port import Record
from haversack.store.sqlite.store import SqliteStore
from haversack.tokens import counter_for

from .interleaving_world import HOME, LATER, SHARED, Base, Hashing

_ID = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b")
_SECRET = re.compile(r"\b(?:[a-z2-7]{16}|[0-9a-f]{64})\b")
_PLANTED = re.compile(r"\bq[a-z]+[0-9a-z]*\b")
_BOOKKEEPING = frozenset({"lease", "run", "run_step", "segment"})
"""Collections that say who did what when: they differ from one order to the other, and hold ids alone."""


@dataclass(frozen=True, kw_only=True)
class Held:
    """All that one namespace holds."""

    name: str
    memories: Mapping[str, Memory]
    turns: Mapping[str, Turn]
    records: tuple[Record, ...]
    prices: Mapping[tuple[str, str], int]
    vectors: Mapping[tuple[str, str], bytes]
    tombstones: frozenset[str]


def held(store: MemoryStore) -> list[Held]:
    """Everything, by namespace."""
    return [
        Held(
            name=name,
            memories=dict(space.memories),
            turns=dict(space.turns),
            records=tuple(space.records.values()),
            prices=dict(space.prices),
            vectors=dict(space.vectors),
            tombstones=frozenset(space.tombstones),
        )
        for name, space in sorted(store._spaces.items())  # pyright: ignore[reportPrivateUsage]
    ]


def held_on_disk(store: SqliteStore) -> list[Held]:
    """The same of a file, without prices and vectors."""
    return [_held_on_disk(store, name) for name in ("", *store.namespaces())]


def _held_on_disk(store: SqliteStore, name: str) -> Held:
    sessions = [info.id for info in store.sessions(name)]
    return Held(
        name=name,
        memories={one.id: one for one in store.changes(name).memories},
        turns={one.id: one for session in sessions for one in store.turns(name, session)},
        records=tuple(one for collection in store.collections(name) for one in store.records(name, collection)),
        prices={},
        vectors={},
        tombstones=frozenset(id_ for id_, _ in store.graves(name).tombstones),
    )


def mark(spaces: Iterable[Held], start: Base) -> object:
    """What tells equal states; memories and turns of the base state are told by their ids."""
    first = {id(one) for space in held(start.store) for one in (*space.memories.values(), *space.turns.values())}
    return tuple(
        (
            space.name,
            frozenset(one.id if id(one) in first else repr(one) for one in space.memories.values()),
            frozenset(one.id if id(one) in first else repr(one) for one in space.turns.values()),
            frozenset((one.collection, one.key, one.value) for one in space.records),
            frozenset(space.prices.items()),
            frozenset(space.vectors.items()),
            space.tombstones,
        )
        for space in spaces
    )


def picture(spaces: Iterable[Held], known: Mapping[str, str]) -> frozenset[str]:
    """The state without numbers and new ids, so that two orders of the same verbs can be compared."""
    names = dict(known)
    spaces = list(spaces)
    for space in spaces:
        names |= {id_: f"<{one.content}>" for id_, one in space.memories.items() if id_ not in names}
        names |= {id_: f"<turn {one.message.text}>" for id_, one in space.turns.items() if id_ not in names}
    lines = (line for space in spaces for line in _lines(space))
    return frozenset(_numbered(_ID.sub(lambda found: names.get(found[0], "<id>"), line) for line in lines))


def _numbered(lines: Iterable[str]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for line in lines:
        seen[line] = seen.get(line, 0) + 1
        yield line if seen[line] == 1 else f"{line} #{seen[line]}"


def _lines(space: Held) -> Iterator[str]:
    for memory in space.memories.values():
        yield f"{space.name} {replace(memory, born=0, changed=0)}"
    for turn in space.turns.values():
        yield f"{space.name} turn {turn.session} {turn.position} {turn.message.text} {turn.key}"
    for record in space.records:
        shows_all = record.collection == VIEW and VIEWS.decode(record.value) == View(session=record.key)
        if record.collection not in _BOOKKEEPING and not shows_all:
            yield _SECRET.sub("<key>", f"{space.name} record {record.collection} {record.key} {record.value.decode()}")
    for tombstone in space.tombstones:
        yield f"{space.name} tombstone {tombstone}"


def planted(texts: Iterable[str]) -> set[str]:
    """The words that stand in one place only."""
    return {word for text in texts for word in _PLANTED.findall(text)}


def words_that_came_back(
    spaces: Iterable[Held], gone: Iterable[Forgotten], origins: Mapping[str, frozenset[str]], said: Collection[str]
) -> Iterator[str]:
    """Planted words of what was erased for good that stand anywhere, and ids of it that anything holds."""
    ids = {name for one in gone for name in (*one.memories, *one.derived, *one.turns)}
    words = {word for word, sources in origins.items() if sources <= ids and word not in said}
    for space in spaces:
        if space.name == SHARED:
            continue  # what was shared is the other namespace's own
        for name in ids & {*space.memories, *space.turns, *(record.key for record in space.records)}:
            yield f"erased {name} is there"
        texts = [(f"memory {one.id}", repr(one)) for one in space.memories.values()]
        texts += [(f"turn {one.id}", repr(one)) for one in space.turns.values()]
        texts += [(f"record {one.collection}/{one.key}", repr((one.key, one.value))) for one in space.records]
        for where, text in texts:
            if back := words & planted([text]):
                yield f"erased words {sorted(back)} in {space.name} {where}"


def broken_links(spaces: Iterable[Held]) -> Iterator[str]:
    """Links that lead nowhere or in a circle, and views of what is not there."""
    for space in spaces:
        for memory in space.memories.values():
            passed, one = {memory.id}, memory
            while one.superseded_by is not None:
                if one.superseded_by in space.tombstones:
                    break  # what was merged into something that was erased stays hidden, and can be unfolded
                if one.superseded_by not in space.memories:
                    yield f"{memory.content!r} stands behind {one.superseded_by}, which is not there"
                    break
                one = space.memories[one.superseded_by]
                if one.id in passed:
                    yield f"{memory.content!r} stands behind itself"
                    break
                passed.add(one.id)
        for record in space.records:
            if record.collection == VIEW:
                yield from _broken_view(VIEWS.decode(record.value), space)


def _broken_view(view: View, space: Held) -> Iterator[str]:
    positions = {turn.position for turn in space.turns.values() if turn.session == view.session}
    for fold in view.folds:
        if fold.summary not in space.memories:
            yield f"the view of {view.session} shows summary {fold.summary}, which is not there"
        if not positions.intersection(range(fold.start, fold.stop)):
            yield f"the view of {view.session} folds {fold.start}..{fold.stop}, where no turns are"


def stale_numbers(spaces: Iterable[Held]) -> Iterator[str]:
    """Prices and vectors that are not those of the words as they stand, or of nothing at all."""
    for space in spaces:
        for (name, encoding), tokens in space.prices.items():
            if name not in space.memories:
                yield f"a price of {name}, which is not there"
            elif "*" not in encoding:
                now = _price(space.memories[name], encoding)
                if tokens != now:
                    yield f"{space.memories[name].content!r} costs {now} {encoding}, stored is {tokens}"
        for (name, _), data in space.vectors.items():
            if name not in space.memories:
                yield f"a vector of {name}, which is not there"
            elif data != _vector(indexed_text(space.memories[name])):
                yield f"the vector of {space.memories[name].content!r} is one of other words"


_PRICES: dict[tuple[object, ...], int] = {}
_VECTORS: dict[str, bytes] = {}


def _price(memory: Memory, encoding: str) -> int:
    key = (memory.kind, memory.content, memory.speaker, memory.event_time, encoding)
    if key not in _PRICES:
        (price,) = count_lines([memory], counter_for(encoding.rpartition("/")[0]))
        _PRICES[key] = price.tokens
    return _PRICES[key]


def _vector(text: str) -> bytes:
    if text not in _VECTORS:
        _VECTORS[text] = embed_stored(Hashing(), [text])[1][0]  # pyright: ignore[reportArgumentType]
    return _VECTORS[text]


def miscounts(store: MemoryStore, spaces: Iterable[Held]) -> Iterator[str]:
    """Counts that a census tells otherwise than a recount."""
    for space in spaces:
        census = store.census(space.name)
        live = [one for one in space.memories.values() if one.stage != "deleted"]
        told = (sum(census.memories.values()), census.deleted, census.turns, census.sessions)
        sessions = {one.session for one in space.turns.values()}
        true = (len(live), len(space.memories) - len(live), len(space.turns), len(sessions))
        if told != true:
            yield f"census of {space.name} says {told}, there are {true}"


def answers(sack: Haversack) -> tuple[object, ...]:
    """What an engine answers; asked of a stated moment, so that asking changes nothing."""
    ns = sack.namespace(HOME)
    hits = [
        ns.recall(query, top_k=60, now=LATER) for query in ("what does Alice drink?", "harbour barge qturn2x heron")
    ]
    shown = ns.session("talk").preview("and now?", window=1_900, output=100, now=LATER)
    return (
        [[(hit.id, round(hit.score, 9), hit.memory) for hit in found] for found in hits],
        ns.context("where does Alice live?", budget=160, now=LATER).text,
        shown.messages("openai"),
        (ns.stats(), sack.namespace(SHARED).stats()),
    )


def warm(sack: Haversack) -> None:
    """Have an engine hold in memory what it holds in use."""
    sack.namespace(HOME).recall("heron", now=LATER)


@cache
def origins(start: Base) -> Mapping[str, frozenset[str]]:
    """Where each planted word was said first: ids of memories and turns."""
    found: dict[str, frozenset[str]] = {}
    for space in held(start.store):
        for turn in space.turns.values():
            for word in planted([turn.message.text]):
                found[word] = frozenset({turn.id})
        for memory in sorted(space.memories.values(), key=lambda one: one.born):
            for word in planted([memory.content]):
                found.setdefault(word, frozenset({memory.id}))
    return found


def views(store: MemoryStore) -> Iterator[str]:
    """Turns of the session that its view shows twice or not at all."""
    turns = store.turns(HOME, "talk")
    view, _ = load_view(store, HOME, "talk")
    words = {one.id: one.content for one in store.memories(HOME, [fold.summary for fold in view.folds])}
    stood = [one.id for one in shown(view, turns, words)]
    if len(stood) != len(set(stood)):
        yield f"the view shows something twice: {stood}"
    behind = {turn.id for turn in turns if (fold := view.fold_at(turn.position)) and fold.summary in words}
    if missing := {turn.id for turn in turns} - behind - set(stood):
        yield f"the view loses turns {sorted(missing)}"
