"""Values out of lines, arrays and loose objects, whole, broken and cut."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.transfer.values import _Scanner

Read = Callable[..., Any]
A, B, C = ({"role": "user", "content": name} for name in "abc")
SAID = [["user: a", "user: b"]]


def text(*messages: Any) -> str:
    return ",".join(json.dumps(message) for message in messages)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.jsonl", [A, B]),
        ("x.json", [A, B]),
        ("x.json", json.dumps([A, B])),
        ("x.json", f"{json.dumps(A)}\n{json.dumps(B)}\n"),
        ("x.jsonl", json.dumps([A, B], indent=1)),
        ("x.log", f"{json.dumps(A, indent=1)}\n{json.dumps(B, indent=1)}"),
        ("x.jsonl", f"\ufeff\n{json.dumps(A)}\n\n  \n{json.dumps(B)}"),
        ("x.jsonl", f"{json.dumps(A)}\r\n{json.dumps(B)}\r\n"),
        ("x.jsonl", f"{json.dumps(A)}\n{json.dumps(B)}\n".encode("utf-16")),
        ("x.json", f"[{text(A, B)}]".encode("utf-32")),
        ("x.jsonl", json.dumps(A) + "\n" + json.dumps(B)),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 8 else "",
)
def test_layouts_and_encodings(read: Read, name: str, content: Any):
    result = read({name: content})
    assert (result.lines, result.problems, result.warnings) == (SAID, [], [])


@pytest.mark.parametrize("name", ["x.jsonl", "x.json", "x.txt", "x.md"])
@pytest.mark.parametrize("content", ["", " \n\n", "\ufeff"])
def test_an_empty_file_is_nothing(read: Read, name: str, content: str):
    assert read({name: content}).found == []


def test_a_bad_line_is_told_by_number_and_the_rest_is_read(read: Read):
    result = read({"x.jsonl": f"{json.dumps(A)}\n\nnot json\n{json.dumps(B)}\n"})
    assert result.problems == ["x.jsonl: line 3: is not JSON: Expecting value at character 1"]
    assert result.lines == SAID


def test_a_bad_first_line_does_not_hide_the_format(read: Read):
    result = read({"x.jsonl": f'{{"role": "us\n{json.dumps(A)}\n{json.dumps(B)}\n'})
    assert result.problems == ["x.jsonl: line 1: is not JSON: Unterminated string starting at character 10"]
    assert result.lines == SAID


def test_a_torn_last_line_loses_only_itself(read: Read):
    torn = '{"role": "user", "content": "日本'.encode()[:-1]
    result = read({"x.jsonl": f"{json.dumps(A)}\n{json.dumps(B)}\n".encode() + torn})
    assert result.problems == ["x.jsonl: line 3: is not UTF-8 at byte 33 of it (the file ends inside this line)"]
    assert result.lines == SAID


def test_a_broken_element_loses_only_itself(read: Read):
    result = read({"x.json": f'[{text(A)}, {{"x": 1,}}, 7, {text(B)}]'})
    assert result.lines == SAID
    assert [problem.split(":")[1] for problem in result.problems] == [" element 2", " element 3"]
    assert result.problems[1] == "x.json: element 3: is neither an object nor an array"


def test_a_cut_array_keeps_what_is_whole(read: Read):
    result = read({"x.json": f'[{text(A, B)}, {{"role": "us'})
    assert result.problems == ["x.json: element 3: the file ends in the middle of it"]
    assert result.lines == SAID


def test_an_array_that_is_not_closed_is_a_warning(read: Read):
    result = read({"x.json": f"[{text(A, B)}\n"})
    assert result.problems == []
    assert result.warnings == ["x.json: element 2: the file ends behind it, unfinished"]
    assert result.lines == SAID


def test_a_cut_object_is_a_problem(read: Read):
    result = read({"x.json": '{\n "messages": [\n  {"role": "user", "content": "a"}'})
    assert (result.lines, result.problems) == ([], ["x.json: element 1: the file ends in the middle of it"])


def test_deep_nesting_loses_only_itself(read: Read):
    deep = "[" * 100_000 + "]" * 100_000
    lines = read({"x.jsonl": f'{json.dumps(A)}\n{{"role": {deep}}}\n{json.dumps(B)}\n'})
    assert (lines.lines, lines.problems) == (SAID, ["x.jsonl: line 2: is nested too deeply"])
    elements = read({"x.json": f"[{text(A)},{deep},{text(B)}]"})
    assert (elements.lines, elements.problems) == (SAID, ["x.json: element 2: is nested too deeply"])


def test_half_a_surrogate_is_replaced_everywhere(read: Read):
    line = (
        '{"role":"user","content":"\\ud83d\\ude00 \\udc00","session_id":"s\\ud800","metadata":{"\\udfff":["\\uDBFF"]}}'
    )
    (entry,) = read({"x.jsonl": line}).sessions
    assert entry.session == "s\ufffd"
    assert (entry.turns[0].message.text, entry.turns[0].metadata["\ufffd"]) == ("\U0001f600 \ufffd", ["\ufffd"])


def test_a_number_without_end_loses_only_itself(read: Read):
    result = read({"x.jsonl": f'{json.dumps(A)}\n{{"n": {"9" * 5000}}}\n{json.dumps(B)}\n'})
    assert result.lines == SAID
    assert result.problems[0].startswith("x.jsonl: line 2: is not JSON that can be read: ")


def test_a_line_of_fifty_megabytes(read: Read):
    result = read({"x.jsonl": b'{"role":"user","content":"' + b"y" * 50_000_000 + b'"}\n' + json.dumps(A).encode()})
    assert [len(turn.message.text) for turn in result.sessions[0].turns] == [50_000_000, 1]


def test_what_is_not_json_in_a_json_file(read: Read):
    assert read({"x.json": "hello"}).problems == ["x.json: line 1: is not JSON"]


class Dribble(io.BytesIO):
    """Gives a few bytes at a time, as a slow pipe does."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self._step = step

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self._step)


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
CONTAINERS = st.lists(st.lists(JSON, max_size=3) | st.dictionaries(st.text(max_size=4), JSON, max_size=3), max_size=4)


@given(CONTAINERS, st.integers(1, 9), st.sampled_from([None, 1]))
def test_elements_are_found_wherever_the_reads_end(elements: list[Any], step: int, indent: int | None):
    data = json.dumps(elements, indent=indent, ensure_ascii=False).encode("utf-8", "replace")
    scanner = _Scanner(base=1, most=1 << 20)
    assert [json.loads(span) for span in scanner.spans(Dribble(data, step))] == json.loads(data)
    assert not scanner.unfinished
    assert not scanner.open


@given(CONTAINERS.filter(bool), st.integers(1, 9), st.data())
def test_a_cut_never_changes_what_came_before_it(elements: list[Any], step: int, data: st.DataObject):
    whole = json.dumps(elements).encode()
    cut = data.draw(st.integers(1, len(whole) - 1))
    scanner = _Scanner(base=1, most=1 << 20)
    spans = [json.loads(span) for span in scanner.spans(Dribble(whole[:cut], step))]
    assert spans == elements[: len(spans)]
    assert scanner.open
