"""How much a file to read may unpack to, and streams that hold to it. Nothing here is in memory whole."""

from __future__ import annotations

import codecs
import io
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, BinaryIO

from haversack.errors import ConfigError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["Allowance", "Member", "ReadLimits", "TooMuchError", "Transcoded"]

_CHUNK = 1 << 20
_NOT_WORTH_ASKING = 1 << 20
"""Below so many unpacked bytes nobody asks how well they were packed."""


class TooMuchError(Exception):
    """A file holds more than a limit allows; the message names the limit."""

    def __init__(self, what: str, limit: str, most: int) -> None:
        super().__init__(
            f"{what} ({most:,}): if the file is good, raise {limit} in the settings "
            f"(imports.{limit}; for uploads server.imports.{limit})"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits:
    """How much may come out of the files of one import."""

    value_bytes: int = 64 << 20
    """One value, line or document; it is in memory whole."""
    file_bytes: int = 2 << 30
    """One file of an archive, unpacked."""
    total_bytes: int = 4 << 30
    """All files of archives together, unpacked."""
    ratio: int = 200
    """How many times larger than packed a file of an archive may be."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigError(f"imports.{item.name}={value!r} must be a whole number of at least 1")


class Allowance:
    """What is left of the limits of one import."""

    def __init__(self, limits: ReadLimits) -> None:
        self.limits = limits
        self._before = 0
        """Unpacked bytes of the files before the one at hand."""
        self._furthest = 0

    def begin(self) -> None:
        """Another file of an archive."""
        self._before += self._furthest
        self._furthest = 0

    def reach(self, position: int, packed: int) -> None:
        """Raise TooMuchError when the file at hand, of so many packed bytes, may not be read as far as this."""
        self._furthest = max(self._furthest, position)
        limits = self.limits
        if position > limits.file_bytes:
            raise TooMuchError("unpacked, it has more bytes than one file may have", "file_bytes", limits.file_bytes)
        if self._before + self._furthest > limits.total_bytes:
            raise TooMuchError(
                "unpacked, the files have more bytes than all may have", "total_bytes", limits.total_bytes
            )
        if position > _NOT_WORTH_ASKING and position > packed * limits.ratio:
            raise TooMuchError("it is packed more times smaller than a file may be", "ratio", limits.ratio)


class Member(io.RawIOBase):
    """A file of an archive, read no further than is allowed."""

    def __init__(self, file: BinaryIO, packed: int, allowance: Allowance) -> None:
        super().__init__()
        self._file = file
        self._packed = packed
        self._allowance = allowance
        allowance.begin()

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to another place."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return where it stands."""
        return self._file.tell()

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Read a part that is never large, whatever is asked for."""
        view = memoryview(buffer).cast("B")
        data = self._file.read(min(len(view), _CHUNK))
        self._allowance.reach(self._file.tell(), self._packed)
        view[: len(data)] = data
        return len(data)


class Transcoded(io.RawIOBase):
    """A file in UTF-16 or UTF-32, read as UTF-8 piece by piece."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        super().__init__()
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._ready = b""
        self._given = 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes, to the beginning."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go back to the beginning; there is no way to other places."""
        if whence != io.SEEK_SET or offset:
            raise io.UnsupportedOperation("a text in another encoding is read from its beginning on")
        self._file.seek(0)
        self._decoder.reset()
        self._ready, self._given = b"", 0
        return 0

    def tell(self) -> int:
        """Return how many bytes of UTF-8 were given."""
        return self._given

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Read what one piece of the file becomes."""
        ended = False
        while not self._ready and not ended:
            piece = self._file.read(_CHUNK)
            ended = not piece
            self._ready = self._decoder.decode(piece, ended).encode("utf-8", "replace")
        view = memoryview(buffer).cast("B")
        part, self._ready = self._ready[: len(view)], self._ready[len(view) :]
        view[: len(part)] = part
        self._given += len(part)
        return len(part)
