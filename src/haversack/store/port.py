"""The store port: few verbs, values in and out. Rows are the only truth; recall is a cache built from them.

Every verb binds one namespace and every write is one transaction in one namespace. A back-end decides nothing: ids,
times and prices arrive as values. The change sequence is a counter per namespace; each memory written or erased takes
the next number, so a reader that remembers a number can ask for everything that came after it. Turns, records, prices
and vectors do not move it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from haversack.model.lives import Lives
from haversack.model.memory import Kind, Memory, SessionInfo, Stage, Turn
from haversack.model.query import Filter

__all__ = [
    "BYTES_WAIT",
    "BY_SESSION",
    "LEASE",
    "SEGMENT",
    "SYSTEM",
    "Applied",
    "Batch",
    "Census",
    "Changes",
    "Erasure",
    "Graves",
    "LifePage",
    "Moves",
    "Price",
    "Record",
    "RecordKey",
    "Restage",
    "Restaged",
    "Said",
    "Scrubs",
    "Snapshots",
    "Store",
    "Vector",
    "Written",
]

SYSTEM = ""
"""The namespace of what spans namespaces (keys, audit, jobs); no user's namespace can have this name."""

SEGMENT = "segment"
"""The collection of what is built from memories and holds their words, the recall index's segments and the notes of
cached prompts: an erasure in a namespace drops all of it."""

HIDDEN = "hidden"
"""The collection of turns that a soft forget hides from every read, by turn id; an erased turn loses its record."""

LEASE = "lease"
"""The collection of leases: who works on what, and until when."""

