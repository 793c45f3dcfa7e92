from __future__ import annotations

import pytest

from haversack.scoring.blend import length_trait, lexical_b


def test_traits_are_bounded() -> None:
    assert [length_trait(size) for size in (0, 30, 90, 150, 999)] == [0, 0, 0.5, 1, 1]
    assert [lexical_b(words) for words in (0, 20, 50, 80, 999)] == pytest.approx([0.4, 0.4, 0.575, 0.75, 0.75])
