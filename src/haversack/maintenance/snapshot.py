"""Snapshots: one file each, a zip of `manifest.json` and the store, that any unzip program can open in need.

The manifest says what must be in it: schema, program, counts per namespace, the store's size and hash. A snapshot is
made beside its name, read back whole and compared, and only then appears under its name. The zip's comment is the hash
of every byte before it, so that no byte can change unnoticed.
"""

from __future__ import annotations

import errno
import glob
import hashlib
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, cast

import msgspec

from haversack.errors import NoSpaceError, NotAStoreError, NotFoundError, RefusedError, StoreError
from haversack.maintenance.checks import require_space
from haversack.private import create
from haversack.store.port import SYSTEM, Batch, Census, Erasure, Snapshots, Store
from haversack.store.site import Site

__all__ = [
    "SUFFIX",
    "Contents",
    "Manifest",
    "Occasion",
    "Snapshot",
    "contents_of",
    "listed",
    "pack",
    "read_manifest",
    "take",
    "unpacked",
    "verify",
]

SUFFIX = ".snapshot"
_MANIFEST, _STORE = "manifest.json", "store"
_FORMAT = 1
_CHUNK = 1 << 20
_SEAL = 64
_MANIFEST_BYTES, _MANIFEST_RATIO = 1 << 20, 200
"""How large a manifest may be: always so many bytes, beyond that so many times its packed size."""
_UNREADABLE = (zipfile.BadZipFile, zlib.error, struct.error, KeyError, EOFError, ValueError, RuntimeError, OSError)
_LEVEL = 1
"""Speed before size: a level more costs as much time again for a few percent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What one namespace held."""

    census: Census
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a snapshot says of itself."""

    format: int = _FORMAT
    id: str
    taken_at: datetime
    program: str
    """The version of Haversack that took it."""
    schema: int
    bytes: int
    sha256: str
    """Of the store's file inside."""
    only: str | None = None
    """The one namespace that it holds, as in `namespaces`; None: the whole store."""
    reason: str = ""
    namespaces: Mapping[str, Contents] = field(default_factory=dict[str, Contents])
    """By name; a store that is encrypted shows keyed hashes of the names."""
    key: str = ""
    """Tells the keys of encrypted stores apart: what stands for the empty name. Empty: names are shown as they are."""
    rewritten_at: datetime | None = None
    """When something was erased from it after it was taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A snapshot in its place."""

    path: Path
    manifest: Manifest
    size: int
    """Bytes on the disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """What is true of a snapshot before it is taken."""

    id: str
    at: datetime
    program: str
    reason: str = ""


def take(store: Store, site: Site, target: Path, occasion: Occasion, *, only: str | None = None) -> Snapshot:
    """A verified snapshot at `target`, consistent while others write; nothing is left there when it fails."""
    if target.exists():
        raise RefusedError("snapshot", f"{target} exists already; a snapshot never replaces a file")
    if "snapshot" not in store.abilities:
        raise RefusedError("capability", "this back-end has no snapshots; export its namespaces, or use its own tools")
    if only is not None and not store.namespaces([only]):
        raise NotFoundError(f"no namespace {only!r} here")
    require_space(target.parent, 2 * site.size(), "a copy of the store and its compressed form")
    copy = target.with_name(f"{target.name}.partial-{os.getpid()}-copy")
    try:
        cast("Snapshots", store).snapshot(copy)
        if only is not None:
            _narrow(site, copy, only)
        return pack(site, copy, target, occasion, only=None if only is None else site.shown(only))
    finally:
        _discard(copy)


def pack(
    site: Site,
    copy: Path,
    target: Path,
    occasion: Occasion,
    *,
    only: str | None = None,
    rewritten_at: datetime | None = None,
) -> Snapshot:
    """The snapshot of a closed store file, verified before it appears at `target`."""
    partial = target.with_name(f"{target.name}.partial-{os.getpid()}-zip")
    manifest = Manifest(
        id=occasion.id,
        taken_at=occasion.at,
        program=occasion.program,
        reason=occasion.reason,
        schema=site.schema(copy),
        bytes=copy.stat().st_size,
        sha256=_digest_of(copy),
        only=only,
        namespaces=contents_of(site, copy),
        key=site.shown(""),
        rewritten_at=rewritten_at,
    )
    try:
        _write(partial, copy, manifest)
        _check(partial, manifest)
        partial.replace(target)
        _sync(target.parent)
    except OSError as error:
        raise StoreError(f"no snapshot at {target}: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)
    return Snapshot(path=target, manifest=manifest, size=target.stat().st_size)


def contents_of(site: Site, path: Path) -> dict[str, Contents]:
    """Counts of each namespace in a store file, by its name as the site shows it, taken by opening it.

    One of an older schema is brought up to date.
    """
    with closing(site.open(path, read_only=site.schema(path) == site.newest_schema)) as store:
        return {
            site.shown(name): Contents(census=store.census(name), sequence=store.sequence(name))
            for name in store.namespaces()
        }


def read_manifest(path: Path) -> Manifest:
    """What the snapshot says of itself; NotAStoreError for what is no snapshot."""
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = msgspec.json.decode(_manifest_of(archive), type=Manifest)
    except FileNotFoundError:
        raise
    except _UNREADABLE as error:
        raise NotAStoreError(f"{path} is not a snapshot, or it is damaged: {error}") from error
    if manifest.format > _FORMAT:
        raise NotAStoreError(f"{path} was made by a newer Haversack ({manifest.program}): upgrade to read it")
    return manifest


def _manifest_of(archive: zipfile.ZipFile) -> bytes:
    info = archive.getinfo(_MANIFEST)
    most = max(_MANIFEST_BYTES, _MANIFEST_RATIO * info.compress_size)
    with archive.open(info) as file:
        manifest = file.read(most + 1)
    if len(manifest) > most:
        raise ValueError(f"its manifest has more than {most:,} bytes")
    return manifest


def verify(site: Site, path: Path) -> Manifest:
    """Read the whole snapshot, compare it with its manifest and open the store in it, as a restore would.

    Raises NotAStoreError when a byte differs, or the store is not as Haversack makes it. One under another key than
    the store's cannot be opened: its bytes alone are compared.
    """
    manifest = read_manifest(path)
    if manifest.key == site.shown(""):
        with unpacked(site, path, _room_for(site, path)):
            return manifest
    _check(path, manifest)
    return manifest


def _room_for(site: Site, path: Path) -> Path:
    """A folder to unpack in: where leftovers would be found, or any other that can be written."""
    wanted = (site.path.absolute().parent, path.absolute().parent)
    return next((each for each in wanted if os.access(each, os.W_OK)), Path(tempfile.gettempdir()))


@contextmanager
def unpacked(site: Site, path: Path, folder: Path) -> Generator[tuple[Path, Manifest]]:
    """The store file of a snapshot, verified while it is unpacked and by opening it; gone afterwards unless moved."""
    manifest = read_manifest(path)
    if manifest.schema > site.newest_schema:
        raise RefusedError("schema", f"{path} has schema {manifest.schema}: upgrade Haversack to restore it")
    require_space(folder, manifest.bytes, "the unpacked store")
    partial = folder / f"{site.path.name}.partial-{os.getpid()}-{manifest.id}"
    try:
        _check_seal(path)
        _discard(partial)
        with _reading(path) as source, create(partial) as target:
            _compare(path, manifest, _pour(source, target, manifest.bytes))
            os.fsync(target.fileno())
        if _contents_in(site, path, partial) != dict(manifest.namespaces):
            raise NotAStoreError(f"{path} does not hold what its manifest says")
        yield partial, manifest
    finally:
        _discard(partial)


def _contents_in(site: Site, path: Path, store: Path) -> dict[str, Contents]:
    """What the store of a snapshot holds; what is wrong with it is told of the snapshot, not of a file soon gone."""
    try:
        return contents_of(site, store)
    except NotAStoreError as error:
        told = str(error).replace(str(store), _STORE)
        raise NotAStoreError(f"{path} is refused: unzipped, its {told}") from None


def listed(folder: Path) -> list[Snapshot]:
    """The readable snapshots in a folder, oldest first."""
    found: list[Snapshot] = []
    for path in sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else ():
        with suppress(NotAStoreError, FileNotFoundError):
            found.append(Snapshot(path=path, manifest=read_manifest(path), size=path.stat().st_size))
    return sorted(found, key=lambda each: (each.manifest.taken_at, each.path.name))


def _discard(path: Path) -> None:
    """A store file of ours and what opening it left beside it."""
    for left in path.parent.glob(f"{glob.escape(path.name)}*"):
        left.unlink(missing_ok=True)


def _narrow(site: Site, copy: Path, only: str) -> None:
    """Leave one namespace in the copy; what spans namespaces (keys, audit, jobs) stays behind as well."""
    with closing(site.open(copy)) as store:
        for name in [SYSTEM, *store.namespaces()]:
            if name != only:
                store.apply(name, Batch(erase=Erasure(everything=True, graves=False)))


def _write(partial: Path, copy: Path, manifest: Manifest) -> None:
    with create(partial) as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
            archive.writestr(_MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)))
            with copy.open("rb") as source, archive.open(_STORE, "w", force_zip64=True) as target:
                _pour(source, target, manifest.bytes)
            archive.comment = bytes(_SEAL)
        file.flush()
        seal = _seal_of(partial)[0]
        file.seek(-_SEAL, os.SEEK_END)
        file.write(seal)
        file.flush()
        os.fsync(file.fileno())


def _seal_of(path: Path) -> tuple[bytes, bytes]:
    """The hash of all bytes before the seal, and the seal as it stands."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        left = max(0, file.seek(0, os.SEEK_END) - _SEAL)
        file.seek(0)
        while left > 0 and (chunk := file.read(min(_CHUNK, left))):
            digest.update(chunk)
            left -= len(chunk)
        return digest.hexdigest().encode(), file.read()


