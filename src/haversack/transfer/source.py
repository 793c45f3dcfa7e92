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

__all__ = ["READ_ERRORS", "Source", "open_sources"]

READ_ERRORS = (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)
"""What reading a damaged file or archive raises; zipfile says RuntimeError for "encrypted"."""

_BEGINNING = 1 << 17
"""Bytes; more than is looked at before a member is read from its beginning."""
_CONVERSATIONS = re.compile(r"(.*/)?conversations(-\d+)?\.json")
_WIDE = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


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
    """The same as UTF-8; a file in UTF-16 or UTF-32 is in memory whole."""

    def rewind(self) -> None:
        """Back to the first byte behind the byte order mark."""
        self.text.seek(0)
        if self.text is self.raw and self.raw.read(3) != codecs.BOM_UTF8:
            self.raw.seek(0)


def open_sources(path: Path) -> Iterator[Source | Problem]:
    """The file, or the conversations of an account export's archive; each is open until the next is asked for."""
    try:
        if path.suffix.lower() == ".zip":
            yield from _members(path)
        else:
            with path.open("rb") as file:
                yield _source(str(path), path, file, path.stat().st_size)
    except READ_ERRORS as error:
        why = error.strerror if isinstance(error, OSError) else None
        yield Problem(file=str(path), place="", message=f"cannot be read: {why or error}")


def _members(path: Path) -> Iterator[Source | Problem]:
    with zipfile.ZipFile(path) as archive:
        found = sorted(info.filename for info in archive.infolist() if _CONVERSATIONS.fullmatch(info.filename))
        if not found:
            yield Problem(file=str(path), place="", message="the archive holds no conversations.json")
        for member in found:
            # Going back happens in this buffer: a member that is not compressed checks no sum once it is sought in.
            with archive.open(member) as packed, io.BufferedReader(cast("io.RawIOBase", packed), _BEGINNING) as file:
                size = archive.getinfo(member).file_size
                yield _source(f"{path}:{member}", PurePath(member), file, size)


def _source(name: str, path: PurePath, raw: BinaryIO, size: int) -> Source:
    head = raw.read(4)
    raw.seek(0)
    wide = next((encoding for mark, encoding in _WIDE.items() if head.startswith(mark)), None)
    text = raw if wide is None else io.BytesIO(raw.read().decode(wide, "replace").encode("utf-8", "replace"))
    source = Source(name=name, stem=path.stem, suffix=path.suffix.lower(), size=size, raw=raw, text=text)
    source.rewind()
    return source
