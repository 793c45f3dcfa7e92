"""Nesting is judged without parsing, in linear time, and brackets inside strings do not count."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.guard.body import shape_fault
from haversack.guard.settings import Limits

LIMITS = Limits(depth=4, containers=50)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"", None),
        (b"[[[[]]]]", None),
        (b"[[[[[]]]]]", "deeper than 4"),
        (b'{"a":[{"b":[1]}]}', None),
        (b'["[[[[[[[[[", "\\"[[[[[[[", {}]', None),
        (b'"\\\\"[[[[[', "deeper than 4"),
        (b"[" + b"[]," * 60 + b"1]", "more than 50"),
        (b'"unterminated [[[[[[', None),
    ],
)
def test_faults(body: bytes, fault: str | None):
    found = shape_fault(body, LIMITS)
    assert found is None if fault is None else found is not None and fault in found


JSON = st.recursive(
    st.none() | st.booleans() | st.text(alphabet='[]{}"\\ab', max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=30,
)


def _depth(value: object) -> int:
    match value:
        case list():
            return 1 + max(map(_depth, value), default=0)
        case dict():
            return 1 + max(map(_depth, value.values()), default=0)
        case _:
            return 0


@given(JSON)
def test_the_depth_is_the_parsed_depth(value: object):
    faulty = shape_fault(json.dumps(value).encode(), Limits(depth=3, containers=10_000)) is not None
    assert faulty is (_depth(value) > 3)


@pytest.mark.parametrize(
    "body", [b"[" * 4_000_000, b"[]" * 2_000_000, b'"' + b'\\"' * 2_000_000, b'"\\' * 2_000_000, b'""' * 2_000_000]
)
def test_four_megabytes_of_anything_are_judged_at_once(body: bytes):
    begun = time.process_time()
    shape_fault(body, Limits())
    assert time.process_time() - begun < 2
