"""Files in, entries and problems out: the format is named or found, and the caller sees how far reading has come."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from haversack.errors import InputError, nearest
from haversack.model.memory import Json
from haversack.transfer.documents import read_document
from haversack.transfer.drafts import SessionNames
from haversack.transfer.entries import Problem, Value
from haversack.transfer.limits import Allowance, ReadLimits
from haversack.transfer.reader import Found, Origin, Reader, Values
from haversack.transfer.readers.chatgpt import CHATGPT
from haversack.transfer.readers.claude import CLAUDE
from haversack.transfer.readers.gemini import GEMINI
from haversack.transfer.readers.haversack import HAVERSACK
from haversack.transfer.readers.langchain import LANGCHAIN
from haversack.transfer.readers.llamaindex import LLAMAINDEX
from haversack.transfer.readers.memories import MCP_MEMORY, MEMORIES
from haversack.transfer.readers.messages import ANTHROPIC, OPENAI, RESPONSES
from haversack.transfer.readers.sharegpt import SHAREGPT
from haversack.transfer.source import READ_ERRORS, Opened, Source, open_sources
from haversack.transfer.values import MARKDOWN, holds_values, values

__all__ = ["FORMATS", "Reading", "read_files"]

_READERS = (
    HAVERSACK,
    CHATGPT,
    CLAUDE,
    SHAREGPT,
    MCP_MEMORY,
    GEMINI,
    LANGCHAIN,
    LLAMAINDEX,
    RESPONSES,
    ANTHROPIC,
    OPENAI,
    MEMORIES,
)
"""In the order in which they are asked: the choosier ones first."""
_BY_NAME = {reader.name: reader for reader in _READERS}
_DOCUMENTS = {"markdown": "a Markdown document", "text": "a plain text document"}
_SAMPLE = 20
"""Values looked at to find the format."""
_SAMPLE_BYTES = 16 << 20
"""Behind so many bytes no further value is looked at for that."""

FORMATS: dict[str, str] = {reader.name: reader.description for reader in _READERS} | _DOCUMENTS
"""Name -> what it is; `format=` takes these names."""


class Reading(Iterator[Found]):
    """Entries and problems, one after another; between them `read`, `file` and `format` say where reading stands."""

    def __init__(self, files: Sequence[Path | Opened], format_name: str | None, limits: ReadLimits) -> None:
        self.total = sum(_size(file) for file in files)
        """Bytes of all files together; what archives hold counts as it is packed."""
        self.file = ""
        """The file at hand."""
        self.format = ""
        """The format it is read as."""
        self._files = files
        self._allowance = Allowance(limits)
        self._named = format_name
        self._names = SessionNames()
        self._done = 0
        self._size = 0
        self._source: Source | None = None
        self._found = self._run()

    @property
    def read(self) -> int:
        """Bytes read so far, out of `total`."""
        source = self._source
        if source is None or source.raw.closed or not source.size:
            return self._done
        return self._done + self._size * min(source.raw.tell(), source.size) // source.size

    def __next__(self) -> Found:
        return next(self._found)

    def close(self) -> None:
        """Stop early; the file at hand is closed."""
        self._found.close()

    def _run(self) -> Generator[Found]:
        for file in self._files:
            self._size = _size(file)
            for source in open_sources(file, self._allowance):
                if isinstance(source, Problem):
                    yield source
                    continue
                self._source, self.file = source, source.name
                yield from _guarded(source, self._read(source))
            self._source = None
            self._done += self._size

    def _read(self, source: Source) -> Iterator[Found]:
        if self._named in _DOCUMENTS or (self._named is None and not holds_values(source)):
            markdown = self._named == "markdown" or (self._named is None and source.suffix in MARKDOWN)
            self.format = "markdown" if markdown else "text"
            yield from read_document(source, markdown=markdown)
            return
        stream = values(source)
        sample = _sample(source, stream)
        reader = _BY_NAME.get(self._named or "") or _find(sample)
        everything: Values = chain(sample, stream)
        if reader is not None:
            self.format = reader.name
            yield from reader.read(everything, Origin(stem=source.stem, names=self._names))
        elif sample:
            yield from (one for one in sample if isinstance(one, Problem))
            if any(isinstance(one, Value) for one in sample):
                told = f"looks like none of the known formats; name one of {', '.join(FORMATS)}"
                yield Problem(file=source.name, place="", message=told)


def read_files(
    files: Iterable[str | Path | Opened],
    *,
    format: str | None = None,  # noqa: A002 - the CLI's word
    limits: ReadLimits | None = None,
) -> Reading:
    """Reads the files in order, each in the named format or in the one that it looks like.

    Nothing is raised for what files hold: that comes as a Problem in its place, what is beyond the limits as well. An
    unknown format is an InputError.
    """
    if format is not None and format not in FORMATS:
        raise InputError(f"format={format!r} is not a format; {nearest(format, FORMATS)}")
    given = [file if isinstance(file, Opened) else Path(file) for file in files]
    return Reading(given, format, limits or ReadLimits())


def _size(file: Path | Opened) -> int:
    if isinstance(file, Opened):
        return file.size
    return file.stat().st_size if file.is_file() else 0


def _sample(source: Source, stream: Iterator[Value | Problem]) -> list[Value | Problem]:
    """The first values, fewer where they are large."""
    sample = list(islice(stream, 1))
    while len(sample) < _SAMPLE and source.text.tell() < _SAMPLE_BYTES and (more := list(islice(stream, 1))):
        sample += more
    return sample


def _find(sample: Sequence[Value | Problem]) -> Reader | None:
    seen: list[Json] = [one.data for one in sample if isinstance(one, Value)]
    return next((reader for reader in _READERS if seen and reader.detect(seen)), None)


def _guarded(source: Source, found: Iterator[Found]) -> Iterator[Found]:
    """What is found, and a problem where the file itself gives out."""
    try:
        yield from found
    except READ_ERRORS as error:
        yield Problem(file=source.name, place="", message=f"reading stopped: {error}")
