"""An open store in memory, and one namespace of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import haversack
from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace


@pytest.fixture
def sack() -> Iterator[Haversack]:
    with haversack.open(":memory:") as opened:
        yield opened


@pytest.fixture
def ns(sack: Haversack) -> Namespace:
    return sack.namespace("n")
