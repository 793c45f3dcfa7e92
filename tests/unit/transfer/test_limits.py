"""Files that unpack to more than they say, values without an end: read within the limits, told by their names."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from haversack.errors import ConfigError
from haversack.transfer import Opened, Problem, ReadLimits, read_files
from haversack.transfer.limits import Transcoded

Read = Callable[..., Any]
SMALL = ReadLimits(value_bytes=2_000, file_bytes=30_000, total_bytes=50_000)
TOO_LARGE = (
    "it has more bytes than one value may have (2,000): if the file is good, raise value_bytes in the settings "
    "(imports.value_bytes; for uploads server.imports.value_bytes)"
)


def chats(number: int, words: str = "hello") -> str:
    return json.dumps([{"role": "user", "content": f"{words} {each}"} for each in range(number)])


def packed(path: Path, method: int = zipfile.ZIP_DEFLATED, **members: str | bytes) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(f"{name.replace('_', '-')}.json", content)
    return path


def problems(path: Path | Opened, limits: ReadLimits = SMALL) -> list[str]:
    return [one.message for one in read_files([path], limits=limits) if isinstance(one, Problem)]


def turns(path: Path | Opened, limits: ReadLimits = SMALL) -> int:
    return sum(len(one.turns) for one in read_files([path], limits=limits) if not isinstance(one, Problem))  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.json", "[" + json.dumps({"role": "user", "content": "x" * 2_000}) + "]"),
        ("x.json", '[{"role": "user", "content": "' + "x" * 5_000_000),
        ("x.json", '{"a": [' * 5_000),
        ("x.json", "[" + " " * 5_000_000 + "]"),
    ],
)
def test_a_value_that_is_too_large_ends_the_reading(tmp_path: Path, name: str, content: str):
    (tmp_path / name).write_text(content)
    assert problems(tmp_path / name) == [f"reading stopped: {TOO_LARGE}"]


def test_a_line_that_is_too_long_is_left_out_and_the_rest_is_read(tmp_path: Path):
    said = [{"role": "user", "content": words} for words in ("a", "b" * 3_000_000, "c")]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(one) + "\n" for one in said))
    assert problems(tmp_path / "x.jsonl") == [TOO_LARGE]
    assert turns(tmp_path / "x.jsonl") == 2


@pytest.mark.parametrize("rows", ["x" * 3_000, '"' + "x\n" * 1_500 + '"', ",".join(["a"] * 1_500)])
def test_a_row_that_is_too_large_ends_the_reading(tmp_path: Path, rows: str):
    (tmp_path / "x.csv").write_text(f"content,kind\na,fact\n{rows}\n")
    assert problems(tmp_path / "x.csv") == [f"reading stopped: {TOO_LARGE}"]


def test_many_rows_are_more_than_one_may_be(tmp_path: Path):
    (tmp_path / "x.csv").write_text("content,kind\n" + "a,fact\n" * 2_000)
    assert len(list(read_files([tmp_path / "x.csv"], limits=SMALL))) == 2_000


def test_a_document_that_is_too_large_is_not_read(tmp_path: Path):
    (tmp_path / "x.md").write_text("# a\n\n" + "word " * 1_000)
    told = problems(tmp_path / "x.md")
    assert told == ["reading stopped: " + TOO_LARGE.replace("one value may", "one document may")]


def test_what_one_file_of_an_archive_unpacks_to_has_a_limit(tmp_path: Path):
    archive = packed(tmp_path / "x.zip", conversations=chats(2_000), conversations_1=chats(1))
    assert problems(archive) == [
        TOO_LARGE.replace("it has", "cannot be read: unpacked, it has")
        .replace("one value", "one file")
        .replace("2,000", "30,000")
        .replace("value_bytes", "file_bytes")
    ]
    assert turns(archive) == 1


def test_what_all_files_unpack_to_has_a_limit(tmp_path: Path):
    each = chats(500)
    assert 20_000 < len(each) < 25_000
    archive = packed(tmp_path / "x.zip", conversations=each, conversations_1=each, conversations_2=each)
    told = "cannot be read: unpacked, the files have more bytes than all may have (50,000)"
    assert [one.split(":", 2)[1] for one in problems(archive)] == [told.split(":")[1]]
    assert len(list(read_files([archive, archive], limits=ReadLimits(total_bytes=6 * len(each))))) == 6
    assert len(problems(archive, ReadLimits(total_bytes=3 * len(each)))) == 0


def test_what_is_packed_too_well_is_not_unpacked(tmp_path: Path):
    bomb = packed(tmp_path / "x.zip", conversations="[" + " " * (50 << 20) + "]")
    assert bomb.stat().st_size < 60_000
    tracemalloc.start()
    told = problems(bomb, ReadLimits())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [one[:66] for one in told] == ["reading stopped: it is packed more times smaller than a file may be"[:66]]
    assert peak < 32 << 20


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packings_that_cannot_be_unpacked_in_steps_are_refused(tmp_path: Path, method: int):
    archive = packed(tmp_path / "x.zip", method, conversations=chats(1))
    assert problems(archive) == ["is packed in a way that is not read: pack it by deflate"]


def test_an_archive_that_lists_too_many_files_is_refused(tmp_path: Path):
    archive = tmp_path / "x.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("conversations.json", chats(1))
        for number in range(140):
            made.writestr(zipfile.ZipInfo(f"{number:060}" + "x" * 60_000), b"")
    assert problems(archive) == ["cannot be read: its list of files has more than 8,388,608 bytes"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le", "utf-32-be"])
def test_other_encodings_are_read_piece_by_piece(tmp_path: Path, encoding: str):
    mark = {"utf-16-le": b"\xff\xfe", "utf-32-be": b"\0\0\xfe\xff"}.get(encoding, b"")
    said = json.dumps([{"role": "user", "content": "é🎒" * 100}] * 30_000, ensure_ascii=False)
    (tmp_path / "x.json").write_bytes(mark + said.encode(encoding))
    reading = read_files([tmp_path / "x.json"])
    tracemalloc.start()
    source_bytes = 0
    with (tmp_path / "x.json").open("rb") as file:
        text = io.BufferedReader(Transcoded(file, encoding if not mark else encoding[:6]), 1 << 18)
        while part := text.read(1 << 16):
            source_bytes += len(part)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert source_bytes == len(said.encode())
    assert peak < 12 << 20 < source_bytes
    assert not [one for one in reading if isinstance(one, Problem)]


def test_a_wide_text_is_read_from_its_beginning_alone():
    text = Transcoded(io.BytesIO("abc".encode("utf-16")), "utf-16")
    assert (text.readable(), text.seekable(), text.read(2), text.tell()) == (True, True, b"ab", 2)
    with pytest.raises(io.UnsupportedOperation):
        text.seek(1)
    assert (text.seek(0), text.read()) == (0, b"abc")


def test_a_file_that_is_open_is_read_like_one_on_disk(tmp_path: Path):
    def opened(name: str, file: BinaryIO) -> Opened:
        return Opened(name=name, file=file, size=file.seek(0, io.SEEK_END))

    plain = opened("up.json", io.BytesIO(chats(3).encode()))
    with packed(tmp_path / "x.zip", conversations=chats(2)).open("rb") as file:
        assert (turns(plain), turns(opened("up.zip", file))) == (3, 2)
    assert problems(opened("up.zip", io.BytesIO(b"PK"))) == ["cannot be read: File is not a zip file"]
    assert not plain.file.closed


def test_limits_are_whole_numbers():
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(ConfigError, match="ratio="):
            ReadLimits(ratio=wrong)  # type: ignore[arg-type]
