"""The adapter's arithmetic over a scripted library; against the real one where it is installed."""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Iterator

import pytest

from haversack.tokens import claude
from haversack.tokens.claude import CLAUDE, claude_counter


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    library = types.ModuleType("ctok")

    def tokenize(text: str, version: str) -> list[str]:
        assert version == "4.8"
        return ["⟨pad⟩"] * 6 + text.removesuffix("\n").replace(
            "\n", " ⏎ "
        ).split()  # last newline is free, as in Claude

    library.tokenize = tokenize  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setitem(sys.modules, "ctok", library)
    claude._load.cache_clear()
    yield
    claude._load.cache_clear()


def test_newlines_cost_the_same_at_the_end_as_in_the_middle(scripted: None) -> None:
    counter = claude_counter("claude_v4_8")
    assert counter.count_many(["", "hi there", "hi there\n", "hi there\nyou"]) == [0, 2, 3, 4]


@pytest.mark.skipif(importlib.util.find_spec("ctok") is None, reason="ctok needs Python 3.12")
def test_the_published_examples() -> None:
    # README of ctok 1.3: "hello, world" is 3 + 7, 4 + 11 and 4 + 6 tokens.
    counts = {name: claude_counter(name).count("hello, world") for name in sorted(CLAUDE)}
    assert counts == {"claude_v3": 3, "claude_v4_7": 4, "claude_v4_8": 4}
