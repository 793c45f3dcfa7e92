"""Plain text and Markdown: one document, whole; cutting it into passages is recall's work."""

from __future__ import annotations

import re
from collections.abc import Iterator

from haversack.model.text import is_blank
from haversack.transfer.drafts import short_digest
from haversack.transfer.entries import DocumentEntry, Problem
from haversack.transfer.limits import TooMuchError
from haversack.transfer.source import Source

__all__ = ["read_document"]

_HEADING = re.compile(r"^#{1,6}[ \t]++(.*[^ \t#\n]|.)", re.MULTILINE)
_TITLE_LIMIT = 200


def read_document(source: Source, *, markdown: bool) -> Iterator[DocumentEntry | Problem]:
    """The document, titled by its first heading when it is Markdown and has one, otherwise by the file's name."""
    source.rewind()
    raw = source.text.read(source.most + 1)
    if len(raw) > source.most:
        raise TooMuchError("it has more bytes than one document may have", "value_bytes", source.most)
    if b"\0" in raw:
        yield Problem(file=source.name, place="", message="holds NUL bytes, so it is not a text")
        return
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n")
    if wrong := _first_wrong_byte(raw):
        told = f"is not UTF-8 at byte {wrong}; what could not be read is marked with \ufffd"
        yield Problem(file=source.name, place="", message=told, warning=True)
    if is_blank(text):
        return
    heading = _HEADING.search(text) if markdown else None
    title = heading[1][:_TITLE_LIMIT] if heading else source.stem
    key = short_digest(f"{source.stem}{source.suffix}\0{text}", 24)
    yield DocumentEntry(key=key, title=title, text=text, source=source.stem + source.suffix)


def _first_wrong_byte(raw: bytes) -> int:
    """Its place, from 1; 0 when all is UTF-8."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return error.start + 1
    return 0
