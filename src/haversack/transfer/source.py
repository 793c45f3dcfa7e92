"""Files opened for reading: plain ones and members of archives, as UTF-8 bytes without a byte order mark."""

from __future__ import annotations

import codecs
import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import BinaryIO, cast

from haversack.transfer.entries import Problem
from haversack.transfer.limits import Allowance, Member, ReadLimits, TooMuchError, Transcoded

__all__ = ["READ_ERRORS", "Opened", "Source", "open_sources"]

READ_ERRORS = (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, TooMuchError)
"""What reading a damaged file or archive raises; zipfile says RuntimeError for "encrypted"."""

_CONVERSATIONS = re.compile(r"(.*/)?conversations(-\d+)?\.json")
_WIDE = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
"""The others are unpacked by the standard library in steps without a bound."""
_MOST_LISTED = 8 << 20
_BUFFER = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A file that is open already and can be read from any place; whoever opened it closes it."""

    name: str
    file: BinaryIO
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One open file; whoever opened it closes it."""

    name: str
    """How it is called in problems: the path as it was given, or `archive.zip:member`."""
    stem: str
    """The file's name without folder and suffix."""
    suffix: str
    """Lower case, with its dot."""
    size: int
    raw: BinaryIO
    """The bytes on disk; `raw.tell()` says how many are read."""
    text: BinaryIO
    """The same as UTF-8, within the limits."""
    most: int
    """The most bytes of one value."""

    def rewind(self) -> None:
        """Back to the first byte behind the byte order mark."""
        self.text.seek(0)
        if self.text.read(3) != codecs.BOM_UTF8:
            self.text.seek(0)


def open_sources(given: Path | Opened, allowance: Allowance) -> Iterator[Source | Problem]:
    """The file, or the conversations of an account export's archive; each is open until the next is asked for."""
    name = str(given) if isinstance(given, Path) else given.name
    try:
        if isinstance(given, Opened):
            yield from _sources(given, allowance)
        else:
            with given.open("rb") as file:
                yield from _sources(Opened(name=name, file=file, size=given.stat().st_size), allowance)
    except READ_ERRORS as error:
        why = error.strerror if isinstance(error, OSError) else None
        yield Problem(file=name, place="", message=f"cannot be read: {why or error}")


def _sources(given: Opened, allowance: Allowance) -> Iterator[Source | Problem]:
    path = PurePath(given.name)
    if path.suffix.lower() == ".zip":
        yield from _members(given, allowance)
    else:
        yield _source(given.name, path, given.file, given.file, given.size, allowance.limits)


def _members(given: Opened, allowance: Allowance) -> Iterator[Source | Problem]:
    with zipfile.ZipFile(cast("BinaryIO", _Sparing(given.file))) as archive:
        found = sorted(info.filename for info in archive.infolist() if _CONVERSATIONS.fullmatch(info.filename))
        if not found:
            yield Problem(file=given.name, place="", message="the archive holds no conversations.json")
        for member in found:
            name, info = f"{given.name}:{member}", archive.getinfo(member)
            if info.compress_type not in _METHODS:
                yield Problem(file=name, place="", message="is packed in a way that is not read: pack it by deflate")
                continue
            with archive.open(member) as file:
                raw = cast("BinaryIO", file)
                text = io.BufferedReader(Member(raw, min(info.compress_size, given.size), allowance), _BUFFER)
                try:
                    source = _source(name, PurePath(member), raw, text, info.file_size, allowance.limits)
                except TooMuchError as error:
                    yield Problem(file=name, place="", message=f"cannot be read: {error}")
                else:
                    yield source


class _Sparing:
    """A file of which no large piece is read at once, as an archive's list of millions of files would be."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek = file.seek
        self.tell = file.tell
        self.seekable = file.seekable

    def read(self, size: int = -1) -> bytes:
        if size > _MOST_LISTED:
            raise zipfile.BadZipFile(f"its list of files has more than {_MOST_LISTED:,} bytes")
        return self._file.read(size)


def _source(name: str, path: PurePath, raw: BinaryIO, text: BinaryIO, size: int, limits: ReadLimits) -> Source:
    head = text.read(4)
    text.seek(0)
    wide = next((encoding for mark, encoding in _WIDE.items() if head.startswith(mark)), None)
    if wide is not None:
        text = io.BufferedReader(Transcoded(text, wide), _BUFFER)
    return Source(
        name=name,
        stem=path.stem,
        suffix=path.suffix.lower(),
        size=size,
        raw=raw,
        text=text,
        most=limits.value_bytes,
    )
