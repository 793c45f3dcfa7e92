from __future__ import annotations

import pytest

from haversack.tokens.cut import adds_up, blocks, segments, whole_sign


@pytest.mark.parametrize(
    ("left", "right", "holds"),
    [
        ("a\n", "b", True),
        ("a\n", "<i>", True),
        ("a", "b", False),
        ("a\n", " b", False),
        ("a\n", "\u3000b", False),
        ("a\n", "\x85", False),
        ("a\n", "/b", False),
        ("", "b", True),
        ("a", "", True),
    ],
)
def test_the_framing_rule(left: str, right: str, holds: bool) -> None:  # noqa: FBT001
    assert adds_up(left, right) is holds


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", [""]),
        ("a\n", ["a\n"]),
        ("a\nb", ["a\n", "b"]),
        ("a\n\nb\n", ["a\n\n", "b\n"]),
        ("a\n b\n/c\nd", ["a\n b\n/c\n", "d"]),
        ("\na", ["\n", "a"]),
    ],
)
def test_segments_end_at_framed_places(text: str, parts: list[str]) -> None:
    assert segments(text) == parts


def test_blocks_have_the_size_that_was_asked_or_more() -> None:
    assert list(blocks("ab\ncd\nef\ngh", 4)) == ["ab\ncd\n", "ef\ngh"]
    assert list(blocks("ab\ncd", 100)) == ["ab\ncd"]


@pytest.mark.parametrize(
    ("text", "cut", "place"),
    [
        ("abc", 2, 2),
        ("abc", 3, 3),
        ("abc", 9, 3),
        ("abc", 0, 0),
        ("e\u0301x", 1, 0),
        ("e\u0301x", 2, 2),
        ("👩‍👩‍👦", 1, 0),
        ("👩‍👩‍👦", 2, 0),
        ("👍🏽!", 1, 0),
        ("❤\ufe0f!", 1, 0),
        ("🇩🇪🇫🇷", 1, 0),
        ("🇩🇪🇫🇷", 2, 2),
        ("🇩🇪🇫🇷", 3, 2),
        ("\ud83d\ude00", 1, 0),
        ("\ud83dx", 1, 1),
        ("a\r\nb", 2, 1),
        ("a" + "\u0301" * 500, 300, 300),
    ],
)
def test_a_cut_moves_back_to_the_start_of_a_sign(text: str, cut: int, place: int) -> None:
    assert whole_sign(text, cut) == place
