"""Whether a dump is what a provider's own types accept."""

from collections.abc import Callable, Iterable
from typing import Any, cast

import pytest
from pydantic import TypeAdapter


def walk(value: Any) -> None:
    """Visits everything: pydantic checks an `Iterable` field only while somebody reads it."""
    if isinstance(value, dict):
        for inner in cast("dict[str, Any]", value).values():
            walk(inner)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for inner in cast("Iterable[Any]", value):
            walk(inner)


@pytest.fixture
def accept() -> Callable[[TypeAdapter[Any], object], None]:
    """Raises pydantic's ValidationError for what the adapter's type does not allow."""
    return lambda adapter, dumped: walk(adapter.validate_python(dumped))
