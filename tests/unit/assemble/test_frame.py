import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from datetime import UTC, datetime
from xml.sax.saxutils import escape, quoteattr

import pytest

from haversack.assemble.frame import FRAMES, Format, date_words, line
from haversack.model.memory import Kind, Memory

Make = Callable[..., Memory]


@pytest.mark.parametrize(
    ("content", "speaker", "expected"),
    [
        ("hi", "Alice", "(Alice) hi\n\n"),
        ("hi", "", "- hi\n\n"),
        ("  padded  ", "Bob", "(Bob) padded\n\n"),
        ("hi", "# x", "(# x) hi\n\n"),
        ("hi", "/root", "(/root) hi\n\n"),
        ("hi", " a\n b ", "(a b) hi\n\n"),
        ("hi", "Al (admin)", "(Al [admin]) hi\n\n"),
        ("hi", "\u200b", "- hi\n\n"),
        ("one\ntwo\r\n\n\tthree ", "Al", "(Al) one\n    two\n    \tthree\n\n"),
        ("one\u2028- two\x0bthree", "", "- one\n      - two\n      three\n\n"),
        ("</memories> < Memories> <memory>", "", "- &lt;/memories> &lt; Memories> &lt;memory>\n\n"),
        ("a < b </b>", "", "- a < b </b>\n\n"),
        ("# one", "", "- \\# one\n\n"),
        ("#one", "", "- #one\n\n"),
        ("12. one", "", "- 12\\. one\n\n"),
        ("12.5 l", "", "- 12.5 l\n\n"),
        ("-5 degrees", "", "- -5 degrees\n\n"),
        ("[1] is the first", "", "- [1] is the first\n\n"),
        ("[1]: is the first", "", "- \\[1]: is the first\n\n"),
        ("(Alice) hi", "", "- \\(Alice) hi\n\n"),
        ("# one", "Al", "(Al) # one\n\n"),
    ],
)
def test_line(make_memory: Make, content: str, speaker: str, expected: str) -> None:
    memory = make_memory(content, kind=Kind.PASSAGE, speaker=speaker)
    assert line(memory) == expected
    assert FRAMES[Format.MARKDOWN].item(memory, memory.content) == FRAMES[Format.PLAIN].item(memory, memory.content)


@pytest.mark.parametrize("end", ["\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_whatever_anybody_reads_as_the_end_of_a_line_is_one(make_memory: Make, end: str) -> None:
    assert line(make_memory(f"a{end}## b", kind=Kind.FACT)) == "- a\n      ## b\n\n"


def test_every_piece_ends_in_a_newline_and_starts_plainly(make_memory: Make) -> None:
    memory = make_memory("/x\n\ny", kind=Kind.PASSAGE, speaker=" /")
    for frame in FRAMES.values():
        pieces = [frame.item(memory, memory.content), *frame.section("S"), *frame.group("session", "d"), *frame.whole()]
        for piece in filter(None, pieces):
            assert piece.endswith("\n")
            assert not piece[0].isspace()
            assert piece[0] != "/"


def test_xml_escapes(make_memory: Make) -> None:
    frame = FRAMES[Format.XML]
    memory = make_memory("a </turn>\n& \x00b", kind=Kind.PASSAGE, speaker='A"<')
    node = ET.fromstring(frame.item(memory, memory.content))  # noqa: S314 - our own text
    assert (node.tag, node.text, node.attrib) == ("turn", "a </turn>\n    & \ufffdb", {"by": 'A"<'})
    assert ET.fromstring(frame.item(make_memory("x"), "x")).tag == "fact"  # noqa: S314
    assert frame.group("document", "Guide & more") == ('<document title="Guide &amp; more">\n', "</document>\n")


def test_a_title_of_a_document_stands_in_quotation_marks_and_a_date_does_not() -> None:
    for form, opening in ((Format.MARKDOWN, "## {}\n"), (Format.PLAIN, "[{}]\n")):
        assert FRAMES[form].group("document", 'The "8 May 2023"') == (opening.format("\"The '8 May 2023'\""), "")
        assert FRAMES[form].group("session", "8 May 2023") == (opening.format("8 May 2023"), "")


def test_json_rows(make_memory: Make) -> None:
    frame = FRAMES[Format.JSON]
    memory = make_memory('x"}\n]\u2028</memories>', kind=Kind.PASSAGE, speaker="Al")
    row = frame.item(memory, memory.content)
    assert row.count("\n") == 1
    assert "</" not in row
    assert json.loads(row[1:]) == {"by": "Al", "passage": 'x"}\n]\u2028</memories>'}
    opening, closing = frame.whole()
    assert json.loads(opening + row + frame.section("S")[0] + closing)[2] == {"section": "S"}


def test_dates_do_not_depend_on_the_locale() -> None:
    assert date_words(datetime(2023, 5, 8, 23, 30, tzinfo=UTC)) == "8 May 2023"


@pytest.mark.parametrize("speaker", ["Al", 'Al "B"', "O'Neil", 'O\'Neil "B"', "a & b < c > d", "&amp; &quot;"])
def test_xml_is_escaped_as_the_standard_library_does(make_memory: Make, speaker: str) -> None:
    memory = make_memory("x", kind=Kind.FACT, speaker=speaker)
    said = FRAMES[Format.XML].item(memory, f"{speaker} &lt; ]]>")
    assert said.startswith(f"<fact by={quoteattr(speaker)}")
    assert said.endswith(f">{escape(f'{speaker} &lt; ]]>')}</fact>\n")
