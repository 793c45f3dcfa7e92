"""Files, documents, formats named and found, and progress."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from haversack.errors import InputError
from haversack.transfer import FORMATS, DocumentEntry, Problem, SessionEntry, read_files

Read = Callable[..., Any]


def test_markdown_is_titled_by_its_first_heading(read: Read):
    result = read({"notes.md": "intro\r\n\r\n## The plan ##\r\nDig.\r\n"})
    assert result.reading.format == "markdown"
    assert [(one.title, one.text, one.source) for one in result.documents] == [
        ("The plan", "intro\n\n## The plan ##\nDig.\n", "notes.md")
    ]


@pytest.mark.parametrize(
    ("line", "title"),
    [("# a  b ## ", "a  b"), ("#\tb#c ###", "b#c"), ("# ###", "#"), ("#  \n# later", "later"), ("#none", "notes")],
)
def test_the_words_of_a_heading_are_its_title(read: Read, line: str, title: str):
    assert read({"notes.md": line}).documents[0].title == title


def test_plain_text_is_titled_by_its_file(read: Read):
    result = read({"notes.txt": "# not a heading"})
    assert (result.reading.format, result.documents[0].title) == ("text", "notes")


def test_a_document_has_the_same_key_again_and_another_when_it_changed(read: Read):
    keys = [read({"a.txt": words}).documents[0].key for words in ("x", "x", "y")]
    assert keys[0] == keys[1] != keys[2]


def test_a_text_that_begins_with_a_bracket_is_a_text(read: Read):
    files = {"chat.txt": "[1/2/26, 10:00] Ann: hi\n", "todo.md": "[ ] mow\n", "set.txt": "{a} or {b}"}
    result = read(files)
    assert [one.text for one in result.documents] == list(files.values())
    assert read({"log": '[ {"role": "user", "content": "x"} ]'}).reading.format == "openai"


def test_a_json_file_may_be_read_as_a_text(read: Read):
    assert read({"a.json": [1]}, "text").documents[0].text == "[\n 1\n]"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_documents_with_a_byte_order_mark(read: Read, encoding: str):
    assert read({"a.txt": "naïve 日本".encode(encoding)}).documents[0].text == "naïve 日本"


def test_a_text_in_an_old_encoding_is_read_with_a_warning(read: Read):
    result = read({"a.txt": "café".encode("latin-1")})
    assert result.documents[0].text == "caf\ufffd"
    assert result.warnings == ["a.txt: is not UTF-8 at byte 4; what could not be read is marked with \ufffd"]


def test_bytes_are_no_text(read: Read):
    assert read({"a.bin": b"\x01\x00\x02"}).problems == ["a.bin: holds NUL bytes, so it is not a text"]


def test_files_that_cannot_be_opened(tmp_path: Path):
    found = list(read_files([tmp_path / "gone.json", tmp_path]))
    assert [isinstance(one, Problem) for one in found] == [True, True]
    assert "gone.json: cannot be read: " in str(found[0])


def test_an_unknown_format_names_the_nearest():
    with pytest.raises(InputError, match=r"^format='openia' is not a format; did you mean 'openai'\?$"):
        read_files([], format="openia")


def test_unknown_json_asks_for_a_name(read: Read):
    (problem,) = read({"a.json": {"foo": 1}}).problems
    assert problem == f"a.json: looks like none of the known formats; name one of {', '.join(FORMATS)}"


def test_a_named_format_is_used_as_named(read: Read):
    result = read({"a.jsonl": [{"role": "user", "content": "x"}]}, "chatgpt")
    assert (result.lines, result.problems) == ([], ["a.jsonl: line 1: mapping must be an object, not missing"])


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"markdown", "text"}))
def test_any_format_reports_what_is_not_its_own(read: Read, name: str):
    result = read({"a.jsonl": "{broken\n5\n"}, name)
    assert result.problems[0].startswith("a.jsonl: line 1: is not JSON: ")
    assert result.sessions + result.memories == []


def test_progress_goes_from_nothing_to_all(tmp_path: Path):
    first, second = tmp_path / "a.txt", tmp_path / "b.jsonl"
    first.write_text("0123456789")
    second.write_text('{"messages": [{"role": "user", "content": "x"}]}\n' * 3)
    reading = read_files([first, second])
    assert (reading.read, reading.total) == (0, 10 + 49 * 3)
    seen = [(type(one), reading.file, reading.format, reading.read) for one in reading]
    assert seen[0] == (DocumentEntry, str(first), "text", 10)
    assert seen[1][:3] == (SessionEntry, str(second), "openai")
    assert reading.read == reading.total


def test_files_of_different_formats_in_one_run(read: Read):
    result = read({"a.md": "# A", "b.jsonl": [{"role": "user", "content": "x"}], "c.json": [{"memory": "m"}]})
    assert (len(result.documents), len(result.sessions), len(result.memories)) == (1, 1, 1)


def test_reading_may_stop_early(tmp_path: Path):
    path = tmp_path / "b.jsonl"
    path.write_text('{"messages": [{"role": "user", "content": "x"}]}\n' * 3)
    reading = read_files([path])
    next(reading)
    reading.close()
    assert list(reading) == []