def _check_seal(path: Path) -> None:
    expected, seal = _seal_of(path)
    if expected != seal:
        raise NotAStoreError(f"{path} is damaged: its bytes are not those that were sealed")


def _check(path: Path, manifest: Manifest) -> None:
    _check_seal(path)
    with _reading(path) as source:
        _compare(path, manifest, _pour(source, None, manifest.bytes))


@contextmanager
def _reading(path: Path) -> Generator[IO[bytes]]:
    try:
        with zipfile.ZipFile(path) as archive, archive.open(_STORE) as source:
            yield source
    except FileNotFoundError:
        raise
    except _UNREADABLE as error:
        if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise NoSpaceError("no space left to unpack; nothing was changed") from error
        raise NotAStoreError(f"{path} is damaged: {error}") from error


def _compare(path: Path, manifest: Manifest, found: tuple[int, str]) -> None:
    if found != (manifest.bytes, manifest.sha256):
        raise NotAStoreError(f"{path} is damaged: its store is not the one that its manifest describes")


def _digest_of(path: Path) -> str:
    with path.open("rb") as source:
        return _pour(source, None, path.stat().st_size)[1]


def _pour(source: IO[bytes], target: IO[bytes] | None, most: int) -> tuple[int, str]:
    """How many bytes went, and their SHA-256; of what has more bytes than it should no more than one too many."""
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(max(0, min(_CHUNK, most + 1 - size))):
        digest.update(chunk)
        size += len(chunk)
        if target is not None:
            target.write(chunk)
    return size, digest.hexdigest()


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
