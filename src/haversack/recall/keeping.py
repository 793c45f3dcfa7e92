"""Where segments are kept: as records of the store, so that an erasure drops them and every process may use them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from secrets import token_hex
from zlib import crc32

import msgspec

from haversack.embed.embedder import WordVectors
from haversack.recall.index import Index
from haversack.recall.segments import dump, load
from haversack.store.port import SEGMENT, Batch, Store, Written
from haversack.store.records import Collection

__all__ = ["Kept", "is_kept", "restore", "save"]


@dataclass(frozen=True, slots=True)
class Kept:
    """An index, and the change number up to which nothing is missing: it may have been kept while it was built."""

    index: Index
    whole: int


class _Manifest(msgspec.Struct, frozen=True):
    upto: int
    parts: int
    whole: int = 0
    checksum: int = -1
    """Of all parts, one after the other; parts that a disk has damaged are not used."""


_MANIFESTS = Collection(SEGMENT, _Manifest)


def save(store: Store, namespace: str, model: str, kept: Kept) -> None:
    """Keep an index without gone rows in place of what was kept before, in one transaction.

    Raises what the store raises, ConflictError when an erasure came in between: it drops the claim that stands while
    the index is compared with it, so that no erased word is written.
    """
    upto, parts = kept.index.upto, dump(kept.index)
    claim = f"{model}/claim/{token_hex(8)}"
    store.apply(namespace, Batch(records=(Written(collection=SEGMENT, key=claim, value=b"", expected=0),)))
    changes = store.changes(namespace, since=upto)
    done = Written(collection=SEGMENT, key=claim, value=None, expected=1)
    if changes.erased or changes.reset or changes.more:
        store.apply(namespace, Batch(records=(done,)))
        return
    before = _manifest(store, namespace, model)
    manifest = _Manifest(upto=upto, parts=len(parts), whole=kept.whole, checksum=_checksum(parts))
    written = [done, Written(collection=SEGMENT, key=f"{model}/manifest", value=msgspec.json.encode(manifest))]
    written += [Written(collection=SEGMENT, key=_key(model, manifest, n), value=part) for n, part in enumerate(parts)]
    if before is not None and before.upto != upto:
        written += [Written(collection=SEGMENT, key=_key(model, before, n), value=None) for n in range(before.parts)]
    store.apply(namespace, Batch(records=tuple(written)))


def restore(
    store: Store,
    namespace: str,
    model: str,
    dimension: int,
    vocabulary: WordVectors | None,
    *,
    sign_bytes: int = 0,
) -> Kept | None:
    """Return the index as it was kept; None where nothing usable is."""
    manifest = _manifest(store, namespace, model)
    if manifest is None or manifest.upto > store.sequence(namespace):
        return None
    records = [store.record(namespace, SEGMENT, _key(model, manifest, number)) for number in range(manifest.parts)]
    parts = [record.value for record in records if record is not None]
    if len(parts) != manifest.parts or _checksum(parts) != manifest.checksum:
        return None
    index = load(parts, dimension, vocabulary, sign_bytes=sign_bytes)
    return None if index is None else Kept(index, manifest.whole)


def is_kept(store: Store, namespace: str, model: str) -> bool:
    """Whether an index is kept."""
    return _manifest(store, namespace, model) is not None


def _manifest(store: Store, namespace: str, model: str) -> _Manifest | None:
    return _MANIFESTS.value_of(store.record(namespace, SEGMENT, f"{model}/manifest"))


def _checksum(parts: Iterable[bytes]) -> int:
    return reduce(lambda so_far, part: crc32(part, so_far), parts, 0)


def _key(model: str, manifest: _Manifest, part: int) -> str:
    return f"{model}/{manifest.upto:020d}/{part:06d}"
