"""The public names: few, all there, and cheap to import."""

from __future__ import annotations

import subprocess
import sys

import pytest

import haversack


def test_the_face_is_small_and_complete() -> None:
    assert len(haversack.__all__) <= 15
    assert list(haversack.__all__) == sorted(haversack.__all__)
    for name in haversack.__all__:
        assert getattr(haversack, name) is not None
    assert dir(haversack) == sorted(haversack.__all__)
    with pytest.raises(AttributeError, match="no attribute 'opne'"):
        haversack.opne  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue, reportUnusedExpression, reportUnknownMemberType]


def test_importing_it_loads_nothing_heavy() -> None:
    program = (
        "import sys, haversack; print(sorted(set(sys.modules) & {'numpy', 'msgspec', 'sqlite3', 'yaml', 'toktok'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
