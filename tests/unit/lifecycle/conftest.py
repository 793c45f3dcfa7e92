from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from haversack.model.memory import Kind, Memory

BIRTH = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def born() -> datetime:
    return BIRTH


@pytest.fixture
def fact() -> Callable[..., Memory]:
    def make(**changes: object) -> Memory:
        plain = Memory(id="m1", kind=Kind.FACT, content="Alice", created_at=BIRTH, event_time=BIRTH, importance=0.8)
        return replace(plain, **changes)  # pyright: ignore[reportArgumentType]

    return make
