"""How stored words are framed in each format, so that they stay data: no entry, header, fence or role can be forged.

Every piece of text made here ends in a newline and begins with neither white space nor a slash, so that the tokens of
the whole are the sum of the tokens of the pieces. In Markdown and plain text each item is a block of its own, which
ends in a blank line: a paragraph after a label in parentheses, or else an entry of a list. No line of it opens another.
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
from haversack.model.signs import folded, shown

if TYPE_CHECKING:
    import json
else:
    json = lazy("json")

__all__ = ["FRAMES", "LINE_FORM", "Format", "Frame", "Heading", "date_words", "format_named", "line", "one_line"]

LINE_FORM = 2
"""Raise this when `line` writes another form: prices that were stored under an earlier one are counted anew."""


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
_MARKER = re.compile(r"<(?=\s*+/?\s*+memor)", re.IGNORECASE)
_OPENING = re.compile("[<\u02c2\u1438\u2039\u276e\u27e8\u3008\ufe64\uff1c]")
"""The signs of which `folded` makes a `<`."""
_BLOCK = re.compile(
    r"""\A(?:
      (\d{1,9})(?=[.)](?:\s|\Z))            # a numbered entry: the sign behind the number is what counts
    | (?=[-+*](?:\s|\Z)                     # an entry
        |\#{1,6}(?:\s|\Z)                   # a header
        |`{3}|~{3}                          # a fence
        |[><]                               # a quotation, HTML
        |([-*_])[ \t]*\2[ \t]*\2            # a rule
        |\[(?:[^\[\]\\]|\\.){1,999}\]:      # a definition of a link
        |[(\uff08\ufe59]                    # a label
      ))""",
    re.VERBOSE | re.DOTALL,
)
"""What words begin with that would not be read as words."""
_ESCAPED = r"\1\\"
"""Replaces that by a backslash at the right place."""
_LABEL_LIMIT = 80
_PARENTHESES = str.maketrans("()\uff08\uff09\ufe59\ufe5a", "[][][]")
_DEEP = 4
"""Spaces in front of a later line: there Markdown knows only words that go on with the paragraph."""


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
    speaker = _label(memory.speaker).translate(_PARENTHESES)
    if speaker:
        return f"({speaker}) {_guarded(_indented(words))}\n\n"
    return f"- {_BLOCK.sub(_ESCAPED, _guarded(_indented(words, _DEEP + len('- '))))}\n\n"


def _label(text: str) -> str:
    return _guarded(shown(one_line(text))[:_LABEL_LIMIT].strip()) if text else ""


def _indented(words: str, deep: int = _DEEP) -> str:
    """Return the words as they are shown: later lines so many spaces in, blank ones left out, for they end a block."""
    words = words.strip()
    if words.isascii() and words.isprintable():
        return words
    rows = [row.rstrip() for row in _LINES.split(shown(words).strip())]
    return f"\n{' ' * deep}".join(filter(None, rows))


def _guarded(text: str, sign: str = "&lt;") -> str:
    """Text that cannot open or close the `<memories>` wrapper that stands around it in a prompt, nor seem to.

    `sign` stands in for the `<`.
    """
    text = _MARKER.sub(sign, text) if "<" in text else text
    if text.isascii() or not (_OPENING.search(text) and _MARKER.search(folded(text))):
        return text
    return _OPENING.sub(sign, text)


def _title(noun: str, title: str) -> str:
    """A date as it is; a document's title in quotation marks, for it is stored words."""
    return _label(title) if noun == "session" else '"{}"'.format(_label(title).replace('"', "'"))


class _Markdown:
    def whole(self) -> Heading:
        return ("", "")

    def section(self, title: str) -> Heading:
        return (f"# {_label(title)}\n", "")

    def group(self, noun: str, title: str) -> Heading:
        return (f"## {_title(noun, title)}\n", "")

    def item(self, memory: Memory, words: str) -> str:
        return _bullet(memory, words)


class _Plain:
    def whole(self) -> Heading:
        return ("", "")

    def section(self, title: str) -> Heading:
        return (f"[[{_label(title)}]]\n", "")

    def group(self, noun: str, title: str) -> Heading:
        return (f"[{_title(noun, title)}]\n", "")

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
        return f"<{tag}{by}{trust}>{_guarded(_escaped(_indented(words)))}</{tag}>\n"


def _attribute(text: str) -> str:
    return _guarded(_quoted(_escaped(shown(one_line(text))[:_LABEL_LIMIT])))


def _quoted(value: str) -> str:
    """The value in the quotes that it needs least escapes in."""
    if '"' not in value:
        return f'"{value}"'
    return f"'{value}'" if "'" not in value else f'"{value.replace(chr(34), "&quot;")}"'


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;")


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
    seen = {name: shown(words) for name, words in fields.items()}
    text = json.dumps(seen, ensure_ascii=False, separators=(",", ":"))
    if not text.isprintable():
        text = _LINES.sub(lambda found: json.dumps(found.group())[1:-1], text)
    return "," + _guarded(text.replace("</", "<\\/"), r"\\u003c") + "\n"


FRAMES: Mapping[Format, Frame] = MappingProxyType(
    {Format.MARKDOWN: _Markdown(), Format.XML: _Xml(), Format.JSON: _Json(), Format.PLAIN: _Plain()}
)