BY_SESSION = ("extracted", "view")
"""Collections whose keys are names of sessions and whose values know places of its turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What one memory's line costs under one encoding, in tokens."""

    memory: str
    encoding: str
    tokens: int
    changed: int | None = None
    """Only where the memory is still at this change number; None: whatever it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """One memory's embedding as the embedder named `model` made it, in that embedder's own bytes."""

    memory: str
    model: str
    data: bytes
    changed: int | None = None
    """Only where the memory is still at this change number; None: whatever it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordKey:
    """The address of a record."""

    collection: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A small document beside the memories: session views, leases, policies, journals, costs, index segments."""

    collection: str
    key: str
    value: bytes
    version: int = 0
    """Assigned by the store: 1 when first put, one more each time."""
    about: str | None = None
    """Of a record in SYSTEM: the namespace that it speaks of."""
    session: str | None = None
    """The session that it speaks of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A record to write; `value` None deletes it. With `expected`, only if that is its version (0: it is not there)."""

    collection: str
    key: str
    value: bytes | None
    expected: int | None = None
    about: str | None = None
    """As in a Record."""
    session: str | None = None


class Restage(NamedTuple):
    """A memory of which only the stage changes, found by the change number that it was read at."""

    memory: str
    changed: int
    stage: Stage


class Restaged(NamedTuple):
    """A memory of which only the stage changed."""

    memory: str
    stage: Stage
    importance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What to remove for good, bytes included: rows, prices, vectors and, of the turns, the words.

    The same transaction drops the namespace's records of collection SEGMENT, and every record whose key is the id of an
    erased memory or turn. Ids that do not exist are passed over.
    """

    memories: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    """These turns are removed; their positions stay empty, the others keep theirs. Their ids and keys stay taken.

    A session that keeps no turn loses its name: its records in BY_SESSION go, and its positions begin at 0 again.
    """
    sessions: tuple[str, ...] = ()
    """Whole sessions: all their turns."""
    everything: bool = False
    """The whole namespace, records included. Its change sequence goes on, and its graves stay."""
    graves: bool = True
    """Whether what goes leaves a tombstone or digest, so that nothing brings it back. Without, `everything` removes the
    graves of earlier erasures as well: the namespace can be filled again with what it held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One transaction's worth of writing: all of it lands or none of it."""

    memories: tuple[Memory, ...] = ()
    """Inserted, or replaced where the id exists (`born` is kept then). A tombstoned id is refused by ConflictError.

    The last wins where an id stands twice. A replacement with another kind, content, speaker or event time drops the
    memory's stored prices and vectors, for they are no longer true.
    """
    turns: tuple[Turn, ...] = ()
    """Appended in this order. One whose id exists or was erased, or whose key its session has or had, is skipped, and
    with it the memories of this batch (and their prices and vectors) whose `source.turns` are all skipped ones."""
    stages: tuple[Restage, ...] = ()
    """Each takes the next change number; one that is not as it was read any more is a ConflictError."""
    prices: tuple[Price, ...] = ()
    """Kept where the memory exists, ignored where it does not."""
    vectors: tuple[Vector, ...] = ()
    """Likewise."""
    records: tuple[Written, ...] = ()
    seen: int | None = None
    """The change number up to which the writer had read: replacing a memory changed after it is a ConflictError, and
    so is one that was there (it has `born`) and is gone."""
    sequence: int | None = None
    """The change number that the namespace must still have; another one is a ConflictError. For what was decided on all
    that the namespace holds."""
    new_since: int | None = None
    """The change number up to which the writer had looked for what the new memories say: when a live statement that
    was written later says the same or is on the same subject, or one that says the same was erased later, it is a
    ConflictError."""
    made_of: tuple[str, ...] = ()
    """Turns and memories that the written memories were made of or stand behind: when one of them is gone, or such a
    memory was changed after `seen`, it is a ConflictError."""
    erase: Erasure | None = None
    """Carried out first. Each erased memory leaves a tombstone: its id and its content's fingerprint, no words; each
    erased turn leaves a digest of its id, and one of session and key where it has a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What a batch did."""

    sequence: int
    """The namespace's change sequence afterwards."""
    turns: tuple[Turn, ...] = ()
    """Those that were appended, with their positions."""
    skipped: tuple[str, ...] = ()
    """Ids of the turns that were there already, in the order given."""
    erased_memories: tuple[str, ...] = ()
    """In the order of their birth."""
    erased_turns: tuple[str, ...] = ()
    """By session name, then position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What happened after a sequence number, oldest first."""

    memories: tuple[Memory, ...]
    erased: tuple[str, ...]
    """Ids of memories erased after that number."""
    upto: int
    """Ask for what came after this next."""
    more: bool
    """Whether the limit cut the list short."""
    reset: bool = False
    """The whole namespace was erased after that number: drop all that was known before, then take in `memories`."""
    vectors: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """Stored vectors of `memories`, by id, where a model was asked for."""
    restaged: tuple[Restaged, ...] = ()
    """Those of which only the stage changed after what the caller knows; they are not among `memories`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What says the same as somebody is about to write."""

    sequence: int
    """The namespace's change sequence before it was looked for: a batch's `seen` and `new_since`."""
    memories: Mapping[str, Memory] = field(default_factory=dict[str, Memory])
    """By fingerprint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """How much a namespace holds."""

    memories: dict[str, int]
    """Per kind, softly deleted ones left out."""
    deleted: int
    sessions: int
    turns: int
    tombstones: int
    """Memories that were erased for good, also with everything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graves:
    """Tombstones and digests that keep what was erased from being stored again; they hold no words."""

    tombstones: tuple[tuple[str, str], ...] = ()
    """Memory id and fingerprint."""
    turns: tuple[str, ...] = ()
    """Digests of the ids and of the keys of erased turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LifePage:
    """What ageing asks of some memories, in the order of their last change."""

    lives: Lives
    upto: int
    """Ask for what came after this next."""
    more: bool


class Store(Protocol):
    """One back-end. Safe for threads; a reader never sees half a batch.

    Raises StoreError's kin for what the back-end refuses: ReadOnlyError, NoSpaceError, BusyError, ConflictError.
    """

    abilities: frozenset[str]
    """Of: `durable`, `shared` (other processes may write), `snapshot` (it is a Snapshots), `scrub` (it is a Scrubs),
    `move` (it is a Moves)."""

    def apply(self, namespace: str, batch: Batch) -> Applied:
        """Carry out one batch; durable on return where the back-end is."""
        ...

    def memories(self, namespace: str, ids: Sequence[str]) -> list[Memory]:
        """Those that exist, in the order asked."""
        ...

    def changes(
        self, namespace: str, *, since: int = 0, limit: int = 10_000, known: int = 0, model: str | None = None
    ) -> Changes:
        """Memories written and erased after `since`, by change number; each memory once, as it is now.

        With a `model`, their vectors come along. The limit counts all changes together. A caller who holds every
        memory as of the change number `known` (at most `since`) is told in brief of those whose stage alone changed
        after it (`restaged`).
        """
        ...

    def select(
        self, namespace: str, chosen: Filter, *, now: datetime | None, after: int = 0, limit: int | None = None
    ) -> list[Memory]:
        """Return memories that pass the filter at the moment `now`, by change number, behind the number `after`.

        With `now` None only what the filter states counts, not whether a memory is deleted, superseded or expired.
        """
        ...

    def superseded(self, namespace: str) -> list[Memory]:
        """Return the memories that another one took the place of, newest first, without softly deleted ones."""
        ...

    def derived(self, namespace: str, sources: Sequence[str]) -> list[Memory]:
        """Return the memories that name one of these memories or turns as a source, or repeat it, by birth."""
        ...

    def parts(self, namespace: str, texts: Sequence[str]) -> list[Memory]:
        """Return the parts of these texts, by birth.

        A text is named by the turn that it was said in, or else by its first part.
        """
        ...

    def lives(
        self, namespace: str, *, spared: Collection[Kind] = (), since: int = 0, limit: int = 10_000, sized: bool = False
    ) -> LifePage:
        """What ageing asks of the memories changed after `since`, by change number; their lengths only with `sized`.

        Left out are those that neither expire nor are softly deleted and are pinned or of a `spared` kind.
        """
        ...

    def sequence(self, namespace: str) -> int:
        """The namespace's change sequence: 0 when it never had a write."""
        ...

    def turns(
        self,
        namespace: str,
        session: str,
        *,
        after: int = -1,
        limit: int | None = None,
        newest: bool = False,
        shown: bool = False,
    ) -> list[Turn]:
        """Turns behind position `after` in append order; with `newest`, the last `limit` of them.

        With `shown` those with a record in HIDDEN are passed over.
        """
        ...

    def turns_by_id(self, namespace: str, ids: Sequence[str]) -> list[Turn]:
        """Those that exist, in the order asked."""
        ...

    def sessions(self, namespace: str) -> list[SessionInfo]:
        """All sessions with turns, by the time of their last turn, newest first, then by id."""
        ...

    def namespaces(
        self, matching: Iterable[str] | None = None, *, after: str = "", limit: int | None = None
    ) -> list[str]:
        """All that hold anything, be it tombstones, sorted; never SYSTEM.

        With `matching` only those that one of these means: an exact name, or a prefix with a star at its end.
        """
        ...

    def said(self, namespace: str, fingerprints: Sequence[str]) -> Said:
        """Live memories by fingerprint, the last born where several share one, and when they were looked for.

        Live is what is neither superseded nor softly deleted; it may have expired. Passages are left out: equal
        words said twice are two.
        """
        ...

    def tombstoned(self, namespace: str, fingerprints: Sequence[str]) -> set[str]:
        """Which of these fingerprints belong to memories that were erased for good."""
        ...

    def erased(self, namespace: str, ids: Sequence[str]) -> set[str]:
        """Which of these ids belong to memories or turns that were erased for good."""
        ...

    def prices(self, namespace: str, encoding: str, ids: Sequence[str]) -> dict[str, int]:
        """Stored prices in tokens, by memory id."""
        ...

    def vectors(self, namespace: str, model: str, ids: Sequence[str]) -> dict[str, bytes]:
        """Stored vectors by memory id."""
        ...

    def embedded(self, namespace: str, model: str) -> int:
        """How many memories have a stored vector of that model."""
        ...

    def record(self, namespace: str, collection: str, key: str) -> Record | None:
        """One record."""
        ...

    def records(
        self,
        namespace: str,
        collection: str,
        *,
        prefix: str = "",
        after: str = "",
        limit: int = 1_000,
        about: str | None = None,
        session: str | None = None,
        newest: bool = False,
    ) -> list[Record]:
        """Records whose key starts with `prefix` and sorts behind `after`, by key (code point order).

        With `about` (a name, or a prefix with a star at its end) or `session` only those that speak of this namespace,
        this session. With `newest` the last `limit` of them.
        """
        ...

    def census(self, namespace: str) -> Census:
        """Exact counts."""
        ...

    def close(self) -> None:
        """Release everything; further calls raise StoreError."""
        ...


