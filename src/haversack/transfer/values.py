"""The values of a file one at a time: lines of JSON, elements of one array, objects one after another, a table's rows.

One value is in memory at a time, never the whole file. A value that is not JSON is a problem of its own and the next
one is read; a file that ends in the middle of a value loses only that value.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from itertools import count
from typing import BinaryIO, cast

from haversack.model.memory import Json
from haversack.model.text import clean
from haversack.transfer.entries import Problem, Value
from haversack.transfer.limits import TooMuchError
from haversack.transfer.source import Source

__all__ = ["MARKDOWN", "holds_values", "values"]

MARKDOWN = frozenset({".md", ".markdown", ".mdown"})

_HEAD = 65536
_CHUNK = 1 << 20
_LINES = frozenset({".jsonl", ".ndjson"})
_OPENERS = b"{[,:"
# Everything up to the next bracket, whole strings included; stops also at a string that the bytes at hand do not close.
_SKIP = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_GAP = b" \t\r\n,"
_TABLES = frozenset({".csv", ".tsv"})
_BEGINS_LIKE_JSON = re.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[{\[\"\]])")


def holds_values(source: Source) -> bool:
    """Whether the file looks like JSON or a table, by its suffix or its first characters; else it is a document."""
    if source.suffix in _LINES | _TABLES | {".json"}:
        return True
    return source.suffix not in MARKDOWN and _BEGINS_LIKE_JSON.match(_head(source)) is not None


def values(source: Source) -> Iterator[Value | Problem]:
    """All values, each with its place in the file."""
    head = _head(source).lstrip()
    source.rewind()
    if not head.strip():
        return
    if source.suffix in _TABLES:
        yield from _rows(source, head)
    elif _is_lines(head, source.suffix):
        yield from _lines(source)
    elif head[:1] in {b"{", b"["}:
        yield from _scanned(source, inside=head[:1] == b"[")
    else:
        yield Problem(file=source.name, place="line 1", message="is not JSON")


def _head(source: Source) -> bytes:
    source.rewind()
    return source.text.read(_HEAD)


def _is_lines(head: bytes, suffix: str) -> bool:
    """Whether each line is a value of its own: an object that does not go on, or an array that something follows."""
    first, _, rest = head.partition(b"\n")
    first = first.rstrip()
    if head[:1] == b"[":
        return bool(rest.strip()) and not isinstance(_parse(first), str)
    return suffix in _LINES or (head[:1] == b"{" and first[-1:] not in _OPENERS)


def _rows(source: Source, head: bytes) -> Iterator[Value | Problem]:
    """A table's rows as objects of their filled cells, under the names in its first row."""
    heading = head.partition(b"\n")[0]
    delimiter = max((",", ";", "\t"), key=lambda sign: heading.count(sign.encode()))
    lines = _TableLines(source)
    rows = csv.DictReader(lines, delimiter=delimiter, restkey="")
    try:
        for number, row in enumerate(rows, start=2):
            place = f"row {number}"
            lines.taken = 0
            if "" in row:
                yield Problem(file=source.name, place=place, message="has more cells than the first row has names")
            else:
                yield Value(data={name: cell for name, cell in row.items() if cell}, file=source.name, place=place)
    except csv.Error as error:
        yield Problem(file=source.name, place=f"line {rows.line_num}", message=f"reading stopped: {error}")


def _lines(source: Source) -> Iterator[Value | Problem]:
    for number in count(1):
        raw = source.text.readline(source.most + 1)
        if not raw:
            return
        if not raw.strip():
            continue
        place = f"line {number}"
        if len(raw) > source.most:
            _skip_line(source, raw)
            yield Problem(file=source.name, place=place, message=str(_too_much(source.most)))
            continue
        parsed = _parse(raw)
        if isinstance(parsed, str):
            torn = "" if raw.endswith(b"\n") else " (the file ends inside this line)"
            yield Problem(file=source.name, place=place, message=parsed + torn)
        else:
            yield Value(data=parsed[0], file=source.name, place=place)


def _skip_line(source: Source, part: bytes) -> None:
    """Read to the end of a line that is too long."""
    while part and not part.endswith(b"\n"):
        part = source.text.readline(_CHUNK)


def _too_much(most: int) -> TooMuchError:
    return TooMuchError("it has more bytes than one value may have", "value_bytes", most)


