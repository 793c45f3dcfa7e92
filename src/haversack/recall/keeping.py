"""Where segments are kept: as records of the store, so that an erasure drops them and every process may use them."""

from __future__ import annotations

from collections.abc import Sequence
from secrets import token_hex

import msgspec

from haversack.embed.embedder import WordVectors
from haversack.recall.index import Index
from haversack.recall.segments import load
from haversack.store.port import SEGMENT, Batch, Store, Written
from haversack.store.records import Collection

__all__ = ["restore", "save"]


class _Manifest(msgspec.Struct, frozen=True):
    upto: int
    parts: int


_MANIFESTS = Collection(SEGMENT, _Manifest)


def save(store: Store, namespace: str, model: str, parts: Sequence[bytes], upto: int) -> None:
    """Keep an index that holds every change up to `upto`, in place of what was kept before, in one transaction.

    Raises what the store raises, ConflictError when an erasure came in between: it drops the claim that stands while
    the index is compared with it, so that no erased word is written.
    """
    claim = f"{model}/claim/{token_hex(8)}"
    store.apply(namespace, Batch(records=(Written(collection=SEGMENT, key=claim, value=b"", expected=0),)))
    changes = store.changes(namespace, since=upto)
    done = Written(collection=SEGMENT, key=claim, value=None, expected=1)
    if changes.erased or changes.reset or changes.more:
        store.apply(namespace, Batch(records=(done,)))
        return
    before = _manifest(store, namespace, model)
    manifest = _Manifest(upto=upto, parts=len(parts))
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
) -> Index | None:
    """The index as it was kept; None where nothing usable is."""
    manifest = _manifest(store, namespace, model)
    if manifest is None or manifest.upto > store.sequence(namespace):
        return None
    records = [store.record(namespace, SEGMENT, _key(model, manifest, number)) for number in range(manifest.parts)]
    parts = [record.value for record in records if record is not None]
    return load(parts, dimension, vocabulary, sign_bytes=sign_bytes) if len(parts) == manifest.parts else None


def _manifest(store: Store, namespace: str, model: str) -> _Manifest | None:
    return _MANIFESTS.value_of(store.record(namespace, SEGMENT, f"{model}/manifest"))


def _key(model: str, manifest: _Manifest, part: int) -> str:
    return f"{model}/{manifest.upto:020d}/{part:06d}"