class Snapshots(Protocol):
    """A store with the ability `snapshot`."""

    def snapshot(self, path: Path) -> None:
        """Write a consistent copy to a new file in one step, while others go on writing; the copy opens as a store.

        Raises StoreError when the path exists or cannot be written; no partial file is left under that name.
        """
        ...


BYTES_WAIT = "a reader still holds the old bytes, the next write or opening removes them"
"""What every door says of an erasure that is not finished in the files."""


class Scrubs(Protocol):
    """A store with the ability `scrub`: erased bytes can outlive the erasing call while another reader is at work."""

    def scrub(self) -> bool:
        """Finish what earlier erasures left in the store's files; whether nothing is left now."""
        ...


class Moves(Protocol):
    """A store with the ability `move`: it tells all that a namespace holds, and takes it in, graves included."""

    def frozen(self) -> AbstractContextManager[Store]:
        """Lend a reader of the store as it is now; what is written meanwhile does not show in it."""
        ...

    def collections(self, namespace: str) -> list[str]:
        """The collections of its records, sorted."""
        ...

    def embedders(self, namespace: str) -> list[str]:
        """The models of its vectors, sorted."""
        ...

    def graves(self, namespace: str) -> Graves:
        """What erasures left, oldest first."""
        ...

    def bury(self, namespace: str, graves: Graves) -> None:
        """Take over the graves of another store; those that are here already are passed over."""
        ...
