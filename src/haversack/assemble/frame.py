"""How stored words are framed in each format, so that they stay data: no entry, header, fence or role can be forged.

Every piece of text made here ends in a newline and begins with neither white space nor a slash, so that the tokens of
the whole are the sum of the tokens of the pieces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from haversack.errors import InputError, nearest
from haversack.lazy import lazy
from haversack.model.memory import Kind, Memory, Trust

if TYPE_CHECKING:
    import json
else:
    json = lazy("json")

__all__ = ["FRAMES", "Format", "Frame", "Heading", "date_words", "format_named", "line", "one_line"]


class Format(StrEnum):
    """How the context is written."""

    MARKDOWN = "markdown"
    XML = "xml"
    JSON = "json"
    PLAIN = "plain"


def format_named(name: str | Format) -> Format:
    """The format of this name; raises InputError that names the nearest one."""
    try:
        return Format(name)
    except ValueError:
        msg = f"format={name!r} is not known; {nearest(str(name), list(Format))}"
        raise InputError(msg) from None


Heading = tuple[str, str]
"""What opens a container and what closes it; either may be empty."""


class Frame(Protocol):
    """One format."""

    def whole(self) -> Heading:
        """Around everything."""
        ...

    def section(self, title: str) -> Heading:
        """Around a section."""
        ...

    def group(self, noun: str, title: str) -> Heading:
        """Around the items of one session or document: `noun` is `session` or `document`."""
        ...

    def item(self, memory: Memory, words: str) -> str:
        """One entry: the memory in these words, which are its content or a shorter form of it."""
        ...


_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_LINES = re.compile("[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]+")
_MARKER = re.compile(r"<(?=\s*/?\s*memor)", re.IGNORECASE)
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_LABEL_LIMIT = 80
_CONTINUATION = "\n    "


def date_words(day: date) -> str:
    """`8 May 2023`, the same in every locale."""
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def one_line(text: str) -> str:
    """The text without line breaks, each run of white space one space."""
    return " ".join(text.split())


def line(memory: Memory) -> str:
    """The canonical full line of a memory, as Markdown and plain text show it; its token count is the stored price."""
    return _bullet(memory, memory.content)


def _bullet(memory: Memory, words: str) -> str:
    speaker = _label(memory.speaker)
    if not speaker:
        lead = "- "
    elif speaker[0].isalnum():
        lead = f"{speaker}: "
    else:
        lead = f"- {speaker}: "
    return f"{lead}{_guarded(_indented(words))}\n"


def _label(text: str) -> str:
    return _guarded(one_line(text)[:_LABEL_LIMIT].strip()) if text else ""


def _indented(words: str) -> str:
    """Later lines stand four spaces in: there Markdown knows no header, no fence and no list of the outer level."""
    words = words.strip()
    if words.isprintable():
        return words
    rows = [row.rstrip() for row in _LINES.split(words)]
    return _CONTINUATION.join(filter(None, rows))


def _guarded(text: str) -> str:
    """Text that cannot open or close the `<memories>` wrapper that stands around it in a prompt."""
    return _MARKER.sub("&lt;", text) if "<" in text else text


class _Markdown:
    def whole(self) -> Heading:
        return ("", "")

    def section(self, title: str) -> Heading:
        return (f"# {_label(title)}\n", "")

    def group(self, noun: str, title: str) -> Heading:  # noqa: ARG002 - the header shows which it is
        return (f"## {_label(title)}\n", "")

    def item(self, memory: Memory, words: str) -> str:
        return _bullet(memory, words)


class _Plain:
    def whole(self) -> Heading:
        return ("", "")

    def section(self, title: str) -> Heading:
        return (f"[[{_label(title)}]]\n", "")

    def group(self, noun: str, title: str) -> Heading:  # noqa: ARG002
        return (f"[{_label(title)}]\n", "")

    def item(self, memory: Memory, words: str) -> str:
        return _bullet(memory, words)


class _Xml:
    def whole(self) -> Heading:
        return ("<memories>\n", "</memories>\n")

    def section(self, title: str) -> Heading:
        return (f"<section name={_attribute(title)}>\n", "</section>\n")

    def group(self, noun: str, title: str) -> Heading:
        name = "date" if noun == "session" else "title"
        return (f"<{noun} {name}={_attribute(title)}>\n", f"</{noun}>\n")

    def item(self, memory: Memory, words: str) -> str:
        tag = "turn" if memory.kind is Kind.PASSAGE and memory.speaker else str(memory.kind)
        by = f" by={_attribute(memory.speaker)}" if memory.speaker else ""
        trust = f' trust="{memory.trust}"' if memory.trust is Trust.EXTRACTED else ""
        return f"<{tag}{by}{trust}>{_escaped(_printable(_indented(words)))}</{tag}>\n"


def _attribute(text: str) -> str:
    """The text in the quotes that it needs least escapes in, without line breaks."""
    value = _escaped(_printable(one_line(text)[:_LABEL_LIMIT]))
    if '"' not in value:
        return f'"{value}"'
    return f"'{value}'" if "'" not in value else f'"{value.replace(chr(34), "&quot;")}"'


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;")


def _printable(text: str) -> str:
    """Text without the characters that XML 1.0 forbids."""
    return text if text.isprintable() else _UNPRINTABLE.sub("\ufffd", text)


class _Json:
    """One array, a row to a line; headers are rows. Rows lead with their comma, so that each has one fixed price."""

    def whole(self) -> Heading:
        return ('[{"memories":"quoted data"}\n', "]\n")

    def section(self, title: str) -> Heading:
        return (_row({"section": one_line(title)}), "")

    def group(self, noun: str, title: str) -> Heading:
        return (_row({noun: one_line(title)}), "")

    def item(self, memory: Memory, words: str) -> str:
        by = {"by": memory.speaker} if memory.speaker else {}
        return _row(by | {str(memory.kind): words.strip()})


def _row(fields: Mapping[str, str]) -> str:
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    if not text.isprintable():
        text = _LINES.sub(lambda found: json.dumps(found.group())[1:-1], text)
    return "," + text.replace("</", "<\\/") + "\n"


FRAMES: Mapping[Format, Frame] = MappingProxyType(
    {Format.MARKDOWN: _Markdown(), Format.XML: _Xml(), Format.JSON: _Json(), Format.PLAIN: _Plain()}
)
