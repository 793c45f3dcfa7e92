"""Uploads until they are imported: beside the store, without a name, under a key that only this process has ever known.

So nothing is left to read when the process dies, of an encrypted store as of any other, and there is nothing to sweep.
"""

from __future__ import annotations

import errno
import io
import secrets
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

from haversack.errors import NoSpaceError
from haversack.transfer import Opened

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["Upload"]

_BLOCK = 16
_BUFFER = 1 << 18


class Upload:
    """One upload. Write it, read it, close it; closing removes it."""

    def __init__(self, folder: Path | None) -> None:
        """`folder` is the store's; None: the system's for temporary files."""
        self._key = AES(secrets.token_bytes(32))
        self._file = cast("BinaryIO", tempfile.TemporaryFile(dir=folder))  # noqa: SIM115 - it lives until close
        self._encrypt = _cipher(self._key, 0).encryptor()
        self._size = 0

    def write(self, chunk: bytes) -> None:
        """Append a part; raises NoSpaceError when the disk is full."""
        try:
            self._file.write(self._encrypt.update(chunk))
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                raise NoSpaceError("no space left for the upload; nothing was imported") from error
            raise
        self._size += len(chunk)

    def opened(self, name: str) -> Opened:
        """All that was written, to read under a name."""
        plain = io.BufferedReader(_Plain(self._file, self._key), _BUFFER)
        return Opened(name=name, file=cast("BinaryIO", plain), size=self._size)

    def close(self) -> None:
        """Remove it."""
        self._file.close()


class _Plain(io.RawIOBase):
    """The bytes before they were encrypted, from any place on."""

    def __init__(self, file: BinaryIO, key: AES) -> None:
        super().__init__()
        self._file = file
        self._key = key
        self.seek(0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        place = self._file.seek(offset, whence)
        self._decrypt = _cipher(self._key, place // _BLOCK).decryptor()
        self._decrypt.update(bytes(place % _BLOCK))
        return place

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        plain = self._decrypt.update(self._file.read(len(view)))
        view[: len(plain)] = plain
        return len(plain)


def _cipher(key: AES, block: int) -> Cipher[CTR]:
    """The key is of this one upload, so its blocks are counted from nought."""
    return Cipher(key, CTR(block.to_bytes(_BLOCK, "big")))
