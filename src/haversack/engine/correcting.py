"""Verbs of single kinds: corrections, outcomes of decisions, records of procedures, relations and what they connect."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Unpack

from haversack.compaction import kinds
from haversack.compaction.dedup import begins_at
from haversack.compaction.kinds import Hop
from haversack.engine.arguments import checked
from haversack.engine.core import Core
from haversack.engine.draft import Details, Stamp, draft_memory, read_subject
from haversack.engine.remembering import remember
from haversack.engine.writing import as_written, write
from haversack.errors import InputError, NotFoundError
from haversack.maintenance.texts import text_of
from haversack.model.identity import SUBJECT
from haversack.model.memory import Kind, Memory, Stage
from haversack.model.query import Filter
from haversack.model.text import clean, is_blank
from haversack.model.times import Moment, read_time
from haversack.store.port import Batch
from haversack.store.retry import persisting

__all__ = ["Knowledge"]

_MOST = 100_000


@checked
class Knowledge:
    """What can be said of single kinds of memories of one namespace."""

    def __init__(self, core: Core, namespace: str) -> None:
        self._core = core
        self._namespace = namespace

    def correct(self, memory_id: str, content: str) -> Memory:
        """Say how it really is: the correction outranks everything else; what it corrects is kept and dated."""
        words = _words(content, "content")
        now = self._core.clock()
        new_id = next(self._core.new_ids(now))
        return self._change(memory_id, lambda old: kinds.correction_of(old, words, new_id, now, self._others(old)))

    def outcome(self, memory_id: str, outcome: str, *, worked: bool | None = None) -> Memory:
        """What came of a decision; a later outcome takes the place of an earlier one."""
        words, now = _words(outcome, "outcome"), self._core.clock()
        return self._change(memory_id, lambda old: (kinds.with_outcome(old, words, now, worked=worked),))

    def practised(self, memory_id: str, *, worked: bool) -> Memory:
        """Count one more try of a procedure; its confidence follows from how often it worked."""
        now = self._core.clock()
        return self._change(memory_id, lambda old: (kinds.practised(old, now, worked=worked),))

    def relate(
        self,
        subject: str,
        predicate: str,
        object_: str,
        *,
        content: str | None = None,
        single: bool = False,
        **details: Unpack[Details],
    ) -> Memory:
        """Remember a relation between two entities: `relate("Alice", "works at", "Acme")`.

        `single`: the subject has one such relation at a time, so that a newer one ends the older one. `content` is how
        it was said; by default the three together. Other keywords are those of `remember`.
        """
        words = f"{subject} {predicate} {object_}" if content is None else content
        plain = draft_memory(words, Stamp(id="", now=self._core.clock(), zone=self._core.settings.zone), details)
        made = kinds.relation(plain, subject, predicate, object_, single=single)
        told = {
            **details,
            "content": words,
            "kind": Kind.RELATION,
            "entities": made.entities,
            "metadata": made.metadata,
        }
        return remember(self._core, self._namespace, [told])[0]

    def reach(self, entity: str, *, depth: int = 2, limit: int = 50, as_of: Moment | None = None) -> list[Hop]:
        """Relations within `depth` steps of an entity, nearest first; those that hold now, or held at `as_of`."""
        if depth < 1 or limit < 1:
            raise InputError(f"depth={depth} and limit={limit} must be 1 or more")
        now = self._core.clock()
        moment = None if as_of is None else read_time(as_of, "as_of", self._core.settings.zone)
        return kinds.traverse(
            self._relations(now, moment), _words(entity, "entity"), now, depth=depth, limit=limit, as_of=moment
        )

    def history(self, subject: str) -> list[Memory]:
        """Return what was told on a subject, such as `alice/city`, in the order in which it was, is or will be true.

        `valid_from` and `valid_to` say from when and until when; the subject of a single relation is `alice/works at`.
        """
        named = read_subject(subject)
        view = self._core.recall.view([self._namespace])
        told = view.memories(self._namespace, view.filed(SUBJECT, named))
        found = [one for one in told if one.metadata.get(SUBJECT) == named and one.duplicate_of is None]
        return sorted(
            (one for one in found if one.stage is not Stage.DELETED), key=lambda one: (begins_at(one), one.born)
        )

    def _relations(self, now: datetime, as_of: datetime | None) -> list[Memory]:
        chosen = Filter(kinds=frozenset({Kind.RELATION}), as_of=as_of)
        hits = self._core.recall.view([self._namespace]).listing(chosen, now=now, top_k=_MOST)
        return [hit.memory for hit in hits]

    def _others(self, memory: Memory) -> list[Memory]:
        """The other parts of the text that it stands for."""
        return [part for part in text_of(self._core.store, self._namespace, memory) if part.id != memory.id]

    def _change(self, memory_id: str, change: Callable[[Memory], tuple[Memory, ...]]) -> Memory:
        """Write what the verb makes of the memory, from its newest state; the first row is the answer."""
        return persisting(lambda: self._try_to_change(memory_id, change))

    def _try_to_change(self, memory_id: str, change: Callable[[Memory], tuple[Memory, ...]]) -> Memory:
        seen = self._core.store.sequence(self._namespace)
        found = self._core.store.memories(self._namespace, [memory_id])
        if not found:
            raise NotFoundError(f"no memory {memory_id!r} in namespace {self._namespace!r}")
        rows = change(found[0])
        batch = Batch(memories=rows, seen=seen)
        return as_written(rows, write(self._core, self._namespace, batch).sequence)[0]


def _words(text: str, what: str) -> str:
    words = clean(text, what)
    if is_blank(words):
        raise InputError(f"{what} must not be blank")
    return words
