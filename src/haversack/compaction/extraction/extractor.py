"""Extraction of what a session has said since the last time: durable, once, in batches.

The place up to which a session was read stands in a record that lands in the same batch as the memories, by
compare-and-set: nothing is extracted twice, and nothing is skipped when a service fails or the process dies.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from haversack.compaction.dedup import Similar, lexical_similarity
from haversack.compaction.extraction.action import Skipped, read_actions
from haversack.compaction.extraction.resolve import Resolution, Scene, resolve
from haversack.compaction.extraction.rules import extract_by_rules
from haversack.compaction.extraction.structured import ask, shown_ids
from haversack.errors import ConflictError, ServiceError
from haversack.lifecycle.policy import Policy
from haversack.llm.port import Cancel, ChatService
from haversack.model.identity import ENTROPY_BYTES, make_id
from haversack.model.memory import Memory, Turn, successors_of
from haversack.store import records
from haversack.store.port import Batch, Store, Written

__all__ = ["COLLECTION", "READ_UPTO", "RECALLED", "Extracted", "Extractor"]

COLLECTION = "extracted"
READ_UPTO = records.Collection(COLLECTION, int)
"""Records of how far each session was read, by session id."""

RECALLED = "haversack.recalled"
"""Metadata field of a turn whose words came from memory: it is never read."""

_BATCH_TURNS = 20
_SHOWN = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """What one extraction did."""

    turns: int = 0
    """How many turns were read."""
    added: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    errors: tuple[str, ...] = ()
    """Why turns are still pending."""

    def __add__(self, other: Extracted) -> Extracted:
        return Extracted(
            turns=self.turns + other.turns,
            added=self.added + other.added,
            ended=self.ended + other.ended,
            skipped=self.skipped + other.skipped,
            errors=self.errors + other.errors,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Extractor:
    """Reads the sessions of one namespace."""

    store: Store
    namespace: str
    policy: Policy
    clock: Callable[[], datetime]
    related: Callable[[Sequence[str]], list[Memory]]
    """Live statements that these texts may mean."""
    on_subject: Callable[[str], list[Memory]] = lambda _: []
    """Live statements on a subject, however they are worded."""
    service: ChatService | None = None
    """None: rules alone."""
    similar: Similar = lexical_similarity
    prepare: Callable[[Batch], Batch] = field(default=lambda batch: batch)
    """Adds prices and vectors for the batch's memories."""
    entropy: Callable[[int], bytes] = secrets.token_bytes
    hidden: Callable[[], Collection[str]] = frozenset
    """Ids of turns that are softly forgotten: they are passed over."""
    seconds: float = 60.0
    """The longest that one call may take."""

    def pending(self, session: str) -> int:
        """How many turns were not read yet."""
        return len(self.store.turns(self.namespace, session, after=self._read_upto(session)[0]))

    def extract(self, session: str, cancel: Cancel | None = None) -> Extracted:
        """Read all pending turns. A service's failure ends it, told in `errors`; what was read before stays."""
        done = Extracted()
        while True:
            upto, version = self._read_upto(session)
            turns = self.store.turns(self.namespace, session, after=upto, limit=_BATCH_TURNS)
            if not turns or (cancel is not None and cancel.is_set()):
                return done
            try:
                done += self._extract_batch(session, turns, version, cancel)
            except ConflictError:
                continue  # somebody else read these turns, or changed what they end, meanwhile
            except ServiceError as error:
                return done + Extracted(errors=(str(error),))

    def _extract_batch(self, session: str, turns: Sequence[Turn], version: int, cancel: Cancel | None) -> Extracted:
        hidden = self.hidden()
        readable = [
            turn
            for turn in turns
            if turn.id not in hidden and not turn.metadata.get(RECALLED) and turn.message.text.strip()
        ]
        seen = self.store.sequence(self.namespace)
        found = self._resolve(session, readable, cancel) if readable else None
        place = Written(
            collection=COLLECTION,
            key=session,
            value=msgspec.json.encode(turns[-1].position),
            expected=version,
        )
        rows = found.memories if found else ()
        batch = Batch(
            memories=rows,
            records=(place,),
            seen=seen,
            new_since=seen,
            made_of=(*(turn.id for turn in turns), *successors_of(rows)),
        )
        self.store.apply(self.namespace, self.prepare(batch))
        if found is None:
            return Extracted(turns=len(turns))
        return Extracted(turns=len(turns), added=found.added, ended=found.ended, skipped=found.skipped)

    def _resolve(self, session: str, turns: Sequence[Turn], cancel: Cancel | None) -> Resolution:
        now = self.clock()
        existing = self.related([turn.message.text for turn in turns])
        scene = Scene(
            session=session,
            turns=turns,
            existing=existing,
            policy=self.policy,
            now=now,
            new_id=lambda: make_id(now, self.entropy(ENTROPY_BYTES)),
            similar=self.similar,
            on_subject=self.on_subject,
            tombstoned=lambda prints: self.store.tombstoned(self.namespace, prints),
        )
        if self.service is None:
            return resolve(list(enumerate(extract_by_rules(turns))), scene)
        offered = existing[:_SHOWN]
        shown = shown_ids(offered)
        by_id = dict(zip(shown, offered, strict=True))
        raw = ask(self.service, turns, by_id, timeout=self.seconds, cancel=cancel)
        actions, skipped = read_actions(raw, shown)
        found = resolve(actions, scene)
        return Resolution(
            memories=found.memories,
            added=found.added,
            ended=found.ended,
            skipped=tuple(sorted((*skipped, *found.skipped), key=lambda each: each.index)),
        )

    def _read_upto(self, session: str) -> tuple[int, int]:
        record = self.store.record(self.namespace, COLLECTION, session)
        upto = READ_UPTO.value_of(record)
        return -1 if upto is None else upto, 0 if record is None else record.version