class _TableLines(Iterator[str]):
    """A table's lines; a row may be of many, but not of more bytes than one value may have."""

    def __init__(self, source: Source) -> None:
        self.taken = 0
        """Bytes of the row at hand."""
        self._source = source

    def __next__(self) -> str:
        most = self._source.most
        raw = self._source.text.readline(most + 1 - self.taken)
        self.taken += len(raw)
        if self.taken > most:
            raise _too_much(most)
        if not raw:
            raise StopIteration
        return raw.decode("utf-8", "replace")


def _scanned(source: Source, *, inside: bool) -> Iterator[Value | Problem]:
    """Elements of the array when `inside`, otherwise the objects that stand one after another."""
    scanner = _Scanner(base=int(inside), most=source.most)
    number = 0
    for number, span in enumerate(scanner.spans(source.text), start=1):
        place = f"element {number}"
        parsed = _parse(span) if span[:1] in {b"{", b"["} else "is neither an object nor an array"
        if isinstance(parsed, str):
            yield Problem(file=source.name, place=place, message=parsed)
        else:
            yield Value(data=parsed[0], file=source.name, place=place)
    if scanner.unfinished:
        yield Problem(file=source.name, place=f"element {number + 1}", message="the file ends in the middle of it")
    elif scanner.open:
        yield Problem(
            file=source.name, place=f"element {number}", message="the file ends behind it, unfinished", warning=True
        )


class _Scanner:
    """Finds where each value at depth `base` begins and ends, without parsing it."""

    def __init__(self, *, base: int, most: int) -> None:
        self._base = base
        self._most = most
        self._depth = 0
        self._buffer = b""
        self._start = 0
        """Where the value at hand begins, or the gap before the next one."""
        self._position = 0
        """Up to where the buffer is scanned."""

    @property
    def unfinished(self) -> bool:
        """Whether the bytes ended inside a value."""
        return self._depth > self._base or bool(self._buffer[self._start :].strip(_GAP))

    @property
    def open(self) -> bool:
        """Whether the bytes ended before the array did."""
        return self._base > 0

    def spans(self, file: BinaryIO) -> Iterator[bytes]:
        """The bytes of each value, and of whatever else stands between them. Raises TooMuchError for too many."""
        while more := file.read(max(_CHUNK, len(self._buffer) - self._start)):
            self._buffer = self._buffer[self._start :] + more
            self._position -= self._start
            self._start = 0
            yield from self._scan()
            self._check(len(self._buffer))

    def _scan(self) -> Iterator[bytes]:
        while skipped := _SKIP.match(self._buffer, self._position):
            self._position = skipped.end()
            match self._buffer[self._position : self._position + 1]:
                case b"{" | b"[":
                    yield from self._begin(self._position)
                case b"}" | b"]":
                    yield from self._end(self._position)
                case _:  # the end, or a string that may go on in what is not read yet
                    return

    def _begin(self, at: int) -> Iterator[bytes]:
        if self._depth == self._base:
            yield from self._stray(at)
            self._start = at
        elif self._depth < self._base:
            self._start = at + 1
        self._depth += 1
        self._position = at + 1

    def _end(self, at: int) -> Iterator[bytes]:
        self._depth -= 1
        self._position = at + 1
        if self._depth == self._base:
            self._check(at + 1)
            span = self._buffer[self._start : at + 1]
            self._start = at + 1
            yield span
        elif self._depth < self._base:
            yield from self._stray(at if self._base else at + 1)
            self._start, self._depth, self._base = at + 1, 0, 0

    def _check(self, end: int) -> None:
        if end - self._start > self._most:
            raise _too_much(self._most)

    def _stray(self, end: int) -> Iterator[bytes]:
        if stray := self._buffer[self._start : end].strip(_GAP):
            yield stray


def _parse(raw: bytes) -> tuple[Json] | str:
    """The value, in a tuple, or what is wrong with it."""
    try:
        return (_decode(raw),)
    except UnicodeDecodeError as error:
        return f"is not UTF-8 at byte {error.start + 1} of it"
    except RecursionError:
        return "is nested too deeply"
    except json.JSONDecodeError as error:
        return f"is not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}"
    except ValueError as error:  # a number of thousands of digits
        return f"is not JSON that can be read: {error}"


def _decode(raw: bytes) -> Json:
    value = cast("Json", json.loads(raw.rstrip().decode()))
    if not _HALF.search(raw):
        return value
    # A surrogate that has no partner cannot be stored.
    return cast("Json", json.loads(clean(json.dumps(value, ensure_ascii=False))))
