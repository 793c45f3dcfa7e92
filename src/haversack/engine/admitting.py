"""Admission: how new statements join those that are remembered, when a person or a program tells them one by one.

A near duplicate is kept, hidden behind what it repeats; a contradiction ends what it contradicts, with both kept and
dated. Passages and summaries are words as they stand: they join as they are. So do states, and the statements of a
bulk, except that a newer one on a subject ends the older one; tidying folds the near duplicates of a bulk later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from haversack.compaction.changes import announces_change
from haversack.compaction.dedup import SUBJECT, Relation, admit, begins_at, lexical_similarity
from haversack.embed.codec import embed_stored
from haversack.embed.embedder import Vectors
from haversack.embed.lapse import WordsAlone
from haversack.engine.aging import policy_of
from haversack.engine.core import Core
from haversack.lifecycle.policy import DedupPolicy
from haversack.model.memory import Kind, Memory, Stage
from haversack.model.query import Filter
from haversack.recall import View, indexed_text
from haversack.store.port import Vector

__all__ = ["STATEMENTS", "Admitted", "admit_drafts"]

STATEMENTS = frozenset(Kind) - {Kind.PASSAGE, Kind.SUMMARY, Kind.STATE}
"""Kinds whose memories say something that another one can repeat or contradict."""

_ON_SUBJECT = STATEMENTS | {Kind.STATE}
_BULK = 50
"""More drafts than this in one call are a bulk."""
_CLOSEST = 8
_CHANGEABLE = 32
"""Statements that one which tells a change is held against: it may share few words with what it changes."""
_MOST_ON_SUBJECT = 50
_LEAST = 0.5
"""Less alike than this, a statement neither repeats nor contradicts another."""
_NO_HIDING = DedupPolicy(enabled=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """What becomes of some drafts; those that it does not name join as they are."""

    rows: dict[str, Memory]
    """By id: drafts as they join, and the statements that they end."""
    known: dict[str, str]
    """Drafts that need not be written, and the memories that say the same already."""
    vectors: tuple[Vector, ...]
    """Of drafts that were embedded on the way."""

    @property
    def ended(self) -> list[Memory]:
        """Stored statements that are no longer true, as they are from now on."""
        return [row for row in self.rows.values() if row.changed]


def admit_drafts(core: Core, namespace: str, drafts: Sequence[Memory], now: datetime) -> Admitted:
    """How these join, in order, each seeing those before it; nothing is written here."""
    is_bulk = len(drafts) > _BULK
    weighed = [one for one in drafts if SUBJECT in one.metadata or (one.kind in STATEMENTS and not is_bulk)]
    weighed = [one for one in weighed if one.kind in _ON_SUBJECT]
    if not weighed:
        return Admitted(rows={}, known={}, vectors=())
    stands_alone = not _holds_statements(core, namespace)
    embedded = None if is_bulk or (stands_alone and len(weighed) == 1) else _embedded(core, weighed)
    work = _Work(
        core=core,
        namespace=namespace,
        now=now,
        places={draft.id: place for place, draft in enumerate(weighed)},
        embedded=None if embedded is None else embedded[0],
        looks_back=not stands_alone,
        compares=not is_bulk,
    )
    for draft in weighed:
        work.admit(draft)
    return Admitted(rows=work.rows, known=work.known, vectors=_vectors(core, weighed, embedded))


@dataclass(kw_only=True)
class _Work:
    """The drafts so far, over what the store holds at one moment."""

    core: Core
    namespace: str
    now: datetime
    places: dict[str, int]
    """Where each draft stands in `embedded`."""
    embedded: Vectors | None
    looks_back: bool
    compares: bool
    """Whether likeness counts, or subjects alone."""
    rows: dict[str, Memory] = field(default_factory=dict[str, Memory])
    known: dict[str, str] = field(default_factory=dict[str, str])
    found: dict[str, Memory] = field(default_factory=dict[str, Memory])
    """Stored statements as they were read."""
    by_subject: dict[object, list[str]] = field(default_factory=dict[object, list[str]])

    def admit(self, new: Memory) -> None:
        found = self._before(new) | (self._stored(new) if self.looks_back else {})
        others = [one for one in self._memories(list(found)) if _may_meet(one, new)]
        likeness = (
            lexical_similarity(new.content, [one.content for one in others])
            if self._vector(new) is None
            else [found[one.id] for one in others]
        )
        hides = bool(others) and self.compares and not new.pinned and new.kind in STATEMENTS
        policy = self.policy if hides else _NO_HIDING
        joined = admit(new, others, likeness, policy, self._history(new, others))
        if joined.relation is Relation.SAME and joined.other is not None:
            self.known[new.id] = joined.other
            return
        self.rows |= {row.id: row for row in joined.memories}
        if SUBJECT in new.metadata:
            self.by_subject.setdefault(new.metadata[SUBJECT], []).append(new.id)

    @cached_property
    def policy(self) -> DedupPolicy:
        """What counts as a near duplicate."""
        return policy_of(self.core, self.namespace).dedup

    @cached_property
    def view(self) -> View:
        """What is stored."""
        vector = None if self.embedded is None else self.embedded[0]
        return self.core.recall.view([self.namespace], vector=vector)

    def _stored(self, new: Memory) -> dict[str, float]:
        """Stored statements that may be meant, by id, with their likeness."""
        found = dict.fromkeys(self._on_subject(new), 0.0)
        if not self.compares or new.kind not in STATEMENTS:
            return found
        vector = self._vector(new)
        same_kinds = Filter(kinds=STATEMENTS)
        changes = announces_change(new.content)
        near = self.view.nearest(
            indexed_text(new), vector, filter=same_kinds, now=self.now, top_k=_CHANGEABLE if changes else _CLOSEST
        )
        close = [(one, score) for one, score in near if score >= _LEAST or vector is None or changes]
        self.found |= {one.id: one for one, _ in close}
        return found | {one.id: score for one, score in close}

    def _vector(self, new: Memory) -> Vectors | None:
        """None where words alone tell: without an embedder, or with one that knows none of these words."""
        if self.embedded is None:
            return None
        vector = self.embedded[self.places[new.id]]
        return vector if vector.any() else None

    def _on_subject(self, new: Memory) -> list[str]:
        if SUBJECT not in new.metadata:
            return []
        same = Filter(kinds=_ON_SUBJECT, where=((SUBJECT, new.metadata[SUBJECT]),))
        hits = self.view.listing(same, now=self.now, top_k=_MOST_ON_SUBJECT)
        self.found |= {hit.id: hit.memory for hit in hits}
        return [hit.id for hit in hits]

    def _history(self, new: Memory, others: Sequence[Memory]) -> list[Memory]:
        """What else was said on the subject and is true when the new statement begins, or later."""
        if SUBJECT not in new.metadata:
            return []
        filed = self.view.filed(SUBJECT, new.metadata[SUBJECT], after=begins_at(new)) if self.looks_back else []
        known = {one.id for one in others}
        stored = self.view.memories(self.namespace, [name for name in filed if name not in known])
        told = [self.rows.get(one.id, one) for one in stored]
        told += [one for name, one in self.rows.items() if name in self.places and name not in known]
        return [one for one in told if one.stage is not Stage.DELETED and _may_meet(one, new)]

    def _before(self, new: Memory) -> dict[str, float]:
        """Drafts of the same call that came before."""
        before = list(self.rows.keys() & self.places.keys()) if self.compares else []
        if self.embedded is None:
            return dict.fromkeys([*before, *self.by_subject.get(new.metadata.get(SUBJECT), [])], 0.0)
        mine = self.embedded[self.places[new.id]]
        return {name: float(mine @ self.embedded[self.places[name]]) for name in sorted(before)}

    def _memories(self, ids: Sequence[str]) -> list[Memory]:
        stored = [self.rows.get(name, self.found[name]) for name in ids if name not in self.places]
        return stored + [self.rows[name] for name in ids if name in self.places]


def _may_meet(one: Memory, new: Memory) -> bool:
    """What two people say of themselves is two, unless it is on one subject; a state meets only states."""
    if (one.kind is Kind.STATE) is not (new.kind is Kind.STATE):
        return False
    subject = new.metadata.get(SUBJECT)
    return one.speaker == new.speaker or (subject is not None and subject == one.metadata.get(SUBJECT))


def _holds_statements(core: Core, namespace: str) -> bool:
    """Whether there is anything to look back at: else no index is built for a first word among many passages."""
    if namespace not in core.telling:
        counts = core.store.census(namespace).memories
        if any(counts.get(kind) for kind in _ON_SUBJECT):
            core.telling.add(namespace)
    return namespace in core.telling


def _embedded(core: Core, drafts: Sequence[Memory]) -> tuple[Vectors, list[bytes]] | None:
    """Vectors, and what is stored of each; None without an embedder, and where its service fails: words alone tell."""
    if core.embedder is None:
        return None
    with WordsAlone():
        return embed_stored(core.embedder, [indexed_text(draft) for draft in drafts])
    return None


def _vectors(core: Core, drafts: Sequence[Memory], embedded: tuple[Vectors, list[bytes]] | None) -> tuple[Vector, ...]:
    if core.embedder is None or embedded is None:
        return ()
    model = core.embedder.model
    return tuple(
        Vector(memory=draft.id, model=model, data=data) for draft, data in zip(drafts, embedded[1], strict=True)
    )
