"""A namespace as a stream of lines: taken from any back-end at one moment, restored into any other, checked at the end.

It carries everything that the namespace remembers: memories, vectors, turns in their places, records, and the graves
that keep erased words from coming back. What is kept for speed (prices, saved indexes) is made again.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import cast

import msgspec

from haversack.errors import InputError, NotFoundError, RefusedError, StoreError
from haversack.maintenance.move import BOUND, Moved, digest_of, in_order_of_birth, record_pages, stand_in, stand_ins_of
from haversack.model.memory import Memory, Turn
from haversack.store.port import Batch, Erasure, Graves, Moves, Store, Vector, Written
from haversack.transfer.entries import RecordEntry
from haversack.transfer.writing import (
    dump_memory,
    dump_record,
    dump_turn,
    load_memory,
    load_record,
    load_turn,
    render_line,
)
from haversack.wire.shape import Record, as_record, as_text

__all__ = ["BACKUP", "back_up", "restore_backup"]

BACKUP = "haversack-backup"
"""What the first line says."""
_VERSION = 2
_BATCH = 500
_LONGEST = 256_000_000
"""Bytes of one line: more than any memory, turn or record may have."""


def back_up(store: Store, namespace: str) -> Iterator[bytes]:
    """Yield the namespace line by line, as it was when the first line was asked for.

    Raises RefusedError for a store that cannot show one moment, NotFoundError for a namespace that holds nothing.
    """
    if "move" not in store.abilities:
        raise RefusedError("capability", "this store cannot tell all that a namespace holds")
    with cast("Moves", store).frozen() as frozen:
        if not frozen.namespaces([namespace]):
            raise NotFoundError(f"there is no namespace {namespace!r} to back up")
        yield render_line({"type": "backup", "format": BACKUP, "version": _VERSION, "namespace": namespace})
        yield from map(render_line, _entries(frozen, namespace))
        digest, counts = digest_of(frozen, namespace)
        yield render_line({"type": "end", "sha256": digest, "counts": list(counts)})


def restore_backup(store: Store, lines: Iterable[bytes], *, namespace: str | None = None) -> Moved:
    """Restore the namespace of a backup, or give it the name `namespace`; a store that holds it already refuses.

    Raises InputError for what is no backup or is damaged or cut short; then nothing of it stays.
    """
    entries = _read(lines)
    name = _namespace_of(next(entries, None), namespace)
    if "move" not in store.abilities:
        raise RefusedError("capability", "this store cannot take in all that a namespace holds")
    if store.namespaces([name]):
        raise RefusedError("target", f"namespace {name!r} exists already, be it as what it erased: reset it first")
    try:
        return _Restoring(store, name).all(entries)
    except BaseException:
        with suppress(StoreError):
            store.apply(name, Batch(erase=Erasure(everything=True, graves=False)))
        raise


def _entries(store: Store, namespace: str) -> Iterator[Record]:
    moves = cast("Moves", store)
    models = moves.embedders(namespace)
    born = in_order_of_birth(store, namespace)
    for start in range(0, len(born), _BATCH):
        ids = born[start : start + _BATCH]
        yield from (dump_memory(memory) for memory in store.memories(namespace, ids))
        for model in models:
            for memory, data in store.vectors(namespace, model, ids).items():
                yield {"type": "vector", "memory": memory, "model": model, "base64": _text(data)}
    for session in sorted(info.id for info in store.sessions(namespace)):
        after = -1
        while page := store.turns(namespace, session, after=after, limit=_BATCH):
            yield from (dump_turn(turn) | {"position": turn.position} for turn in page)
            after = page[-1].position
    for page in record_pages(store, namespace):
        for record in page:
            entry = RecordEntry(collection=record.collection, key=record.key, value=record.value)
            yield dump_record(entry) | ({"session": record.session} if record.session is not None else {})
    graves = moves.graves(namespace)
    for stone, mark in graves.tombstones:
        yield {"type": "tombstone", "id": stone, "fingerprint": mark}
    for digest in graves.turns:
        yield {"type": "digest", "value": digest}


class _Restoring:
    """Takes entries in, some hundred in a transaction."""

    def __init__(self, store: Store, namespace: str) -> None:
        self._store = store
        self._namespace = namespace
        self._memories: list[Memory] = []
        self._vectors: list[Vector] = []
        self._turns: list[Turn] = []
        self._records: list[Written] = []
        self._tombstones: list[tuple[str, str]] = []
        self._digests: list[str] = []
        self._places: dict[str, int] = {}
        self._waiting = 0

    def all(self, entries: Iterator[Record]) -> Moved:
        for entry in entries:
            if entry.get("type") == "end":
                return self._finish(entry)
            self._take(entry)
            self._waiting += 1
            if self._waiting >= _BATCH:
                self._write()
        raise InputError("the backup is cut short: its last line is missing")

    def _take(self, entry: Record) -> None:
        match entry.get("type"):
            case "memory":
                self._memories.append(load_memory(entry))
            case "vector":
                memory, model = (as_text(entry.get(field), field) for field in ("memory", "model"))
                self._vectors.append(Vector(memory=memory, model=model, data=_bytes(entry)))
            case "turn":
                self._take_turn(load_turn(entry), entry.get("position"))
            case "record":
                record, session = load_record(entry), entry.get("session")
                if record.collection in BOUND:
                    raise InputError(f"a backup holds no records of {record.collection!r}")
                self._records.append(
                    Written(
                        collection=record.collection,
                        key=record.key,
                        value=record.value,
                        session=None if session is None else as_text(session, "session"),
                    )
                )
            case "tombstone":
                self._tombstones.append((as_text(entry.get("id"), "id"), as_text(entry.get("fingerprint"), "mark")))
            case "digest":
                self._digests.append(as_text(entry.get("value"), "value"))
            case other:
                raise InputError(f"type={other!r} is none of a backup's")

    def _take_turn(self, turn: Turn, position: object) -> None:
        """Stand-ins hold the places of turns that were erased, and go in the end."""
        place = self._places.get(turn.session, 0)
        if not isinstance(position, int) or isinstance(position, bool) or position < place:
            raise InputError(f"turn {turn.id}: position={position!r} is not behind the turn before it")
        self._turns += [stand_in(turn, hole) for hole in range(place, position)]
        self._turns.append(turn)
        self._places[turn.session] = position + 1

    def _write(self) -> None:
        memories, turns = tuple(self._memories), tuple(self._turns)
        batch = Batch(memories=memories, vectors=tuple(self._vectors), records=tuple(self._records))
        self._store.apply(self._namespace, batch)
        self._store.apply(self._namespace, Batch(turns=turns))
        for held in (self._memories, self._vectors, self._turns, self._records):
            held.clear()
        self._waiting = 0

    def _finish(self, end: Record) -> Moved:
        self._write()
        name = self._namespace
        for session in self._places:
            if stand_ins := stand_ins_of(self._store, name, session):
                self._store.apply(name, Batch(erase=Erasure(turns=stand_ins, graves=False)))
        graves = Graves(tombstones=tuple(self._tombstones), turns=tuple(self._digests))
        cast("Moves", self._store).bury(name, graves)
        digest, counts = digest_of(self._store, name)
        if digest != end.get("sha256"):
            raise InputError("the backup is damaged: what it holds is not what its last line says")
        memories, turns, records, tombstones = counts
        return Moved(
            namespace=name, memories=memories, turns=turns, records=records, tombstones=tombstones, sha256=digest
        )


def _read(lines: Iterable[bytes]) -> Iterator[Record]:
    for number, line in enumerate(lines, start=1):
        if len(line) > _LONGEST:
            raise InputError(f"line {number} of the backup is longer than {_LONGEST:,} bytes")
        try:
            entry = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError) as error:
            raise InputError(f"line {number} of the backup is not JSON: {error}") from None
        yield as_record(entry, f"line {number}")


def _namespace_of(header: Record | None, wanted: str | None) -> str:
    if header is None or header.get("format") != BACKUP:
        raise InputError("this is no backup of a namespace: its first line does not say so")
    if header.get("version") != _VERSION:
        told = f"the backup has version {header.get('version')!r}, this program reads {_VERSION}"
        raise InputError(f"{told}: restore it with the program that made it, and back up from there")
    return as_text(header.get("namespace"), "namespace") if wanted is None else wanted


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _bytes(entry: Record) -> bytes:
    try:
        return base64.b64decode(as_text(entry.get("base64"), "base64"), validate=True)
    except ValueError as error:
        raise InputError(f"base64 cannot be decoded: {error}") from None
